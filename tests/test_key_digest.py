"""Digests of keys: the same in every process, different for different keys, none for what only one process knows."""

import subprocess
import sys
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import UnportableError
from langgraph_prefetch.key_digest import digest, scope_value
from langgraph_prefetch.keys import RunScope, Same, shared_scope

atoms = st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False) | st.text(max_size=3) | st.binary()
keys = st.recursive(atoms, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)


def typed(value: Any) -> Any:
    return (type(value), tuple(map(typed, value)) if isinstance(value, tuple) else repr(value))


@given(keys, keys)
def test_equal_only_for_equal_keys(one: Any, other: Any) -> None:
    """With types: 1, True, 1.0 and "1" are four, and where a tuple ends matters."""
    assert (digest(one) == digest(other)) == (typed(one) == typed(other))


def test_the_same_in_another_process() -> None:
    """Not seeded, as hashes of strings are."""
    code = "from langgraph_prefetch.key_digest import digest; print(digest('a', (1, None, str), 2.5))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    assert run.stdout.strip() == digest("a", (1, None, str), 2.5)


class Level(Enum):
    LOW = 1


@pytest.mark.parametrize("value", [object(), Same(object()), Level.LOW, (1, [object()]), {"a": 1}])
def test_what_one_process_knows_has_none(value: Any) -> None:
    with pytest.raises(UnportableError):
        digest(value)


def test_types_of_a_function_have_none() -> None:
    """Two of the same name may be different."""

    class Local:
        pass

    with pytest.raises(UnportableError):
        digest(Local)


@pytest.mark.parametrize(("value", "told"), [("a", "a"), (7, 7), (("a", (1, None)), ["a", [1, None]])])
def test_the_value_of_a_scope(value: Any, told: Any) -> None:
    """As the user's function gave it, tuples as lists; a run's own scope has none."""
    assert scope_value(shared_scope(value)) == told
    assert scope_value(RunScope("r")) is None
