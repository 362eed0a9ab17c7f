"""Streams in pieces, live."""

import asyncio
import logging
from collections.abc import AsyncGenerator

import pytest

from langgraph_prefetch.serving.granularity import Grain, Granularity, beside, chunks


async def stream(*tokens: str, error: Exception | None = None) -> AsyncGenerator[str, None]:
    for token in tokens:
        yield token
        await asyncio.sleep(0)
    if error is not None:
        raise error


async def test_an_idle_reader_gets_each_token_as_it_comes() -> None:
    """Nothing gathers where somebody waits for it."""
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    async def slow() -> AsyncGenerator[str, None]:
        while (token := await queue.get()) is not None:
            yield token

    granularity = Granularity()
    pieces = chunks(slow(), granularity, load=lambda: 0.1)
    for token in ("a", "b", "c"):
        queue.put_nowait(token)
        assert await anext(pieces) == (token,)
    queue.put_nowait(None)
    assert [piece async for piece in pieces] == []
    assert granularity.size == 1


async def test_a_busy_reader_gets_more_at_once() -> None:
    """Fewer pieces than tokens, and all of them in order."""
    granularity = Granularity(Grain(memory_seconds=1e-9))
    got = []
    async for piece in chunks(stream(*"abcdefghijklmnop"), granularity, load=lambda: 1.0):
        got.append(piece)
        for _ in range(5):
            await asyncio.sleep(0)
    assert "".join("".join(piece) for piece in got) == "abcdefghijklmnop"
    assert len(got[0]) == 1
    assert max(map(len, got)) > 4
    assert granularity.size > 1


async def test_what_the_stream_raises_comes_after_its_tokens() -> None:
    """None of them is lost."""
    got: list[str] = []

    async def read() -> None:
        async for piece in chunks(stream("a", "b", error=ValueError("its own")), Granularity()):
            got.extend(piece)

    with pytest.raises(ValueError, match="its own"):
        await read()
    assert got == ["a", "b"]


async def test_a_reader_that_stops_ends_the_reading() -> None:
    """No task is left behind."""
    before = asyncio.all_tasks()
    pieces = chunks(stream(*"abcdef"), Granularity())
    await anext(pieces)
    await pieces.aclose()
    assert asyncio.all_tasks() == before


async def test_a_user_never_waits_for_what_happens_beside() -> None:
    """All tokens have come before the first piece is done with."""
    free, got = asyncio.Event(), []

    async def handle(piece: tuple[str, ...]) -> None:
        await free.wait()
        got.append(piece)

    seen = ""
    async for token in beside(stream(*"abcdef"), handle, Granularity()):
        seen += token
        assert got == []
        if seen == "abcdef":
            free.set()
    assert seen == "abcdef"
    assert "".join("".join(piece) for piece in got) == "abcdef"


async def test_a_handler_that_fails_harms_no_user(caplog: pytest.LogCaptureFixture) -> None:
    """It is given no more, and that is said once."""

    async def handle(piece: tuple[str, ...]) -> None:
        raise ValueError("secret")

    with caplog.at_level(logging.WARNING):
        seen = [token async for token in beside(stream(*"abcdef"), handle, Granularity())]
    assert seen == list("abcdef")
    (record,) = caplog.records
    assert "secret" not in record.getMessage()
