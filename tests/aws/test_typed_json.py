"""Values survive the way there and back with their types, or do not travel."""

import math
import threading
import zlib
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document

from langgraph_prefetch.aws import typed_json
from langgraph_prefetch.aws.outputs import Packed, _inflated, pack, unpack
from langgraph_prefetch.errors import UnportableError, UnreadableItemError
from langgraph_prefetch.values import Output

MOST = 1_000_000
texts = st.text(st.characters(exclude_categories=()))  # surrogates alone among them
plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
documents = st.builds(
    Document,
    page_content=texts,
    metadata=st.dictionaries(texts | st.just("$"), plain, max_size=3),
    id=st.none() | st.text(min_size=1),
)
values = st.recursive(
    plain | documents,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(texts | st.just("$"), inner, max_size=4)
    ),
    max_leaves=20,
)


def alike(one: Any, other: Any) -> bool:
    """Equal, and of equal types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(alike(one[name], other[name]) for name in one)
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, Document):
        return (one.page_content, one.id) == (other.page_content, other.id) and alike(one.metadata, other.metadata)
    return bool(one == other)


@given(values)
def test_there_and_back(value: Any) -> None:
    """Also minus zero, huge integers, a mapping with the very key that marks types, and lone surrogates."""
    assert alike(typed_json.loads(typed_json.dumps(value)), value)


@given(st.builds(Output, values, values))
def test_outputs_there_and_back(output: Output) -> None:
    read = unpack(pack(output, MOST), MOST)
    assert alike((read.content, read.artifact), (output.content, output.artifact))


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_floats_that_json_lacks(value: float) -> None:
    assert typed_json.loads(typed_json.dumps([value])) == [value]
    assert math.isnan(typed_json.loads(typed_json.dumps(math.nan)))


class Colour(StrEnum):
    RED = "red"


class Special(Document):
    """A document of somebody's own."""


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        *(
            object(),
            threading.Lock(),
            {1: 2},
            {1, 2},
            b"bytes",
            Colour.RED,
            datetime(2026, 1, 1, tzinfo=UTC),
            Special(page_content="x"),
        ),
        *(Document("x", metadata={"at": datetime(2026, 1, 1, tzinfo=UTC)}), [lambda: 1], nested(100_000)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_cannot_keep_is_refused(value: Any) -> None:
    """Nothing is turned into something like it."""
    with pytest.raises(UnportableError):
        typed_json.dumps(value)


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"{",
            b"\xff\xfe",
            b"NaN",
            b'{"$":"object","of":"os.system"}',
            b'{"$":"tuple"}',
            b'{"$":"float","of":"1"}',
        ),
        *(
            b'{"$":"document","id":1,"text":"x","of":{}}',
            b'{"$":"mapping","of":[["a"]]}',
            b'{"$":"mapping","of":[[1,2]]}',
        ),
        *(b"[" * 100_000, b"\x80\x04\x95"),
    ],
)
def test_what_we_do_not_write_is_not_read(data: bytes) -> None:
    """No JSON, an unknown type, a wrong shape, a pickle: one error, and nothing is run."""
    with pytest.raises(UnreadableItemError):
        typed_json.loads(data)


@pytest.mark.parametrize(
    "packed",
    [
        Packed("json", b'{"v":2,"content":"x","artifact":null}'),
        Packed("json", b'{"v":1,"content":"x"}'),
        Packed("json", b'{"v":1,"content":"x","artifact":null,"more":1}'),
        Packed("json", b'"text"'),
        Packed("pickle", b"cos\nsystem\n(S'true'\ntR."),
        Packed("zlib", b"not compressed"),
        Packed("zlib", zlib.compress(b'{"v":1,"content":"' + b"x" * 5_000_000 + b'","artifact":null}')),
    ],
    ids=lambda packed: packed.encoding,
)
def test_outputs_of_another_version_or_too_large(packed: Packed) -> None:
    """A miss each; what unfolds to more than it may is not unfolded any further."""
    with pytest.raises(UnreadableItemError):
        unpack(packed, MOST)


def test_what_unfolds_to_much_is_not_unfolded() -> None:
    """A few kilobytes that would be a gigabyte cost no more than what an output may have."""
    assert len(_inflated(zlib.compress(b"x" * 5_000_000), 1_000)) == 1_001


def test_large_outputs_are_compressed() -> None:
    packed = pack(Output("a word " * 10_000), MOST)
    assert packed.encoding == "zlib"
    assert len(packed.data) < 1_000
    assert pack(Output("short"), MOST).encoding == "json"


def test_outputs_that_do_not_travel() -> None:
    """Too large, or with something said to the run while it was searched."""
    with pytest.raises(UnportableError, match="and 100 are allowed"):
        pack(Output("x" * 100), 100)
    with pytest.raises(UnportableError, match="said something"):
        pack(Output("x", said=("an event",)), MOST)
