"""The row of a run: each figure from the message or event that knows it."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.trials import Question, Trial
from langgraph_prefetch.evaluation.trials.hearing import Heard
from langgraph_prefetch.evaluation.trials.recording import passages_of, query_of, row_of
from langgraph_prefetch.events import Event, Fate, SearchCallAnswered, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.values import Source

TRIAL = Trial(arm="wrapped", question_id="q", batch=1, repeat=2, warm=True, scope="s", place=3)
QUESTION = Question(id="q", text="?", kind="fact", language="en", reference="r")
USAGE: Any = {"input_tokens": 10, "output_tokens": 4, "total_tokens": 14}


def answered(call: str, *, source: Source | None, late: bool = False, waited: float = 0.2) -> SearchCallAnswered:
    return SearchCallAnswered(
        run_id="r",
        step=1,
        at=1.0,
        call_id=call,
        tool="search",
        source=source,
        speculation_id="s1",
        late=late,
        reason="",
        waited_seconds=waited,
        retrieval_seconds=0.5,
        lead_seconds=0.4,
        hideable_seconds=0.4,
        hidden_seconds=0.3,
    )


def started(name: str) -> SpeculationStarted:
    return SpeculationStarted(
        run_id="r",
        step=1,
        at=0.5,
        speculation_id=name,
        tool="search",
        source=Source.REASONING,
        probability=0.9,
        cue="c",
    )


def ended(name: str, fate: Fate) -> SpeculationEnded:
    return SpeculationEnded(
        run_id="r", step=1, at=1.0, speculation_id=name, tool="search", source=Source.REASONING, fate=fate, reason=""
    )


def row(events: list[Event], call_seconds: dict[str, float] | None = None, usage: Any = USAGE) -> RunRow:
    call: Any = {"name": "search", "args": {"query": "Humber"}, "id": "c1", "type": "tool_call"}
    other: Any = {"name": "send", "args": {}, "id": "c2", "type": "tool_call"}
    heard = Heard(
        messages=(
            HumanMessage("?"),
            AIMessage("", tool_calls=[call, other], usage_metadata=USAGE),
            ToolMessage("found", tool_call_id="c1"),
            ToolMessage("sent", tool_call_id="c2"),
            AIMessage("the end", id="last", usage_metadata=usage),
        ),
        seconds=2.0,
        first_token_seconds={"last": 1.5},
        call_seconds=call_seconds or {},
    )
    return row_of("speed", TRIAL, QUESTION, heard, events, {"search"})


def test_a_late_answer_was_waited_for_although_its_call_seems_short() -> None:
    """A served call's own callbacks begin when it is answered: what the agent waited is known to the event."""
    (found,) = row([answered("c1", source=Source.REASONING, late=True)], {"c1": 0.0003}).searches
    assert (found.answered, found.seconds, found.lookup_seconds, found.source) == ("late", 0.2, None, "reasoning")


def test_a_ready_answer_took_a_look_and_a_miss_took_the_tool() -> None:
    """The look is what the cache takes; a miss is as long as its tool and whatever was waited before."""
    (ready,) = row([answered("c1", source=Source.SEALED, waited=0.001)], {"c1": 0.0003}).searches
    assert (ready.answered, ready.lookup_seconds, ready.retrieval_seconds) == ("ready", 0.001, 0.5)
    (miss,) = row([answered("c1", source=None, waited=0.5)], {"c1": 0.6}).searches
    assert (miss.answered, miss.seconds, miss.lookup_seconds, miss.source) == ("ran", 0.6, None, None)


def test_without_prefetch_the_clock_of_the_call_is_all_there_is() -> None:
    """And calls of other tools are no searches."""
    made = row([], {"c1": 0.7, "c2": 9.0})
    (found,) = made.searches
    assert (found.answered, found.seconds, found.retrieval_seconds) == ("ran", 0.7, 0.7)
    assert (made.batch, made.repeat, made.warm, made.place, made.reference) == (1, 2, True, 3, "r")
    assert (made.answer, made.first_token_seconds, made.model_calls) == ("the end", 1.5, 2)


def test_tokens_are_the_sum_or_unknown() -> None:
    """Of a provider that tells of one message and not of another nothing is known."""
    assert (row([]).input_tokens, row([]).output_tokens) == (20, 8)
    assert row([], usage=None).input_tokens is None


def test_tokens_from_a_prompt_cache_are_told_apart_where_the_provider_does() -> None:
    """They stay among the input tokens."""
    made = row([], usage={**USAGE, "input_token_details": {"cache_read": 7}})
    assert (made.input_tokens, made.cached_input_tokens) == (20, 7)
    assert row([]).cached_input_tokens == 0


def test_what_served_no_call_was_wasted_also_if_it_is_still_kept() -> None:
    """Cancelled, failed, and kept for a later run: none of them served this one."""
    events: list[Event] = [*map(started, "abc"), ended("a", Fate.SERVED), ended("b", Fate.CANCELLED)]
    made = row(events)
    assert (made.speculations, made.wasted) == (3, 2)


@pytest.mark.parametrize(
    ("content", "artifact", "passages"),
    [
        ("a\n\nb", [Document("a"), Document("b")], ("a", "b")),
        ("a\n\nb", None, ("a\n\nb",)),
        ("a", ["no document"], ("a",)),
        ("a", [], ("a",)),
        ("", None, ()),
    ],
)
def test_passages_are_documents_where_the_tool_says_which(
    content: str, artifact: Any, passages: tuple[str, ...]
) -> None:
    """Else the text is one passage."""
    assert passages_of(ToolMessage(content, tool_call_id="c", artifact=artifact)) == passages


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        ({"query": "a", "k": 3}, "a"),
        ({"text": "a", "k": 3}, "a"),
        ({"one": "a", "two": "b"}, "{'one': 'a', 'two': 'b'}"),
        ({}, "{}"),
    ],
)
def test_a_query_is_the_argument_that_can_only_be_one(arguments: dict[str, Any], query: str) -> None:
    """Where there are several texts, all of them are shown."""
    assert query_of({"name": "search", "args": arguments, "id": "c"}) == query
