"""Items of the table, and what they say. Pure; the verbs that write them are in ``table.py``.

One table, one key attribute. ``expires_at`` is its TTL attribute; DynamoDB deletes late, so every reader looks at it.

==========  ====  ==========================================================================================
attribute   type  meaning
==========  ====  ==========================================================================================
pk          S     ``{namespace}#job#{id}``, ``{namespace}#part#{id}#{generation}#{n}`` or ``{namespace}#scope#{id}``
v           N     version of the form; another one is a miss
state       S     ``pending``, ``ready``, ``failed``, ``cancelled``
gen         S     the dispatch it belongs to
scope_mark  S     the mark of its scope when it was begun; another mark means that something was written since
owner       S     who searches, while pending; who did
joined      BOOL  true: others wait for it too, so that who began it may not give it up
lease       N     until when the owner has it, epoch milliseconds
began       N     when the search began to read, epoch milliseconds
took        N     how long it took, milliseconds
deadline    N     after it a pending one has nobody, epoch milliseconds
expires_at  N     whole epoch seconds; a reader takes nothing from then on
encoding    S     ``json`` or ``zlib``
body        B     the output; or
parts       N     how many items have it, in order; or
object      S     the key of the S3 object that has it
digest      B     SHA-256 of the output's bytes, where they are elsewhere
reason      S     of a failed or cancelled one
==========  ====  ==========================================================================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_prefetch.aws.outputs import Packed
from langgraph_prefetch.errors import UnreadableItemError
from langgraph_prefetch.jobs import ABSENT, Held, HeldState, Job

VERSION = 1
KEY, TTL = "pk", "expires_at"
INLINE_BYTES = 380_000
"""Of an output in one item: DynamoDB takes 400 KB, names and numbers counted."""
MOST_PARTS = 100
FAILED_SECONDS = 2
SCOPE_SECONDS = 7 * 86_400
LINGER_SECONDS = 60
"""A pending or cancelled item outlives its deadline by so much: messages may still be under way."""
MOST_KEEP_SECONDS = 86_400.0
"""No result is kept longer; marks of scopes outlive every result by far."""

Item = Mapping[str, Any]


def job_key(namespace: str, id_: str) -> str:
    """Of a job's own item."""
    return f"{namespace}#job#{id_}"


def scope_key(namespace: str, scope_id: str) -> str:
    """Of the mark of a scope."""
    return f"{namespace}#scope#{scope_id}"


def part_key(namespace: str, id_: str, generation: str, number: int) -> str:
    """Of a part of a large output."""
    return f"{namespace}#part#{id_}#{generation}#{number}"


def text(item: Item, name: str) -> str:
    """A string attribute; empty if it is not there or of another type."""
    value = item.get(name)
    return value["S"] if isinstance(value, Mapping) and isinstance(value.get("S"), str) else ""


def number(item: Item, name: str) -> float | None:
    """A number attribute; None if it is not there or of another type."""
    value = item.get(name)
    try:
        return float(value["N"]) if isinstance(value, Mapping) else None
    except (KeyError, TypeError, ValueError):
        return None


def blob(item: Item, name: str) -> bytes | None:
    """A binary attribute."""
    value = item.get(name)
    found = value.get("B") if isinstance(value, Mapping) else None
    return bytes(found) if isinstance(found, bytes | bytearray) else None


def string(value: str) -> dict[str, str]:
    """A string as DynamoDB has it."""
    return {"S": value}


def whole(value: float) -> dict[str, str]:
    """A whole number as DynamoDB has it."""
    return {"N": str(int(value))}


def milliseconds(seconds: float) -> dict[str, str]:
    """Seconds as a whole number of milliseconds."""
    return whole(round(seconds * 1_000))


def expires_at(began: float, keep_seconds: float) -> dict[str, str]:
    """The TTL of a result, rounded down: it answers no longer than it may."""
    return whole(began + min(keep_seconds, MOST_KEEP_SECONDS))


def claimed(job: Job, owner: str, lease_seconds: float, now: float) -> dict[str, dict[str, str]]:
    """The attributes of a job that a worker takes up now; its key is left out."""
    return {
        "state": string("pending"),
        "gen": string(job.generation),
        "v": whole(VERSION),
        "owner": string(owner),
        "lease": milliseconds(now + lease_seconds),
        "began": milliseconds(now),
        "deadline": milliseconds(job.deadline),
        TTL: whole(job.deadline + LINGER_SECONDS),
    }


def finished(job: Job, began: float, took: float) -> dict[str, dict[str, str]]:
    """What changes when a job has its result; the result itself is left out."""
    return {
        "state": string("ready"),
        "began": milliseconds(began),
        "took": milliseconds(took),
        TTL: expires_at(began, job.keep_seconds),
    }


def can_be_given_up(item: Item) -> bool:
    """Whether a pending one ends with the run that began it: a worker searches for it, and nobody has joined it yet.

    What its beginner searches itself needs no mark: when that search ends, it ends for all.
    """
    searched_here = text(item, "owner") == text(item, "gen")
    return not searched_here and not (isinstance(item.get("joined"), Mapping) and item["joined"].get("BOOL"))


def is_gone(item: Item, now: float) -> bool:
    """Whether it has expired, or was written by another version."""
    expires = number(item, TTL)
    return number(item, "v") != VERSION or expires is None or now >= expires


def held_of(item: Item | None, now: float) -> Held:
    """What an item says, its output left out: that may be elsewhere."""
    if item is None or is_gone(item, now):
        return ABSENT
    generation, began, took = text(item, "gen"), number(item, "began"), number(item, "took")
    age = None if began is None else max(0.0, now - began / 1_000)
    match text(item, "state"):
        case "pending":
            deadline = number(item, "deadline")
            if deadline is None or now >= deadline / 1_000:
                return ABSENT
            return Held(state=HeldState.PENDING, generation=generation, age=age)
        case "ready" if began is not None:
            took_seconds = None if took is None else took / 1_000
            return Held(state=HeldState.READY, generation=generation, age=age, took=took_seconds)
        case "failed" | "cancelled" as state:
            return Held(state=HeldState(state), generation=generation, reason=text(item, "reason"))
    return ABSENT


def body_of(item: Item) -> Packed | None:
    """The output that stands in the item itself; None if it is elsewhere."""
    data = blob(item, "body")
    return None if data is None else Packed(text(item, "encoding"), data)


def inline(packed: Packed) -> dict[str, Any]:
    """The attributes of an output that stands in the item itself."""
    return {"encoding": string(packed.encoding), "body": {"B": packed.data}}


def parts_of(item: Item) -> int:
    """How many other items have the output.

    Raises:
        UnreadableItemError: none do, or more than can be.
    """
    parts = number(item, "parts")
    if parts is None or not 0 < parts <= MOST_PARTS:
        raise UnreadableItemError("an item without its output")
    return int(parts)


def joined(item: Item, parts: Sequence[bytes]) -> Packed:
    """The output out of its parts.

    Raises:
        UnreadableItemError: they are not those that were written.
    """
    data = b"".join(parts)
    if hashlib.sha256(data).digest() != blob(item, "digest"):
        raise UnreadableItemError("parts of another output")
    return Packed(text(item, "encoding"), data)


def split(data: bytes) -> list[bytes]:
    """Bytes in pieces that an item holds."""
    return [data[start : start + INLINE_BYTES] for start in range(0, len(data), INLINE_BYTES)]
