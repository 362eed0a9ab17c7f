"""What a worker writes: claims and results, those of one moment in one call."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from langgraph_prefetch.aws import items, statements
from langgraph_prefetch.aws.batches import Batches
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.faults import CONDITION, ClientError, code_of
from langgraph_prefetch.aws.outputs import Packed
from langgraph_prefetch.aws.table import Claim, Table
from langgraph_prefetch.jobs import Job

SMALL_BYTES = 16 * 1024
"""Larger results go alone: nobody waits for another one's bytes."""
BATCHES_AT_ONCE = 2
NO_BATCHES = frozenset(
    {"AccessDenied", "AccessDeniedException", "UnknownOperationException", "ValidationException", "500"}
)
"""How a table says that it takes none: without the right to it, or a local server that lacks it."""
NO_BATCHES_SECONDS = 300.0

Result = TypeVar("Result")

logger = logging.getLogger("langgraph_prefetch.worker")


@dataclass(frozen=True, slots=True)
class Found:
    """A job's result: what was found, when its search began, how long that took."""

    job: Job
    packed: Packed
    began: float
    took: float


class Writes:
    """Claims jobs and hands results over, under one name.

    Each of a batch is a conditional write of its own, as it is alone. What a batch does not do is done alone, which
    tells why it could not be: claims to jobs that were claimed before, writes that were throttled. Where batches are
    not allowed, or not known, everything is for a while.

    Args:
        table: where.
        connection: of the table.
        owner: the name.
        lease_seconds: how long a claim lasts.
        now: epoch seconds of the table's clock.
    """

    def __init__(
        self, table: Table, connection: Connection, owner: str, lease_seconds: float, now: Callable[[], float]
    ) -> None:
        self._table, self._connection, self._now = table, connection, now
        self._owner, self._lease = owner, lease_seconds
        self._alone_until = -math.inf
        most, at_once = statements.MOST_STATEMENTS, BATCHES_AT_ONCE
        self._claims: Batches[Job, Claim] = Batches(self._claim, connection.threads, most=most, at_once=at_once)
        self._results: Batches[Found, bool] = Batches(self._finish, connection.threads, most=most, at_once=at_once)

    async def claim(self, job: Job) -> Claim:
        """See :meth:`Table.claim`."""
        return await self._claims.put(job)

    async def finish(self, found: Found) -> bool:
        """See :meth:`Table.finish`."""
        if len(found.packed.data) > SMALL_BYTES:
            return await self._connection.threads.run(partial(self._finish_alone, found))
        return await self._results.put(found, len(found.packed.data))

    def _claim(self, jobs: Sequence[Job]) -> list[Claim | Exception]:
        now, last = self._now(), len(jobs) - 1
        first = {job.id: last - number for number, job in enumerate(reversed(jobs))}  # not twice in one batch
        sent = self._sent([self._claim_statement(jobs[number], now) for number in first.values()])
        codes = dict(zip(first.values(), sent, strict=True))
        return [
            Claim.MINE if codes.get(number) == "" else _told(partial(self._claim_alone, job))
            for number, job in enumerate(jobs)
        ]

    def _finish(self, results: Sequence[Found]) -> list[bool | Exception]:
        codes = self._sent([self._finish_statement(found) for found in results])
        return [
            code == "" if code in ("", CONDITION) else _told(partial(self._finish_alone, found))
            for found, code in zip(results, codes, strict=True)
        ]

    def _claim_alone(self, job: Job) -> Claim:
        return self._table.claim(job, self._owner, self._lease, self._now())

    def _finish_alone(self, found: Found) -> bool:
        return self._table.finish(found.job, self._owner, found.packed, began=found.began, took=found.took)

    def _claim_statement(self, job: Job, now: float) -> dict[str, Any]:
        key, values = self._table.key(job.id), items.claimed(job, self._owner, self._lease, now)
        if job.scope_id is None:  # nobody has written it but workers
            return statements.insert(self._table.name, {items.KEY: key, **values})
        return statements.update(
            self._table.name,
            key,
            {name: values[name] for name in ("owner", "lease", "began")},
            {name: values[name] for name in ("state", "gen")},
            missing="owner",
        )

    def _finish_statement(self, found: Found) -> dict[str, Any]:
        known = {
            "state": items.string("pending"),
            "gen": items.string(found.job.generation),
            "owner": items.string(self._owner),
        }
        values = items.inline(found.packed) | items.finished(found.job, found.began, found.took)
        return statements.update(self._table.name, self._table.key(found.job.id), values, known)

    def _sent(self, wanted: Sequence[dict[str, Any]]) -> list[str | None]:
        """For each statement: empty where it is done, what went wrong, or None where it was not tried."""
        if len(wanted) <= 1 or self._now() < self._alone_until:
            return [None] * len(wanted)
        try:
            response = self._connection.call("batch_execute_statement", Statements=wanted)
        except ClientError as error:
            if (code := code_of(error)) not in NO_BATCHES:
                raise
            self._alone(code)
            return [None] * len(wanted)
        codes: list[str | None] = [statements.code_of(each) for each in response["Responses"]]
        if "AccessDenied" in codes:
            self._alone("AccessDenied")
        return codes

    def _alone(self, code: str) -> None:
        self._alone_until = self._now() + NO_BATCHES_SECONDS
        logger.warning("the table takes no batches (%s); each write goes alone, which takes more calls", code)


def _told(call: Callable[[], Result]) -> Result | Exception:
    try:
        return call()
    except Exception as error:  # noqa: BLE001 - of one of many; told to whoever waits for it
        return error
