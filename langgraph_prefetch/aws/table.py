"""The verbs of the table: each one conditional write, so that whatever comes twice or late does no harm. Blocks."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any
from uuid import uuid4

from langgraph_prefetch.aws import items
from langgraph_prefetch.aws.bodies import Bodies
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.faults import BotoCoreError, ClientError, ConditionFailedError, told
from langgraph_prefetch.aws.outputs import Packed, unpack
from langgraph_prefetch.errors import TableUnusableError, UnreadableItemError
from langgraph_prefetch.jobs import ABSENT, Held, HeldState, Job

RESERVED = ("state", "owner", "object")
"""Names that DynamoDB does not take in an expression."""
MOST_LOOKS = 4
"""At an item that others change between look and write; each time one of them has got on."""


class Claim(StrEnum):
    """What a worker that takes up a job is told.

    ``MINE``: search. ``BUSY``: another worker does. ``DONE``: it is ready, given up, or another dispatch took its
    place. ``FAILED``: it failed before.
    """

    MINE = "mine"
    BUSY = "busy"
    DONE = "done"
    FAILED = "failed"


class Table:
    """One table, as all processes write it.

    Args:
        name: its name.
        namespace: before every key.
        connection: where it is.
        bodies: of its outputs.
    """

    def __init__(self, name: str, namespace: str, connection: Connection, bodies: Bodies) -> None:
        self.name, self._namespace, self._connection, self._bodies = name, namespace, connection, bodies

    def check(self) -> bool:
        """Look at the table; True if its TTL is on.

        Raises:
            CredentialsError, TableUnusableError: the message says what to do.
        """
        what = f"table {self.name!r}"
        try:
            described = self._connection.client.describe_table(TableName=self.name)["Table"]
            ttl = self._connection.client.describe_time_to_live(TableName=self.name)["TimeToLiveDescription"]
        except (ClientError, BotoCoreError) as error:
            absent = "Check its name and the region, or make it as the AWS guide says"
            raise told(error, what, TableUnusableError, absent, self._connection.where) from error
        types = {each["AttributeName"]: each["AttributeType"] for each in described["AttributeDefinitions"]}
        schema = [
            (each["AttributeName"], each["KeyType"], types[each["AttributeName"]]) for each in described["KeySchema"]
        ]
        if schema != [(items.KEY, "HASH", "S")]:
            has = ", ".join(f"{name} ({kind}, {of})" for name, kind, of in schema)
            remedy = f"It needs the partition key {items.KEY!r} of type S and no sort key: make another table"
            raise TableUnusableError(what, f"its key is {has}", remedy)
        return bool(ttl.get("TimeToLiveStatus") == "ENABLED" and ttl.get("AttributeName") == items.TTL)

    def key(self, id_: str) -> dict[str, str]:
        """Of a job's item."""
        return items.string(items.job_key(self._namespace, id_))

    def look(self, ids: list[str], now: float) -> dict[str, tuple[Held, items.Item | None]]:
        """What is there of some jobs, their outputs left out."""
        keys = {items.job_key(self._namespace, each): each for each in ids}
        found = self._bodies.fetch(list(keys), timed=True)
        return {id_: (items.held_of(found.get(key), now), found.get(key)) for key, id_ in keys.items()}

    def with_output(self, id_: str, held: Held, item: items.Item) -> Held:
        """A ready one with its output.

        Raises:
            UnreadableItemError: it cannot be read.
        """
        return replace(held, output=unpack(self._bodies.read(id_, item), self._bodies.most))

    def begin(self, job: Job, now: float, *, here: bool) -> Held:
        """See :meth:`~langgraph_prefetch.jobs.ResultCache.begin`; outputs included.

        What is pending is marked as joined under the condition that it still is, and given up under the condition that
        it is not marked, so of the two that come at once one fails: the caller looks again, or the search goes on.
        """
        own, scope = items.job_key(self._namespace, job.id), items.scope_key(self._namespace, job.scope_id or "")
        for _ in range(MOST_LOOKS):
            found = self._bodies.fetch([own, scope], timed=True)
            mark, item = items.text(found.get(scope, {}), "mark"), found.get(own)
            held = items.held_of(item, now)
            if item is not None and held is not ABSENT and items.text(item, "scope_mark") == mark:
                if held.state is HeldState.READY:
                    return self.with_output(job.id, held, item)
                if held.state is HeldState.PENDING and not self._join(job.id, item):
                    continue  # it has just ended, or was given up
                if held.state is not HeldState.CANCELLED:
                    return held
            if self._put_pending(job, now, mark, None if item is None else items.text(item, "gen"), here=here):
                return ABSENT
        raise UnreadableItemError("others begin it again and again")

    def claim(self, job: Job, owner: str, lease_seconds: float, now: float) -> Claim:
        """Take up a job, unless another worker has it or nobody wants it."""
        values = items.claimed(job, owner, lease_seconds, now)
        sets = ", ".join(f"{_short(name)} = :{name}" for name in values)
        waiting = "#state = :state AND gen = :gen AND (attribute_not_exists(#owner) OR lease < :began)"
        try:
            self._update(
                job.id,
                f"SET {sets}",
                f"attribute_not_exists(pk) OR ({waiting})",
                {f":{name}": value for name, value in values.items()},
            )
        except ConditionFailedError as found:
            return _claimed(found.item or {}, job)
        return Claim.MINE

    def extend(self, job: Job, owner: str, lease_seconds: float, now: float) -> bool:
        """Keep a job; False if it is no longer this owner's."""
        return self._mine(job, owner, "SET lease = :lease", {":lease": items.milliseconds(now + lease_seconds)})

    def release(self, job: Job, owner: str) -> bool:
        """Give a job back, for another attempt; False if it is no longer this owner's."""
        return self._mine(job, owner, "REMOVE #owner, lease, began", {})

    def finish(self, job: Job, owner: str | None, packed: Packed, *, began: float, took: float) -> bool:
        """Hand over a result; False if it is no longer this owner's job. ``None``: of whoever dispatched it."""
        attributes = self._bodies.write(job.id, job.generation, packed, items.expires_at(began, job.keep_seconds))
        attributes |= items.finished(job, began, took)
        sets = ", ".join(f"{_short(name)} = :{name}" for name in attributes if name != "state")
        values = {f":{name}": value for name, value in attributes.items()}
        return self._mine(job, owner, f"SET #state = :state, {sets}", values)

    def fail(self, job: Job, owner: str, reason: str, now: float) -> bool:
        """Tell that the search failed; False if it is no longer this owner's job."""
        keep = max(now + items.FAILED_SECONDS, job.deadline) if job.scope_id is None else now + items.FAILED_SECONDS
        return self._mine(
            job,
            owner,
            "SET #state = :failed, reason = :reason, expires_at = :expires REMOVE #owner, lease",
            {
                ":failed": items.string("failed"),
                ":reason": items.string(reason),
                ":expires": items.whole(keep + 1),
            },
        )

    def cancel(self, job: Job, reason: str, *, unless_joined: bool = False) -> None:
        """Mark a job as given up, unless it has ended, or has been joined and that is to count."""
        unshared = "attribute_not_exists(pk) OR " if job.scope_id is None else ""
        alone = " AND attribute_not_exists(joined)" if unless_joined else ""
        try:
            self._update(
                job.id,
                "SET #state = :cancelled, gen = :gen, v = :v, reason = :reason, expires_at = :expires "
                "REMOVE #owner, lease",
                f"{unshared}(#state = :pending AND gen = :gen{alone})",
                {
                    ":cancelled": items.string("cancelled"),
                    ":pending": items.string("pending"),
                    ":gen": items.string(job.generation),
                    ":v": items.whole(items.VERSION),
                    ":reason": items.string(reason),
                    ":expires": items.whole(job.deadline + items.LINGER_SECONDS),
                },
            )
        except ConditionFailedError:
            return

    def void(self, scope_id: str, now: float) -> None:
        """Give a scope a new mark."""
        self._connection.call(
            "put_item",
            TableName=self.name,
            Item={
                items.KEY: items.string(items.scope_key(self._namespace, scope_id)),
                "mark": items.string(uuid4().hex),
                items.TTL: items.whole(now + items.SCOPE_SECONDS),
            },
        )

    def _join(self, id_: str, item: items.Item) -> bool:
        """Let the one that began ``item`` not give it up; False if the item is no longer what it was."""
        if not items.can_be_given_up(item):
            return True
        try:
            self._update(
                id_,
                "SET joined = :true",
                "#state = :pending AND gen = :gen",
                {":true": {"BOOL": True}, ":pending": items.string("pending"), ":gen": item["gen"]},
                timed=True,
            )
        except ConditionFailedError:
            return False
        return True

    def _put_pending(self, job: Job, now: float, mark: str, seen: str | None, *, here: bool) -> bool:
        item: dict[str, Any] = {
            items.KEY: items.string(items.job_key(self._namespace, job.id)),
            "v": items.whole(items.VERSION),
            "state": items.string("pending"),
            "gen": items.string(job.generation),
            "scope_mark": items.string(mark),
            "deadline": items.milliseconds(job.deadline),
            items.TTL: items.whole(job.deadline + items.LINGER_SECONDS),
        }
        if here:
            item |= {
                "owner": items.string(job.generation),
                "lease": items.milliseconds(job.deadline),
                "began": items.milliseconds(now),
            }
        condition: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(pk)"}
        if seen is not None:
            condition = {
                "ConditionExpression": "attribute_not_exists(pk) OR gen = :seen",
                "ExpressionAttributeValues": {":seen": items.string(seen)},
            }
        try:
            self._connection.call("put_item", timed=True, TableName=self.name, Item=item, **condition)
        except ConditionFailedError:
            return False
        return True

    def _mine(self, job: Job, owner: str | None, update: str, values: dict[str, Any]) -> bool:
        condition = "#state = :pending AND gen = :mine_gen"
        known = {":pending": items.string("pending"), ":mine_gen": items.string(job.generation)}
        if owner is not None:
            condition += " AND #owner = :mine"
            known[":mine"] = items.string(owner)
        try:
            self._update(job.id, update, condition, {**values, **known})
        except ConditionFailedError:
            return False
        return True

    def _update(self, id_: str, update: str, condition: str, values: dict[str, Any], *, timed: bool = False) -> None:
        used = {_short(name): name for name in RESERVED if _short(name) in update or _short(name) in condition}
        self._connection.call(
            "update_item",
            timed=timed,
            TableName=self.name,
            Key={items.KEY: self.key(id_)},
            UpdateExpression=update,
            ConditionExpression=condition,
            ExpressionAttributeNames=used,
            ExpressionAttributeValues=values,
            ReturnValuesOnConditionCheckFailure="ALL_OLD",
        )


def _short(name: str) -> str:
    """An attribute's name as an expression has it."""
    return f"#{name}" if name in RESERVED else name


def _claimed(item: items.Item, job: Job) -> Claim:
    """Why a job could not be taken up."""
    if items.text(item, "gen") != job.generation:
        return Claim.DONE
    match items.text(item, "state"):
        case "pending":
            return Claim.BUSY
        case "failed":
            return Claim.FAILED
    return Claim.DONE
