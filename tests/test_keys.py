"""Two calls have equal keys only if the tool would be given the same thing."""

import dataclasses
import enum
import math
import uuid
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, PrivateAttr

from langgraph_prefetch.errors import UnkeyableError
from langgraph_prefetch.keys import (
    RunScope,
    Same,
    SearchKey,
    encode_arguments,
    encode_caller,
    search_key,
    shared_scope,
)

SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | st.text("ab1", max_size=2)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=1), inner, max_size=3)
)


def told_apart(value: Any) -> Any:
    """What JSON with types says of a value, written another way than the code under test."""
    if isinstance(value, list):
        return [told_apart(each) for each in value]
    if isinstance(value, dict):
        return {name: told_apart(each) for name, each in value.items()}
    return f"{type(value).__name__} {value!r}"


@given(JSON, JSON)
def test_equal_only_if_the_same(first: Any, second: Any) -> None:
    """No two different JSON values, types included, share an encoding; equal ones always do."""
    assert (encode_arguments(first) == encode_arguments(second)) == (told_apart(first) == told_apart(second))


@given(JSON)
def test_an_encoding_can_be_hashed(value: Any) -> None:
    """Each is part of a dictionary key."""
    hash(encode_arguments(value))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (1, True),
        (0, False),
        (1, 1.0),
        (1, "1"),
        (0.0, -0.0),
        (None, "null"),
        ([], {}),
        (["a", "b"], ["ab"]),
        ([["a"], "b"], ["a", ["b"]]),
        ({"a": {"b": 1}}, {"a": {}, "b": 1}),
        ({"a": None}, {}),
        ("a", "A"),
        ("a", "a "),
    ],
)
def test_lookalikes_differ(first: Any, second: Any) -> None:
    """Case 39: what is equal, or looks equal, in one form or another is still two calls."""
    assert encode_arguments(first) != encode_arguments(second)


def test_what_is_the_same() -> None:
    """The order of names says nothing, tuples are lists as in JSON, and what is not a number equals itself."""
    assert encode_arguments({"a": 1, "b": 2}) == encode_arguments({"b": 2, "a": 1})
    assert encode_arguments((1, 2)) == encode_arguments([1, 2])
    assert encode_arguments(math.nan) == encode_arguments(float("nan"))


class Colour(enum.StrEnum):
    RED = "red"


def test_subclasses_are_what_they_are_sent_as() -> None:
    """A string that is a member of something is that string to the tool's JSON."""
    assert encode_arguments(Colour.RED) == encode_arguments("red")


@pytest.mark.parametrize("value", [object(), b"x", {1: 2}, {1, 2}, 1j, uuid.UUID(int=1), [object()], {"a": b"x"}])
def test_what_has_no_form_is_refused(value: Any) -> None:
    """Such a call is never speculated or answered, and the error says of which type the value was, not what it was."""
    with pytest.raises(UnkeyableError, match="has no canonical form") as caught:
        encode_arguments(value)
    assert caught.value.value_type


def test_arguments_that_hold_themselves() -> None:
    """Refused like any other, whatever the depth."""
    value: list[Any] = []
    value.append(value)
    with pytest.raises(UnkeyableError):
        search_key("search", {"query": value}, (), RunScope("r"))


# ---- callers


@dataclasses.dataclass
class Context:
    user: str
    client: Any = None


@dataclasses.dataclass
class OtherContext:
    user: str
    client: Any = None


class Loose(Context):
    pass


class Model(BaseModel):
    model_config = ConfigDict(extra="allow")
    user: str


class Secretive(BaseModel):
    user: str
    _token: str = PrivateAttr(default="")


class Opaque:
    def __init__(self, user: str) -> None:
        self.user = user

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


Point = namedtuple("Point", "x")
OtherPoint = namedtuple("Point", "x")  # type: ignore[name-match]


