"""AWS event-stream framing, read back by botocore."""

import json
from typing import Any

import pytest
from botocore.eventstream import ChecksumMismatch, EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.testing.wire import event_stream

JSON = st.dictionaries(st.text(), st.text() | st.integers() | st.none())


def read(data: bytes, size: int) -> list[Any]:
    buffer = EventStreamBuffer()
    found: list[Any] = []
    for at in range(0, len(data), size):
        buffer.add_data(data[at : at + size])
        found.extend(buffer)
    return found


@given(st.lists(JSON, max_size=4), st.integers(1, 50))
def test_botocore_reads_what_we_write(values: list[dict[str, Any]], size: int) -> None:
    """Every event arrives whole and in order, wherever the network cuts the bytes."""
    data = b"".join(event_stream.event(f"kind{at}", value) for at, value in enumerate(values))
    events = read(data, size)
    assert [json.loads(event.payload) for event in events] == values
    assert [event.headers[":event-type"] for event in events] == [f"kind{at}" for at in range(len(values))]
    assert {event.headers[":message-type"] for event in events} <= {"event"}


def test_exception_frames_are_told_apart() -> None:
    """A modelled exception carries its name where botocore looks for it."""
    (frame,) = read(event_stream.exception("throttlingException", "slow down"), 7)
    assert frame.headers[":message-type"] == "exception"
    assert frame.headers[":exception-type"] == "throttlingException"
    assert json.loads(frame.payload) == {"message": "slow down"}


def test_checksums_are_real() -> None:
    """A flipped byte is noticed: the checksums are over the bytes, not for show."""
    data = bytearray(event_stream.event("kind", {"a": 1}))
    data[-6] ^= 1
    with pytest.raises(ChecksumMismatch):
        read(bytes(data), len(data))
