"""Jobs as messages: small, typed, read strictly."""

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.aws.batches import MOST_BYTES as BATCH_BYTES
from langgraph_prefetch.aws.batches import Batches, fitting
from langgraph_prefetch.aws.messages import ATTRIBUTES, MOST_BYTES, body_of, job_of, size_of
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.errors import UnportableError, UnreadableItemError
from langgraph_prefetch.jobs import Form, Job

JOB = Job(
    id="0123",
    generation="abcd",
    tool="search",
    form=Form.MESSAGE,
    arguments={"query": "bridge é🌉", "k": 5, "exact": True},
    deadline=1_796_000_000.25,
    keep_seconds=60.0,
    scope=["tenant", 7],
    configurable={"tenant": "a"},
)


@pytest.mark.parametrize("form", list(Form))
def test_there_and_back(form: Form) -> None:
    """Times, types and scope as they were; whether it is shared, not with whom."""
    job = replace(JOB, form=form)
    read = job_of(body_of(job))
    assert read == job
    assert (read.arguments, read.scope, read.configurable) == (job.arguments, job.scope, job.configurable)
    assert job_of(body_of(replace(job, scope_id="a digest"))).scope_id == ""


def test_the_size_is_that_of_utf8_and_attributes() -> None:
    """Measured as SQS does, before the call."""
    assert size_of("é".encode()) == 2 + sum(
        len(name) + len(each["DataType"]) + len(each["StringValue"]) for name, each in ATTRIBUTES.items()
    )


@pytest.mark.parametrize("text", ["x" * 300_000, "🌉" * 20_000], ids=["ascii", "emoji"])
def test_too_large(text: str) -> None:
    """A job is a query and some options; 64 KB at most, in bytes."""
    with pytest.raises(UnportableError, match=f"and {MOST_BYTES} are allowed"):
        body_of(replace(JOB, arguments={"query": text}))


def test_what_json_cannot_keep() -> None:
    for changes in ({"scope": object()}, {"configurable": {"db": object()}}, {"arguments": {"query": "\ud800"}}):
        with pytest.raises(UnportableError):
            body_of(replace(JOB, **changes))


def changed(**changes: Any) -> str:
    return json.dumps(json.loads(body_of(JOB)) | changes)


@pytest.mark.parametrize(
    "body",
    [
        *("", "this is no JSON", "[]", "null", '{"v": 1}', changed(v=2), changed(v="1"), changed(more=1)),
        *(changed(form="pickle"), changed(id=""), changed(id=7), changed(arguments=[]), changed(deadline="soon")),
        *(changed(deadline={"$": "float", "of": "inf"}), changed(keep_seconds=-1.0), changed(shared=1)),
    ],
)
def test_what_is_no_message_of_ours(body: str) -> None:
    with pytest.raises(UnreadableItemError):
        job_of(body)


def test_another_version_is_called_so() -> None:
    with pytest.raises(UnreadableItemError, match="another version"):
        job_of(changed(v=2))


def test_what_comes_in_a_moment_goes_together() -> None:
    """Twelve at once are two batches; one whose loop ended before its time is not sent any more."""
    sent: list[list[str]] = []

    def send(bodies: Sequence[str]) -> list[int | Exception]:
        sent.append(list(bodies))
        return list(map(len, bodies))

    batches: Batches[str, int] = Batches(send, Threads("test", 2), 0.01)

    async def put(*bodies: str) -> list[int]:
        return await asyncio.gather(*map(batches.put, bodies))

    bodies = [str(number) for number in range(12)]
    assert asyncio.run(put(*bodies)) == list(map(len, bodies))
    assert sorted(map(len, sent)) == [2, 10]

    async def leave() -> None:
        asyncio.get_running_loop().create_task(batches.put("left"))
        await asyncio.sleep(0)

    asyncio.run(leave())
    assert asyncio.run(asyncio.wait_for(put("next"), 20)) == [4]
    assert sent[-1] == ["next"]


async def test_a_batch_grows_while_others_are_under_way() -> None:
    """A service that takes its time gets fewer and fuller batches, and is never asked more than so often at once."""
    sent, let_go, under_way = list[int](), threading.Event(), threading.Semaphore(0)

    def send(bodies: Sequence[int]) -> list[int | Exception]:
        sent.append(len(bodies))
        under_way.release()
        assert let_go.wait(20)
        return list(bodies)

    batches: Batches[int, int] = Batches(send, Threads("test", 9), most=4, at_once=2)
    waiting = []
    for number in range(2):
        waiting.append(asyncio.create_task(batches.put(number)))
        assert await asyncio.to_thread(under_way.acquire, timeout=20)
    waiting += [asyncio.create_task(batches.put(number)) for number in range(2, 9)]
    await asyncio.sleep(0.01)  # for a third batch, if there were one
    assert sent == [1, 1]
    let_go.set()
    assert await asyncio.gather(*waiting) == list(range(9))
    assert sent == [1, 1, 4, 3]


async def test_each_of_a_batch_is_told_its_own_end() -> None:
    """One that fails says nothing of the others; where sending itself fails, all hear of it, and the next is sent."""

    def send(bodies: Sequence[str]) -> list[str | Exception]:
        if "all" in bodies:
            raise ConnectionError
        return [KeyError(body) if body == "bad" else body for body in bodies]

    batches: Batches[str, str] = Batches(send, Threads("test", 2), at_once=1)
    good, bad = await asyncio.gather(batches.put("good"), batches.put("bad"), return_exceptions=True)
    assert (good, type(bad)) == ("good", KeyError)
    ends = await asyncio.gather(batches.put("all"), batches.put("good"), return_exceptions=True)
    assert [type(end) for end in ends] == [ConnectionError] * 2
    assert await batches.put("good") == "good"


@given(st.lists(st.integers(0, BATCH_BYTES), max_size=40))
def test_batches(sizes: list[int]) -> None:
    """Ten at most, never more bytes than a service takes, and as many as that allows."""
    number = fitting(sizes, 10, BATCH_BYTES)
    assert bool(number) == bool(sizes)
    assert number <= 10
    assert sum(sizes[:number]) <= BATCH_BYTES
    assert number in (10, len(sizes)) or sum(sizes[: number + 1]) > BATCH_BYTES
