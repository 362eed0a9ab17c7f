"""Earlier results as guesses: only of the same tool, caller and scope, and bounded in number."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.guesses import Asked, ResultGuess, ResultGuesser
from langgraph_prefetch.keys import RunScope, Scope, encode_caller, search_key, shared_scope
from langgraph_prefetch.speculation.answer import may_answer
from langgraph_prefetch.speculation.earlier_results import (
    MAX_GROUPS,
    MAX_RESULTS,
    P_SIMILAR,
    P_STALE,
    EarlierResults,
    similarity,
)
from langgraph_prefetch.values import Output

RUN = RunScope("1")


def asked(query: str, *, tool: str = "search", user: str = "ada", scope: Scope = RUN, **more: Any) -> Asked:
    arguments = {"query": query, **more}
    key = search_key(tool, arguments, encode_caller({"user": user}), scope)
    return Asked(tool=tool, key=key, arguments=arguments, query=query)


def keep(results: EarlierResults, call: Asked, content: Any) -> None:
    results.keep(call.key, call.arguments, call.query, Output(content))


def guess(results: EarlierResults, call: Asked) -> ResultGuess | None:
    told: list[ResultGuess | None] = []
    results.guess(call, told.append)
    (found,) = told
    return found


def test_the_same_call_and_the_most_similar_query() -> None:
    """The same call's latest result goes first; else that of the query that shares the most words."""
    results = EarlierResults()
    assert isinstance(results, ResultGuesser)
    keep(results, asked("height of the Eiffel Tower"), "old")
    keep(results, asked("height of the Eiffel Tower"), "324 m")
    keep(results, asked("height of the Louvre"), "21 m")
    same = guess(results, asked("height of the Eiffel Tower"))
    assert same is not None
    assert (same.output.content, same.kind, same.probability) == ("324 m", "stale", P_STALE)
    alike = guess(results, asked("Eiffel Tower, height"))
    assert alike is not None
    assert (alike.output.content, alike.kind) == ("324 m", "similar")
    assert alike.probability == pytest.approx(P_SIMILAR * 3 / 5)
    assert guess(results, asked("weight of an elephant")) is None


@pytest.mark.parametrize(
    "other",
    [{"tool": "find"}, {"user": "eve"}, {"scope": RunScope("2")}, {"scope": shared_scope("tenant")}],
    ids=str,
)
def test_nobody_elses_result(other: Any) -> None:
    """Another tool's, user's, run's or tenant's result is no guess, however equal the query."""
    results = EarlierResults()
    keep(results, asked("x"), "mine")
    assert guess(results, asked("x", **other)) is None


def test_other_arguments() -> None:
    """A similar query with another filter or k asks for something else."""
    results = EarlierResults()
    keep(results, asked("tall towers", k=5), "five")
    assert guess(results, asked("towers tall", k=6)) is None
    assert guess(results, asked("towers tall")) is None
    found = guess(results, asked("towers tall", k=5))
    assert found is not None
    assert found.output.content == "five"


def test_a_run_that_is_over_leaves_nothing() -> None:
    """Results of a run go with it; those of a scope stay."""
    results, scope = EarlierResults(), shared_scope("tenant")
    keep(results, asked("x"), "of the run")
    keep(results, asked("x", scope=scope), "of the tenant")
    results.forget(RUN)
    assert guess(results, asked("x")) is None
    assert guess(results, asked("x", scope=scope)) is not None


def test_bounded() -> None:
    """However many are kept."""
    results = EarlierResults()
    for number in range(MAX_RESULTS + 5):
        keep(results, asked(f"query {number}"), "x")
    for number in range(MAX_GROUPS + 5):
        keep(results, asked("x", user=f"user {number}"), "x")
    assert len(results._groups) == MAX_GROUPS
    assert all(len(group) <= MAX_RESULTS for group in results._groups.values())


def test_kept_by_value() -> None:
    """A tool that changes what it returned does not change the guess; what cannot be copied is none."""
    results, content = EarlierResults(), ["one"]
    keep(results, asked("x"), content)
    content.append("two")
    found = guess(results, asked("x"))
    assert found is not None
    assert found.output.content == ["one"]
    keep(results, asked("y"), (number for number in range(1)))
    assert guess(results, asked("y")) is None


@given(st.text(), st.text())
def test_similarity(one: str, other: str) -> None:
    """Symmetric, in [0, 1], and 1 for the same words."""
    assert similarity(one, other) == similarity(other, one)
    assert 0 <= similarity(one, other) <= 1
    assert similarity(f"{one} word", f"word {one}") == 1


def test_only_a_bounded_guess_may_answer() -> None:
    """And only where that was asked for: under verified a guess is for the next model call alone."""
    guessed = ResultGuess(output=Output("x"), kind="near", probability=0.99)
    bounded = ResultGuess(output=Output("x"), kind="near", probability=0.99, bounded=True)
    assert [may_answer(serve, bounded) for serve in ("exact", "verified", "bounded")] == [False, False, True]
    assert not may_answer("bounded", guessed)
