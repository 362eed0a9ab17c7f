"""Jobs as messages of a queue: typed JSON of a few hundred bytes, read back strictly. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.aws import typed_json
from langgraph_prefetch.errors import UnportableError, UnreadableItemError
from langgraph_prefetch.jobs import Form, Job

VERSION = 1
MOST_BYTES = 64 * 1024
"""Of one message, attributes counted. A job is a query and some options; SQS itself takes sixteen times as much."""

ATTRIBUTES: Mapping[str, Mapping[str, str]] = {"version": {"DataType": "Number", "StringValue": str(VERSION)}}


def body_of(job: Job) -> str:
    """The text of a message.

    Raises:
        UnportableError: arguments, scope or configuration that JSON cannot keep, or too much of them.
    """
    data = typed_json.dumps(
        {
            "v": VERSION,
            "id": job.id,
            "generation": job.generation,
            "tool": job.tool,
            "form": job.form.value,
            "arguments": dict(job.arguments),
            "scope": job.scope,
            "configurable": dict(job.configurable),
            "deadline": job.deadline,
            "keep_seconds": float(job.keep_seconds),
            "shared": job.scope_id is not None,
        }
    )
    if (size := size_of(data)) > MOST_BYTES:
        raise UnportableError(job, f"its message has {size} bytes, and {MOST_BYTES} are allowed")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnportableError(job, "a text in it is no Unicode") from None


def size_of(body: bytes, attributes: Mapping[str, Mapping[str, str]] = ATTRIBUTES) -> int:
    """Bytes that SQS counts: of the body, and of each attribute its name, type and value."""
    named = sum(len(name.encode()) for name in attributes)
    return len(body) + named + sum(len(part.encode()) for each in attributes.values() for part in each.values())


def job_of(body: str) -> Job:
    """The job of a message.

    Raises:
        UnreadableItemError: a text that :func:`body_of` of this version does not write.
    """
    match typed_json.loads(body.encode("utf-8", "surrogatepass")):
        case {
            "v": 1,
            "id": str(id_),
            "generation": str(generation),
            "tool": str(tool),
            "form": str(form),
            "arguments": dict(arguments),
            "scope": scope,
            "configurable": dict(configurable),
            "deadline": float(deadline),
            "keep_seconds": float(keep_seconds),
            "shared": bool(shared),
            **rest,
        } if not rest and form in list(Form) and id_ and _is_time(deadline) and _is_time(keep_seconds):
            return Job(
                id=id_,
                generation=generation,
                tool=tool,
                form=Form(form),
                arguments=arguments,
                deadline=deadline,
                keep_seconds=keep_seconds,
                scope=scope,
                configurable=configurable,
                scope_id="" if shared else None,
            )
        case {"v": version} if version != VERSION:
            raise UnreadableItemError("a message of another version")
    raise UnreadableItemError("no message of this package's")


def _is_time(value: Any) -> bool:
    return math.isfinite(value) and value >= 0
