"""What cannot be stored is found before anything is sent, with its id and the reason."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.retrieval.writing.columns import check_schema, schema
from langgraph_prefetch.retrieval.writing.json_objects import faulty_objects
from langgraph_prefetch.retrieval.writing.sifting import faults, without
from tests.retrieval.writing.batches import DIMENSIONS, Passage, batch, many, replaced


def found(of: pa.RecordBatch, metric: Metric = "cosine", storage: str = "vector") -> dict[str | None, str]:
    return {each.id: each.reason for each in faults(of, tenant="", metric=metric, storage=storage)}


def test_a_good_batch_is_handed_back_as_it_is() -> None:
    """No fault, no copy: the very object."""
    good = batch(many(100))
    assert found(good) == {}
    assert without(good, ()) is good


BAD = [
    (Passage(id="bad", text="a\0b"), "text has a NUL"),
    (Passage(id="bad\0"), "id has a NUL"),
    (Passage(id="bad", source="\0"), "source has a NUL"),
    (Passage(id="b" * 3_000), "id is longer than 2,600 bytes"),
    (Passage(id="bad", source="é" * 1_301), "source is longer than 2,600 bytes"),
    (Passage(id="good-7"), "an earlier row has the same id"),
    (Passage(id="bad", metadata="[1]"), "metadata is no JSON object"),
    (Passage(id="bad", metadata="{'a': 1}"), "metadata is no JSON"),
    (Passage(id="bad", metadata=""), "metadata is no JSON"),
    (Passage(id="bad", metadata='{"a":007}'), "metadata is no JSON"),
    (Passage(id="bad", metadata='{"a":"b",}'), "metadata is no JSON"),
    (Passage(id="bad", metadata='{"a":"\n"}'), "metadata is no JSON"),
    (Passage(id="bad", metadata='{"a": NaN}'), "metadata is no JSON"),
    (Passage(id="bad", metadata='{"a": "\\u0000"}'), "metadata has a NUL"),
    (Passage(id="bad", metadata='{"a": {"b": ["\\ud800"]}}'), "half a surrogate pair"),
    (Passage(id="bad", metadata="[" * 100_000), "metadata is no JSON"),
    (Passage(id="bad", vector=(1, 2, 3, float("nan"))), "not finite"),
    (Passage(id="bad", vector=(1, 2, -float("inf"), 4)), "not finite"),
    (Passage(id="bad", vector=(0, 0, 0, 0)), "the vector is zero"),
    (Passage(id="bad", vector=(1e-30, 0, 0, 0)), "the vector is too short"),
    (Passage(id="bad", vector=(3e38, 0, 0, 0)), "too long to have an angle"),
]


@pytest.mark.parametrize(("bad", "reason"), BAD)
@pytest.mark.parametrize("large", [False, True])
def test_a_bad_row_is_named_and_the_others_are_kept(bad: Passage, reason: str, large: bool) -> None:
    """Wherever in a batch or a slice of one it is: id, place and reason; the rest is what would be written."""
    good = [Passage(id=f"good-{number}") for number in range(10)]
    made = batch([Passage(id="before the slice", text="\0"), *good, bad], large=large).slice(1)
    (refused,) = faults(made, tenant="", metric="cosine", storage="vector")
    assert (refused.row, refused.id) == (10, bad.id)
    assert reason in refused.reason
    kept = without(made, (refused,))
    assert kept.column("id").to_pylist() == [each.id for each in good]
    assert found(kept) == {}


def test_what_a_metric_or_storage_takes() -> None:
    """A zero vector has a distance and a product; halfvec ends at 65,504, and below 2^-25 it is zero."""
    zero, large, small = (
        batch([Passage(id="a", vector=vector)]) for vector in ((0, 0, 0, 0), (1, 65_520, 1, 1), (2.0**-25, 0, 0, 0))
    )
    assert found(zero, "l2") == found(zero, "inner_product") == {}
    assert found(large) == found(small) == {}
    assert "beyond 65,504" in found(large, storage="halfvec")["a"]
    assert "is zero" in found(small, storage="halfvec")["a"]
    assert found(small, "l2", "halfvec") == {}
    assert found(batch([Passage(id="a", vector=(65_519, 2.0**-24, 0, 0))]), storage="halfvec") == {}


@pytest.mark.parametrize("column", ["id", "source", "text", "metadata", "content_hash", "embedding"])
def test_nulls_are_named(column: str) -> None:
    """No column may be null."""
    good = batch(many(3))
    old = good.column(column)
    values: Any = pa.array([old[0].as_py(), None, old[2].as_py()], old.type)
    (refused,) = faults(replaced(good, column, values), tenant="", metric="cosine", storage="vector")
    assert refused.row == 1
    assert refused.reason == f"{column} is null"
    assert refused.id == (None if column == "id" else good.column("id")[1].as_py())


def test_a_null_number_in_a_vector() -> None:
    """It counts as one that is not finite."""
    good = batch(many(2))
    values: Any = pa.array([1.0, None, 1.0, 1.0] + [1.0] * 4, pa.float32())
    broken = replaced(good, "embedding", pa.FixedSizeListArray.from_arrays(values, DIMENSIONS))
    assert found(broken) == {good.column("id")[0].as_py(): "the vector has a number that is not finite"}


@pytest.mark.parametrize("column", ["id", "source", "text", "metadata"])
@pytest.mark.parametrize("raw", [b"\xff", b"\xed\xa0\x80", b"ab\xc3"], ids=["no UTF-8", "surrogate", "cut off"])
def test_bytes_that_are_no_text(column: str, raw: bytes) -> None:
    """Arrow does not look into a string; PostgreSQL does."""
    good = batch(many(3))
    values = [each.as_py().encode() for each in good.column(column)]
    values[1] = raw
    broken = pa.Array.from_buffers(pa.string(), 3, pa.array(values, pa.binary()).buffers())
    (refused,) = faults(replaced(good, column, broken), tenant="", metric="cosine", storage="vector")
    assert (refused.row, refused.reason) == (1, f"{column} is not valid UTF-8")
    assert refused.id == (None if column == "id" else good.column("id")[1].as_py())


def test_of_several_faults_the_first_and_all_rows_in_order() -> None:
    """Each row once; among rows with one id the first is kept."""
    rows = [
        Passage(id="a"),
        Passage(id="a", text="\0"),
        Passage(id="b", metadata="x"),
        Passage(id="a"),
        Passage(id="b"),
    ]
    refused = faults(batch(rows), tenant="", metric="cosine", storage="vector")
    assert [each.row for each in refused] == [1, 2, 3, 4]
    assert refused[0].reason == "text has a NUL character"
    assert refused[3].reason == "an earlier row has the same id"


def test_an_id_that_is_there_twice_around_a_null() -> None:
    """What is left after sifting can be written: the null does not hide that its neighbours are equal."""
    rows = [Passage(id="a"), Passage(id="b"), Passage(id="a"), Passage(id="c")]
    made = batch(rows)
    made = replaced(made, "id", pa.array(["a", None, "a", "c"]))
    refused = faults(made, tenant="", metric="cosine", storage="vector")
    assert [(each.row, each.reason) for each in refused] == [(1, "id is null"), (2, "an earlier row has the same id")]
    assert found(without(made, refused)) == {}


def test_a_long_tenant_leaves_less_room_for_ids() -> None:
    """Both stand in one index entry."""
    (refused,) = faults(batch([Passage(id="x" * 2_000)]), tenant="t" * 700, metric="l2", storage="vector")
    assert "longer than 1,900 bytes" in refused.reason


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.text(st.characters(codec="utf-8", exclude_characters="\0")), json_values, max_size=4),
    st.booleans(),
    st.sampled_from([None, 1]),
)
def test_every_object_that_python_writes_passes(value: dict[str, Any], escaped: bool, indent: int | None) -> None:
    """Nested, escaped, indented: no false alarm."""
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    if "\\u0000" not in text:  # a key inside may still have one
        assert list(faulty_objects(pa.array([text]))) == []


@given(st.text(st.sampled_from('{}[]":,\\u0dD8cC1e-.+ntrueabfls \n\x01é'), max_size=30))
def test_what_passes_is_json(text: str) -> None:
    """Whatever the quick look lets through, a JSON parser reads as an object."""
    text = f"{{{text}}}"
    if not list(faulty_objects(pa.array([text]))):
        value = json.loads(text)
        assert isinstance(value, dict)
        json.dumps(value, ensure_ascii=False).encode()  # no half pairs


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("embedding", pa.FixedSizeListArray.from_arrays(pa.array([1.0] * 6, pa.float32()), 3), r"takes vectors of 4"),
        ("embedding", pa.FixedSizeListArray.from_arrays(pa.array([1.0] * 8), 4), r"'embedding' must be .*float"),
        ("embedding", pa.array([[1.0], [2.0]]), r"'embedding' must be .*fixed_size_list"),
        ("text", pa.array([b"a", b"b"]), r"'text' must be string, not binary: cast it"),
        ("content_hash", pa.array([b"a", b"b"]), r"'content_hash' must be fixed_size_binary\[16\]"),
    ],
)
def test_another_schema_is_refused(column: str, values: Any, message: str) -> None:
    """The whole batch, with what to do."""
    with pytest.raises(ConfigurationError, match=message):
        check_schema(replaced(batch(many(2)), column, values), DIMENSIONS)


def test_missing_and_unknown_columns_are_refused() -> None:
    """A column that nobody would store is not dropped in silence."""
    good = batch(many(2))
    with pytest.raises(ConfigurationError, match="has the columns id, source, text"):
        check_schema(good.drop_columns(["source"]), DIMENSIONS)
    with pytest.raises(ConfigurationError, match="page"):
        check_schema(good.append_column("page", pa.array([1, 2])), DIMENSIONS)
    check_schema(good.select(good.schema.names[::-1]), DIMENSIONS)
    assert schema(DIMENSIONS).equals(good.schema)


def test_numbers_at_the_edge_of_single_precision() -> None:
    """The longest vector that has an angle is kept, as is a large one where angles do not matter."""
    edge = float(np.sqrt(np.finfo(np.float32).max)) * 0.99
    assert found(batch([Passage(id="a", vector=(edge, 0, 0, 0))])) == {}
    assert found(batch([Passage(id="a", vector=(3e38, 3e38, 0, 0))]), "l2") == {}