@pytest.mark.parametrize(
    "make",
    [
        lambda: "u1",
        lambda: 7,
        lambda: {"user": "u1", "roles": ["a", ("b",)]},
        lambda: Context("u1"),
        lambda: Context("u1", {"k": [1]}),
        lambda: Model(user="u1", team="t1"),
        lambda: Colour.RED,
        lambda: None,
    ],
)
def test_equal_configuration_is_equal(make: Callable[[], Any]) -> None:
    """Values, records and models are compared by what they hold, so that each run may make its own."""
    assert encode_caller(make()) == encode_caller(make())
    hash(encode_caller(make()))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Context("u1"), Context("u2")),
        (Context("u1"), OtherContext("u1")),
        (Context("u1"), Loose("u1")),
        (Context("u1"), {"user": "u1", "client": None}),
        (Context("u1", object()), Context("u1", object())),
        (Model(user="u1"), Model(user="u1", team="t1")),
        (Secretive(user="u1"), Secretive(user="u1")),
        (Opaque("u1"), Opaque("u1")),
        (Point(1), OtherPoint(1)),
        (Point(1), (1,)),
        ((1,), [1]),
        (1, True),
        (Colour.RED, "red"),
        ({1: "a"}, {1: "a"}),
        ({"a"}, {"a"}),
        (OrderedDict(a=1), {"a": 1}),
        (Context, OtherContext),
        (None, "None"),
    ],
)
def test_callers_a_tool_could_tell_apart_differ(first: Any, second: Any) -> None:
    """What holds more than its fields say, or cannot be looked into, equals only itself."""
    assert encode_caller(first) != encode_caller(second)


def test_opaque_objects_equal_themselves() -> None:
    """One client, one connection, one class: the same object in two steps of a run is the same caller."""
    held = Opaque("u1")
    assert encode_caller({"client": held}) == encode_caller({"client": held})
    assert encode_caller(Context) == encode_caller(Context)
    loose = Context("u1")
    loose.extra = 1  # type: ignore[attr-defined]
    assert encode_caller(loose) == encode_caller(loose)
    other = Context("u1")
    other.extra = 2  # type: ignore[attr-defined]
    assert encode_caller(loose) != encode_caller(other)


def test_an_opaque_object_is_kept_alive() -> None:
    """Or another could take its place in memory, and be taken for it."""
    seen = {encode_caller(Opaque(str(number))) for number in range(1_000)}
    assert len(seen) == 1_000
    assert Same(1) != 1


def test_a_changed_context_is_another_caller() -> None:
    """Contexts are looked at when the call is made, so one that was changed in between is not answered from before."""
    context = Context("u1")
    before = encode_caller(context)
    context.user = "u2"
    assert encode_caller(context) != before


# ---- keys


def test_every_part_of_a_key_counts() -> None:
    """Tool, arguments, caller and scope."""
    parts: list[tuple[Any, Any]] = [
        ("t1", "t2"),
        ({"q": 1}, {"q": 2}),
        ((), ("u",)),
        (RunScope("r"), shared_scope("r")),
    ]
    keys = {
        search_key(tool, arguments, caller, scope)
        for tool in parts[0]
        for arguments in parts[1]
        for caller in parts[2]
        for scope in parts[3]
    }
    assert len(keys) == 16


def test_equality_decides_where_hashes_collide(monkeypatch: pytest.MonkeyPatch) -> None:
    """With all hashes equal no two keys become one."""
    monkeypatch.setattr(SearchKey, "__hash__", lambda _: 1)
    keys = {search_key("t", {"q": value}, (), RunScope("r")) for value in (1, True, 1.0, "1", None, [1])}
    assert len(keys) == 6


@given(SCALARS | st.tuples(SCALARS, SCALARS), SCALARS | st.tuples(SCALARS, SCALARS))
def test_scopes_keep_types_apart(first: Any, second: Any) -> None:
    """Two tenants share only if their names are the same in type too."""
    same = shared_scope(first) == shared_scope(second)
    listed = [list(each) if isinstance(each, tuple) else each for each in (first, second)]
    if told_apart(listed[0]) == told_apart(listed[1]):
        assert same
    elif same:
        assert {repr(first), repr(second)} == {"0.0", "-0.0"} or "0.0" in repr(first)
