"""A question asked of the bare and of the wrapped agent, and what came of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.demo.saving import Saving, saving_of
from langgraph_prefetch.demo.threads import side_by_side
from langgraph_prefetch.events import Event
from langgraph_prefetch.report import Report, Tally


@dataclass(frozen=True, slots=True)
class Search:
    """One call of the search tool: what was asked, and the text that came back."""

    query: str
    found: str


@dataclass(frozen=True, slots=True)
class Said:
    """One run of an agent: its answer, its searches in order, its seconds from the question to the last token."""

    answer: str
    searches: tuple[Search, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Trial:
    """One question asked of both agents.

    Attributes:
        bare, wrapped: what they said.
        report: what prefetch did.
        saving: what it could have saved end to end, and did.
        checked: searches of the wrapped agent that were made again afterwards.
        wrong: those whose text differed then.
    """

    bare: Said
    wrapped: Said
    report: Report
    saving: Saving
    checked: int
    wrong: int

    @property
    def same_answer(self) -> bool:
        """Both said the same."""
        return self.bare.answer == self.wrapped.answer

    @property
    def same_passages(self) -> bool:
        """Both searched for the same, in the same order, and read the same."""
        return self.bare.searches == self.wrapped.searches


@dataclass(frozen=True, slots=True)
class Wrapped:
    """What the wrapped agent said, what prefetch did, and what that could have saved."""

    said: Said
    report: Report
    saving: Saving


class Pair:
    """The same agent twice: as it is, and wrapped.

    Args:
        make_agent: makes the agent.
        search: the search without added latency, to check afterwards what the wrapped agent was given.
        options: more of ``with_prefetch``.
    """

    def __init__(self, make_agent: Callable[[], Any], search: Callable[[str], str], **options: Any) -> None:
        self._bare, self._wrapped = make_agent(), with_prefetch(make_agent(), tools=["search"], **options)
        self._search = search

    def ask_bare(self, question: str) -> Said:
        """Ask the agent as it is."""
        return _ask(self._bare, question)

    def ask_wrapped(self, question: str) -> Wrapped:
        """Ask the wrapped agent; one question at a time, so that what happens belongs to it."""
        tally, events = Tally(), list[Event]()
        unsubscribe = [self._wrapped.prefetch.subscribe(sink) for sink in (tally, events.append)]
        try:
            said = _ask(self._wrapped, question)
        finally:
            for each in unsubscribe:
                each()
        return Wrapped(said, tally.report(), saving_of(events))

    def ask_at_once(self, question: str) -> Trial:
        """Ask both at the same time."""
        bare, wrapped = side_by_side(partial(self.ask_bare, question), partial(self.ask_wrapped, question))
        return self.trial(bare, wrapped)

    def trial(self, bare: Said, wrapped: Wrapped) -> Trial:
        """Put the two together, and search again for everything the wrapped agent was given."""
        searches = wrapped.said.searches
        wrong = sum(self._search(each.query) != each.found for each in searches)
        return Trial(bare, wrapped.said, wrapped.report, wrapped.saving, len(searches), wrong)


def _ask(agent: Any, question: str) -> Said:
    messages: list[Any] = []
    began = time.perf_counter()
    # Streamed, as an application would that shows its user what is going on.
    for mode, part in agent.stream({"messages": [("user", question)]}, stream_mode=["messages", "values"]):
        if mode == "values":
            messages = part["messages"]
    seconds = time.perf_counter() - began
    queries = {
        call["id"]: str(call["args"].get("query", ""))
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    searches = tuple(
        Search(queries.get(message.tool_call_id, ""), str(message.text))
        for message in messages
        if isinstance(message, ToolMessage)
    )
    return Said(str(messages[-1].text) if messages else "", searches, seconds)
