"""Claims and results that go together: each holds or fails as it would alone, whatever becomes of the others."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import pytest
from botocore.awsrequest import AWSResponse

from langgraph_prefetch.aws import DynamoDBCache, statements
from langgraph_prefetch.aws.faults import CONDITION, ClientError
from langgraph_prefetch.aws.outputs import pack
from langgraph_prefetch.aws.table import Claim
from langgraph_prefetch.aws.worker.writes import SMALL_BYTES, Found, Writes
from langgraph_prefetch.jobs import Form, Held, HeldState, Job
from langgraph_prefetch.values import Output
from tests.aws.parts import PATIENCE, Faults, Place, Raw

_numbers = count()


def new_job(cache: DynamoDBCache, *, scope_id: str | None = None, id_: str = "") -> Job:
    return Job(
        id=id_ or f"together-{next(_numbers)}",
        generation="1",
        tool="search",
        form=Form.MESSAGE,
        arguments={"query": "q"},
        deadline=cache.now() + 300,
        keep_seconds=600.0,
        scope_id=scope_id,
    )


def found(job: Job, text: str = "found") -> Found:
    return Found(job, pack(Output(text), 10**7), began=job.deadline - 300, took=0.5)


def held_of(cache: DynamoDBCache, jobs: Sequence[Job]) -> list[Held]:
    """What the table has of each, outputs included."""
    looked = cache.table.look([job.id for job in jobs], cache.now()).items()
    return [
        cache.table.with_output(id_, held, item) if item and held.state is HeldState.READY else held
        for id_, (held, item) in looked
    ]


class Calls:
    """Counts the calls of a client by operation."""

    def __init__(self, client: Any) -> None:
        self.made: list[str] = []
        client.meta.events.register("before-send.dynamodb", self._sent)

    def _sent(self, event_name: str, **_: Any) -> None:
        self.made.append(event_name.rpartition(".")[2])


@pytest.fixture
def cache(place: Place) -> Iterator[DynamoDBCache]:
    made = place.cache(lookup_seconds=PATIENCE)
    yield made
    made.close()


@pytest.fixture
def writes_of(cache: DynamoDBCache) -> Callable[[str], Writes]:
    return lambda owner: Writes(cache.table, cache.connection, owner, 300.0, cache.now)


async def begun(cache: DynamoDBCache) -> Job:
    """A job whose result is shared, as an agent's process leaves it to workers."""
    job = new_job(cache, scope_id="scope")
    assert (await cache.begin(job)).state is HeldState.ABSENT
    return job


async def test_claims_of_a_moment_are_one_call(cache: DynamoDBCache, writes_of: Callable[[str], Writes]) -> None:
    """Ten jobs, some of them shared: one call claims all, and another worker's call claims none of them."""
    jobs = [new_job(cache) if number % 2 else await begun(cache) for number in range(10)]
    calls, one, other = Calls(cache.connection.client), writes_of("one"), writes_of("other")
    assert await asyncio.gather(*map(one.claim, jobs)) == [Claim.MINE] * 10
    assert calls.made == ["BatchExecuteStatement"]
    assert await asyncio.gather(*map(other.claim, jobs)) == [Claim.BUSY] * 10
    assert await asyncio.gather(*(one.finish(found(job)) for job in jobs)) == [True] * 10
    ends = await asyncio.to_thread(held_of, cache, jobs)
    assert [(end.state, end.took, end.output) for end in ends] == [(HeldState.READY, 0.5, Output("found"))] * 10


async def test_many_workers_claim_the_same_jobs_at_once(
    cache: DynamoDBCache, writes_of: Callable[[str], Writes]
) -> None:
    """However their batches meet, every job is one worker's and no other's."""
    jobs = [new_job(cache) if number % 2 else await begun(cache) for number in range(20)]
    workers = [writes_of(str(number)) for number in range(5)]
    claims = [worker.claim(job) for number, worker in enumerate(workers) for job in jobs[number:] + jobs[:number]]
    ends = await asyncio.gather(*claims)
    assert ends.count(Claim.MINE) == len(jobs)
    assert ends.count(Claim.BUSY) == len(jobs) * 4
    once = await asyncio.gather(*(worker.finish(found(job)) for worker in workers for job in jobs))
    assert once.count(True) == len(jobs)


