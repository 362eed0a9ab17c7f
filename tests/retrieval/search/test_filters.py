"""Filters mean the same to PostgreSQL as to the plain words of their docstrings, on every kind of metadata."""

import datetime
import json
import operator
import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.postgresql import JSONB

from langgraph_prefetch.errors import FilterError
from langgraph_prefetch.retrieval.filters import (
    And,
    Compare,
    Condition,
    Contains,
    Equals,
    Exists,
    Like,
    Not,
    OneOf,
    Or,
    parse,
)
from langgraph_prefetch.retrieval.filters.sql import expression

METADATA: list[dict[str, Any]] = [
    {},
    {"year": 2020},
    {"year": 2020.0, "lang": "en"},
    {"year": 2021.5, "lang": "de"},
    {"year": "2020"},
    {"year": True},
    {"year": None},
    {"year": [2020, "x"]},
    {"lang": ["en"]},
    {"lang": "EN_a%b\\", "tags": ["en", "de", 1, True, None]},
    {"loc": {"page": 3, "lang": "en"}},
    {"loc": [{"page": 3}]},
    {"lang": "é", "year": -1},
    {"lang": "'; drop table x; --", "year": 0},
]


@pytest.fixture(scope="module")
def rows(shared_database_url: str) -> Iterator[sa.Connection]:
    engine = sa.create_engine(shared_database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("create table rows (at int primary key, metadata jsonb not null)")
        for at, each in enumerate(METADATA):
            connection.execute(sa.text("insert into rows values (:at, :data)"), {"at": at, "data": json.dumps(each)})
        yield connection
    engine.dispose()


def found(rows: sa.Connection, condition: Condition) -> list[int]:
    table = sa.table("rows", sa.column("at", sa.Integer), sa.column("metadata", JSONB))
    where = expression(condition, table.c.metadata)
    unknown = sa.case((where, False), (sa.not_(where), False), else_=True)
    assert rows.scalar(sa.select(sa.func.count()).select_from(table).where(unknown)) == 0
    return list(rows.scalars(sa.select(table.c.at).where(where).order_by(table.c.at)))


def same(one: Any, other: Any) -> bool:
    """Equal as JSON: a boolean is no number."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


MISSING = object()
ORDERS: dict[str, Any] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def field(metadata: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(metadata, dict) or key not in metadata:
            return MISSING
        metadata = metadata[key]
    return metadata


def holds(condition: Condition, metadata: dict[str, Any]) -> bool:
    """The meaning, spelled out."""
    match condition:
        case And(parts):
            return all(holds(each, metadata) for each in parts)
        case Or(parts):
            return any(holds(each, metadata) for each in parts)
        case Not(part):
            return not holds(part, metadata)
    there = field(metadata, condition.path)
    match condition:
        case Exists():
            return there is not MISSING
        case Equals(_, value):
            return same(there, value)
        case OneOf(_, values):
            return any(same(there, each) for each in values)
        case Contains(_, value):
            return isinstance(there, list) and any(same(each, value) for each in there)
        case Like(_, pattern, ignore_case):
            regex = "".join({"%": ".*", "_": "."}.get(each, re.escape(each)) for each in pattern)
            flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
            return isinstance(there, str) and re.fullmatch(regex, there, flags) is not None
        case Compare(_, order, value):
            if isinstance(value, str) != isinstance(there, str) or isinstance(there, bool):
                return False
            if not isinstance(there, str | int | float):
                return False
            return bool(ORDERS[order](there, value))
    raise AssertionError(condition)


PATHS = st.sampled_from([("year",), ("lang",), ("tags",), ("loc",), ("loc", "page"), ("no such",), ("loc", "lang")])
SCALARS = st.sampled_from([2020, 2020.0, 2021.5, -1, 0, 1, True, False, None, "2020", "en", "é", "", "EN_a%b\\", 3])
COMPARED = st.sampled_from([2020, 2021.5, -1, 0, "2020", "en", "d", "é", ""])
LEAVES: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Equals, PATHS, SCALARS),
    st.builds(OneOf, PATHS, st.lists(SCALARS, max_size=3).map(tuple)),
    st.builds(Compare, PATHS, st.sampled_from(["<", "<=", ">", ">="]), COMPARED),
    st.builds(Contains, PATHS, SCALARS),
    st.builds(Like, PATHS, st.sampled_from(["e%", "_n", "%", "E%", "20_0"]), st.booleans()),
    st.builds(Exists, PATHS),
)


def _parts(inner: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, inner))


@given(condition=st.recursive(LEAVES, _parts, max_leaves=6))
@settings(max_examples=150)
def test_sql_means_what_the_words_say(rows: sa.Connection, condition: Condition) -> None:
    """Every condition is true of the same metadata in PostgreSQL and in plain Python, negated ones too."""
    assert found(rows, condition) == [at for at, each in enumerate(METADATA) if holds(condition, each)]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (None, None),
        ({}, None),
        ({"a": 1}, Equals(("a",), 1)),
        ({("a", "b"): "x"}, Equals(("a", "b"), "x")),
        ({"a.b": 1}, Equals(("a.b",), 1)),
        ({"a": {"$gte": 1, "$lt": 3}}, And((Compare(("a",), ">=", 1), Compare(("a",), "<", 3)))),
        ({"a": {"$between": [1, 3]}}, And((Compare(("a",), ">=", 1), Compare(("a",), "<=", 3)))),
        ({"a": {"$in": ["x", None]}}, OneOf(("a",), ("x", None))),
        ({"a": {"$nin": []}}, Not(OneOf(("a",), ()))),
        ({"a": {"$ne": 1}}, Not(Equals(("a",), 1))),
        ({"a": {"$exists": False}}, Not(Exists(("a",)))),
        ({"a": {"$not": {"$gt": 1}}}, Not(Compare(("a",), ">", 1))),
        ({"a": {"$ilike": "x%"}}, Like(("a",), "x%", True)),
        ({"a": {"$contains": "x"}}, Contains(("a",), "x")),
        ({"a": 1, "b": 2}, And((Equals(("a",), 1), Equals(("b",), 2)))),
        ({"$or": [{"a": 1}, {"b": 2}]}, Or((Equals(("a",), 1), Equals(("b",), 2)))),
        ({"$not": {"a": 1}}, Not(Equals(("a",), 1))),
        (Equals(("a",), 1), Equals(("a",), 1)),
    ],
)
def test_the_written_form(written: Any, meant: Condition | None) -> None:
    """What LangChain's users write is the condition they mean."""
    assert parse(written) == meant


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"year": {"$gt2": 1}}, "no operator '$gt2'.*Did you mean '$gt"),
        ({"$andd": [{"a": 1}]}, "Did you mean '$and'"),
        ({"$gte": 3}, "operators follow a field"),
        ({"year": {"gte": 3}}, "no operator 'gte'.*tuple of keys"),
        ({"year": {}}, "compared with nothing"),
        ({"$and": []}, "at least one"),
        ({"$or": [{}]}, "says something"),
        ({"$and": {"a": 1}}, "list of filters"),
        ({"year": {"$gte": None}}, "None has none"),
        ({"year": {"$gte": True}}, "True has none"),
        ({"year": datetime.date(2026, 1, 2)}, "no dates.*'2026-01-02'"),
        ({"year": float("nan")}, "nan, which metadata cannot hold"),
        ({"year": object()}, "not object"),
        ({"year": [1]}, "not list"),
        ({"year": {"$in": "abc"}}, "list of values"),
        ({"year": {"$in": [1] * 10_001}}, "at most 10,000"),
        ({"year": {"$between": [1]}}, "two values"),
        ({"year": {"$exists": 1}}, "True or False"),
        ({"year": {"$like": 3}}, "a pattern"),
        ({"year": {"$like": "x\\"}}, "escapes nothing"),
        ({"year": "a\0"}, "NUL"),
        ({"year": "a\ud800"}, "surrogate"),
        ({"a\ud800": 1}, "surrogate"),
        ({"year": {"$gt": 10**5_000}}, "more than 4,000 digits"),
        ({1: 2}, "keys, which are texts"),
        ({(): 2}, "keys, which are texts"),
        ("year > 3", "a filter is a mapping"),
        (lambda metadata: True, "a filter is a mapping"),
        ({"$or": [{str(at): at} for at in range(1_001)]}, "at most 1,000 conditions"),
    ],
)
def test_what_means_nothing_is_refused(written: Any, message: str) -> None:
    """Nothing is guessed; the message says where it is wrong and what would do."""
    with pytest.raises(FilterError, match=message.replace("$", r"\$")):
        parse(written)


