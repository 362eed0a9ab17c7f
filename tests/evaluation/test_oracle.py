"""The oracle knows what a call would have got, and can say no."""

from typing import Any

import pytest

from langgraph_prefetch.evaluation.callers import LOOKALIKES, crowd
from langgraph_prefetch.evaluation.oracle import Asked, Oracle


def asked(query: Any = "Ada", user: Any = 1, k: Any = 1, tool: str = "search", owner: str = "all") -> Asked:
    return Asked(tool=tool, arguments={"query": query}, configuration={"user": user, "k": k}, owner=owner)


def test_an_answer_to_the_same_call_is_right() -> None:
    """Equal calls have equal answers."""
    oracle = Oracle()
    assert oracle.check(asked(), oracle.answer(asked()), since=0)
    assert (oracle.checked, oracle.wrong) == (1, 0)


@pytest.mark.parametrize(
    "other",
    [
        asked(query="Byron"),
        asked(query=["Ada"]),
        asked(tool="lookup"),
        asked(owner="another"),
        *(asked(user=user) for user in LOOKALIKES[1:]),
        *(asked(k=k) for k in LOOKALIKES[1:]),
    ],
)
def test_an_answer_to_a_lookalike_is_wrong(other: Asked) -> None:
    """Any difference counts: tool, text, type, configuration or owner."""
    oracle = Oracle()
    assert not oracle.check(asked(), oracle.answer(other), since=0)
    assert not oracle.check(other, oracle.answer(asked()), since=0)
    assert oracle.wrong == 2


def test_an_answer_from_before_a_change_is_wrong_for_a_call_after_it() -> None:
    """Another tool's write is seen by every search that comes after it."""
    oracle = Oracle()
    before = oracle.answer(asked())
    oracle.changed("all")
    assert not oracle.check(asked(), before, since=oracle.version("all"))
    assert oracle.check(asked(), before, since=0), "a call that came before the change may see either"
    assert oracle.check(asked(), oracle.answer(asked()), since=1)


def test_the_crowd_collides() -> None:
    """Some of its members are equal in Python or have equal hashes, and yet are other callers."""
    first = crowd()[0]
    users = [member.configurable["user"] for member in crowd()]
    assert sum(user == first.configurable["user"] for user in users) > len(set(map(repr, users)))
    assert len({hash(value) for value in LOOKALIKES if not isinstance(value, str)}) == 1
    assert crowd()[0] == crowd()[1], "two equal ones, who may share"