async def test_a_claim_that_has_run_out(cache: DynamoDBCache) -> None:
    """After a crash the jobs of a batch are another worker's, as soon as their leases are over."""
    jobs = [new_job(cache) if number % 2 else await begun(cache) for number in range(4)]
    crashed = Writes(cache.table, cache.connection, "crashed", 0.0, cache.now)
    after = Writes(cache.table, cache.connection, "after", 300.0, lambda: cache.now() + 0.01)
    assert await asyncio.gather(*map(crashed.claim, jobs)) == [Claim.MINE] * 4
    assert await asyncio.gather(*map(after.claim, jobs)) == [Claim.MINE] * 4
    assert await asyncio.gather(*(crashed.finish(found(job)) for job in jobs)) == [False] * 4
    assert await asyncio.gather(*(after.finish(found(job)) for job in jobs)) == [True] * 4


async def test_one_that_cannot_be_claimed_stops_no_other(
    cache: DynamoDBCache, writes_of: Callable[[str], Writes]
) -> None:
    """Given up, ready, released, failed, the same once more: each is told its own state, and the rest are claimed."""
    cancelled, ready, released, failed, fresh = (new_job(cache) for _ in range(5))
    before, table = writes_of("before"), cache.table
    for job in (ready, released, failed):
        assert await before.claim(job) is Claim.MINE
    assert await before.finish(found(ready))
    await asyncio.to_thread(table.cancel, cancelled, "not wanted")
    assert await asyncio.to_thread(table.release, released, "before")
    assert await asyncio.to_thread(table.fail, failed, "before", "KeyError", cache.now())
    after = writes_of("after")
    ends = await asyncio.gather(*map(after.claim, (cancelled, ready, released, failed, fresh, fresh)))
    assert ends == [Claim.DONE, Claim.DONE, Claim.MINE, Claim.FAILED, Claim.MINE, Claim.BUSY]


async def test_what_is_not_its_own_any_more(cache: DynamoDBCache, writes_of: Callable[[str], Writes]) -> None:
    """Of two results in one call, that of a job that was given up meanwhile is not kept."""
    kept, lost, writes = new_job(cache), new_job(cache), writes_of("one")
    await asyncio.gather(writes.claim(kept), writes.claim(lost))
    await asyncio.to_thread(cache.table.cancel, lost, "not wanted")
    assert await asyncio.gather(*(writes.finish(found(job)) for job in (kept, lost))) == [True, False]
    ends = await asyncio.to_thread(held_of, cache, [kept, lost])
    assert [end.state for end in ends] == [HeldState.READY, HeldState.CANCELLED]


async def test_a_large_result_goes_alone(cache: DynamoDBCache, writes_of: Callable[[str], Writes]) -> None:
    """It is kept all the same, and the others are not held up by its bytes."""
    jobs, writes = [new_job(cache) for _ in range(3)], writes_of("one")
    await asyncio.gather(*map(writes.claim, jobs))
    large = "".join(map(chr, range(0x4E00, 0x4E00 + SMALL_BYTES)))
    calls, texts = Calls(cache.connection.client), [large, "small", "small too"]
    ends = await asyncio.gather(*(writes.finish(found(job, text)) for job, text in zip(jobs, texts, strict=True)))
    assert ends == [True] * 3
    assert sorted(calls.made) == ["BatchExecuteStatement", "UpdateItem"]
    held = await asyncio.to_thread(held_of, cache, jobs)
    assert [each.output for each in held] == list(map(Output, texts))


