"""Whatever the search tool is and however it fails, a call of it ends wrapped as it ends bare."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.tools import ToolException

from langgraph_prefetch.testing.script import Call, Turn
from langgraph_prefetch.testing.tools import CountingSearch, Style
from tests.graph.matrix.compare import compare
from tests.graph.matrix.kinds import KINDS, World, agent, drawn, search_for
from tests.graph.matrix.styles import STYLES

FORMS: tuple[Style, ...] = ("sync", "async", "both")
CALLED = ("invoke", "ainvoke", "stream-everything", "astream_events-v2")


@pytest.mark.parametrize(("form", "style"), [*itertools.product(FORMS, CALLED)])
def test_every_form_of_a_tool_works_in_every_call_style(form: Style, style: str) -> None:
    """Sync form, async form or both; even the error of an async tool called in a thread is the same."""
    report = compare(agent, STYLES[style], lambda: World(search=CountingSearch(style=form)))

    impossible = form == "async" and style in ("invoke", "stream-everything")
    assert (report.served, report.search_calls) == ((0, 1) if impossible else (2, 2))


class Failing:
    """A world whose search raises."""

    def __init__(self, error: type[Exception], handled: bool | None, *, by_tool: bool = False) -> None:
        self._error, self._handled, self._by_tool = error, handled, by_tool

    def __call__(self) -> World:
        options = {} if self._handled is None else {"handle_tool_errors": self._handled}
        return World(
            turns=(search_for("Eiffel Tower"), Turn(text="I give up.")),
            search=CountingSearch(answer=self._fail),
            node_options=options,
            tool_options={"handle_tool_error": True} if self._by_tool else {},
        )

    def _fail(self, query: str, k: int) -> Any:
        raise self._error(f"no {query}")


@pytest.mark.parametrize("style", CALLED)
@pytest.mark.parametrize("handled", [None, True, False], ids=["default", "handled", "not handled"])
@pytest.mark.parametrize("error", [ValueError, ToolException])
def test_a_tool_that_raises_ends_alike(error: type[Exception], handled: bool | None, style: str) -> None:
    """A failed speculation is no answer: the real call is made, and its error goes where it goes bare."""
    report = compare(drawn, STYLES[style], Failing(error, handled), backend=False)

    assert (report.served, report.search_calls, report.failed) == (0, 1, 1)


@pytest.mark.parametrize("style", CALLED)
def test_an_error_that_the_tool_handles_itself_ends_alike(style: str) -> None:
    """A result with the status of an error is never handed over from a speculation."""
    report = compare(drawn, STYLES[style], Failing(ToolException, None, by_tool=True), backend=False)

    assert (report.served, report.search_calls) == (0, 1)


@pytest.mark.parametrize("style", CALLED)
@pytest.mark.parametrize(
    "arguments", [{}, {"query": "Eiffel Tower", "k": "many"}, {"query": 5}], ids=["missing", "not a number", "not text"]
)
def test_arguments_that_the_tool_refuses_are_refused_alike(arguments: dict[str, Any], style: str) -> None:
    """The tool's own words on bad arguments reach the model, with or without a guess that was right."""
    turns = (
        Turn(reasoning="I need to search for Eiffel Tower. Yes.", calls=[Call("search", arguments)]),
        Turn(text="I give up."),
    )

    compare(agent, STYLES[style], lambda: World(turns), backend=False)


@pytest.mark.parametrize("style", CALLED)
@pytest.mark.parametrize("kind", ["agent", "drawn"])
def test_a_model_that_cannot_stream_is_left_as_it_is(kind: str, style: str) -> None:
    """Nothing can be read, so nothing is prefetched, and nothing changes."""
    report = compare(KINDS[kind], STYLES[style], lambda: World(streams=False))

    assert (report.served, report.search_calls, report.speculations) == (0, 2, 0)
    assert report.idle_runs == 1


@pytest.mark.parametrize("style", ["invoke", "ainvoke", "stream-values", "astream-updates"])
def test_without_forced_streaming_nothing_streams(style: str) -> None:
    """``force_streaming=False``: not even the user's own handler hears more than bare."""
    report = compare(agent, STYLES[style], force_streaming=False, everything=True)

    assert (report.served, report.idle_runs) == (0, 1)


def unknown(query: str) -> Callable[[], World]:
    """A world whose model calls a tool that does not exist."""
    return lambda: World((search_for(query, Call("fetch", {"query": query})), Turn(text="I give up.")))


@pytest.mark.parametrize("style", CALLED)
def test_a_call_of_an_unknown_tool_is_told_alike(style: str) -> None:
    """The tool node's own message about a tool that does not exist stands beside the served call."""
    report = compare(agent, STYLES[style], unknown("Eiffel Tower"), left_to_chance=True, backend=False)

    assert report.search_calls == 1
