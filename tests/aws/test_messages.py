"""Jobs as messages: small, typed, read strictly."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.aws.batches import MOST_BYTES as BATCH_BYTES
from langgraph_prefetch.aws.batches import Batches, Entry, packed, settle
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
    """Twelve at once are two batches; one whose loop ended before its time goes with the next."""
    sent: list[list[str]] = []

    def send(entries: Sequence[Entry]) -> None:
        sent.append([entry.body for entry in entries])
        for entry in entries:
            settle(entry, None)

    batches = Batches(send, Threads("test", 2), 0.01)

    async def put(*bodies: str) -> None:
        await asyncio.gather(*(batches.put(Entry(body, body)) for body in bodies))

    asyncio.run(put(*map(str, range(12))))
    assert sorted(map(len, sent)) == [2, 10]

    async def leave() -> None:
        asyncio.get_running_loop().create_task(batches.put(Entry("left", "left")))
        await asyncio.sleep(0)

    asyncio.run(leave())
    asyncio.run(asyncio.wait_for(put("next"), 20))
    assert "next" in sent[-1]


@given(st.lists(st.integers(0, BATCH_BYTES), max_size=40))
def test_batches(sizes: list[int]) -> None:
    """In order, nothing lost, ten at most, and never more bytes than a service takes."""
    entries = [Entry("x" * size, str(number)) for number, size in enumerate(sizes)]
    batches = packed(entries)
    assert [entry for batch in batches for entry in batch] == entries
    assert all(0 < len(batch) <= 10 for batch in batches)
    assert all(sum(entry.size for entry in batch) <= BATCH_BYTES for batch in batches)