@pytest.mark.parametrize("code", ["AccessDeniedException", "UnknownOperationException"])
async def test_without_batches(
    code: str, cache: DynamoDBCache, writes_of: Callable[[str], Writes], caplog: pytest.LogCaptureFixture
) -> None:
    """Where the right to them is missing, or the server has none, each write goes alone; it is said once."""
    jobs, writes = [new_job(cache) for _ in range(4)], writes_of("one")
    faults = Faults(cache.connection.client, code, "BatchExecuteStatement")
    assert await asyncio.gather(*map(writes.claim, jobs)) == [Claim.MINE] * 4
    assert await asyncio.gather(*(writes.finish(found(job)) for job in jobs)) == [True] * 4
    assert faults.seen == 1
    assert [code in each.message for each in caplog.records if each.levelname == "WARNING"] == [True]


async def test_the_right_to_one_statement_is_missing(
    cache: DynamoDBCache, writes_of: Callable[[str], Writes], caplog: pytest.LogCaptureFixture
) -> None:
    """A refusal within the answer counts as well; what was refused is done alone."""
    jobs, writes, asked = [new_job(cache) for _ in range(3)], writes_of("one"), 0

    def answer(request: Any, **_: Any) -> AWSResponse:
        nonlocal asked
        asked += 1
        body = json.dumps({"Responses": [{"Error": {"Code": "AccessDenied", "Message": "no"}}] * 3}).encode()
        return AWSResponse(request.url, 200, {"content-type": "application/x-amz-json-1.0"}, Raw(body))

    cache.connection.client.meta.events.register("before-send.dynamodb.BatchExecuteStatement", answer)
    assert await asyncio.gather(*map(writes.claim, jobs)) == [Claim.MINE] * 3
    assert await asyncio.gather(*(writes.finish(found(job)) for job in jobs)) == [True] * 3
    assert asked == 1
    assert "AccessDenied" in caplog.text


async def test_a_table_that_does_not_answer(cache: DynamoDBCache, writes_of: Callable[[str], Writes]) -> None:
    """All hear of it, nothing is claimed, and the next attempt goes together again."""
    jobs, writes = [new_job(cache) for _ in range(3)], writes_of("one")
    Faults(cache.connection.client, "InternalServerError", "BatchExecuteStatement", status=500, most=1)
    ends = await asyncio.gather(*map(writes.claim, jobs), return_exceptions=True)
    assert all(isinstance(end, ClientError) for end in ends)
    calls = Calls(cache.connection.client)
    assert await asyncio.gather(*map(writes.claim, jobs)) == [Claim.MINE] * 3
    assert calls.made == ["BatchExecuteStatement"]


def test_statements() -> None:
    """Names are quoted and values are parameters: nothing that is stored becomes part of a statement."""
    item = {"pk": {"S": "a'b"}, "state": {"S": 'pending" --'}}
    assert statements.insert("t", item) == {
        "Statement": "INSERT INTO \"t\" VALUE {'pk': ?, 'state': ?}",
        "Parameters": [{"S": "a'b"}, {"S": 'pending" --'}],
    }
    told = statements.update("t", {"S": "k"}, {"a": {"N": "1"}, "b": {"N": "2"}}, {"c": {"N": "3"}}, missing="d")
    assert told["Statement"] == 'UPDATE "t" SET "a" = ? SET "b" = ? WHERE "pk" = ? AND "c" = ? AND "d" IS MISSING'
    assert told["Parameters"] == [{"N": "1"}, {"N": "2"}, {"S": "k"}, {"N": "3"}]


def test_what_went_wrong_with_a_statement() -> None:
    assert statements.code_of({"TableName": "t"}) == ""
    assert statements.code_of({"Error": {"Code": "ConditionalCheckFailed"}}) == CONDITION
    assert statements.code_of({"Error": {"Code": "DuplicateItem"}}) == "DuplicateItem"