def test_a_filter_that_nests_without_end_is_refused() -> None:
    """A filter may come from a model: its depth is bounded, in either form, and so is what is built of few parts."""
    written: dict[str, Any] = {"a": 1}
    deep: Condition = Equals(("a",), 1)
    wide: Condition = deep
    for _ in range(40):
        written = {"$not": written}
        deep = Not(Not(deep))
        wide = And((wide, wide))
    for each in (written, deep, wide):
        with pytest.raises(FilterError, match="nested at most 32"):
            parse(each)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Compare(("a",), "= '1' or true or metadata >", "x"), "one of < <= > >=, not"),  # type: ignore[arg-type]
        (lambda: Compare(("a",), "<", None), "None has none"),  # type: ignore[arg-type]
        (lambda: Equals("a", 1), "tuple of keys"),  # type: ignore[arg-type]
        (lambda: Equals(("a",), "\ud800"), "surrogate"),
        (lambda: Equals(("\ud800",), 1), "surrogate"),
        (lambda: Compare(("a",), ">", 10**5_000), "more than 4,000 digits"),
        (lambda: OneOf(("a",), (1, float("inf"))), "cannot hold"),
        (lambda: Contains(("a",), "\0"), "NUL"),
        (lambda: Like(("a",), "x\\"), "escapes nothing"),
        (lambda: Exists(()), "keys, which are texts"),
        (lambda: And(()), "at least one"),
        (lambda: Or((Equals(("a",), 1), "x")), "conditions to combine"),  # type: ignore[arg-type]
    ],
)
def test_a_condition_that_cannot_be_asked_cannot_be_made(make: Any, message: str) -> None:
    """Conditions made by hand are held to the same, an order above all, which is SQL where values are parameters."""
    with pytest.raises(FilterError, match=message):
        make()


@given(hostile=st.one_of(st.sampled_from(["' or 1=1 --", '"; drop', "%s", ":x", "$1", "\\", "{}", "??"]), st.text()))
@settings(max_examples=60)
def test_what_a_filter_says_is_never_sql(rows: sa.Connection, hostile: str) -> None:
    """Keys, values and patterns are parameters, whatever stands in them."""
    hostile = hostile.replace("\0", "").encode("utf-8", "ignore").decode()
    for condition in (
        Equals((hostile,), hostile),
        OneOf((hostile, hostile), (hostile,)),
        Compare((hostile,), "<", hostile),
        Contains((hostile,), hostile),
        Exists((hostile,)),
    ):
        compiled = expression(condition, sa.column("metadata", JSONB)).compile(dialect=rows.dialect)
        if len(hostile) > 8:
            assert hostile not in str(compiled)
        assert found(rows, condition) == [at for at, each in enumerate(METADATA) if holds(condition, each)]
