"""The row of a run: what its messages and events say of it. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.messages.tool import ToolCall

from langgraph_prefetch.evaluation.rows import Answered, RunRow, SearchRow
from langgraph_prefetch.evaluation.trials.hearing import Heard
from langgraph_prefetch.evaluation.trials.plan import Trial
from langgraph_prefetch.evaluation.trials.questions import Question
from langgraph_prefetch.events import Event, Fate, SearchCallAnswered, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.report import Tally

QUERY = "query"


def row_of(
    suite: str, trial: Trial, question: Question, heard: Heard, events: Sequence[Event], tools: Collection[str]
) -> RunRow:
    """What one run came to. ``events``: of this run alone; empty for an agent without prefetch."""
    said = [each for each in heard.messages if isinstance(each, AIMessage)]
    tally = Tally()
    for event in events:
        tally(event)
    report = tally.report()
    return RunRow(
        **_asked(suite, trial, question),
        seconds=heard.seconds,
        first_token_seconds=heard.first_token_seconds.get(said[-1].id or "") if said else None,
        answer=str(said[-1].text) if said else "",
        searches=_searches(heard, events, tools),
        input_tokens=_tokens(said, "input_tokens"),
        output_tokens=_tokens(said, "output_tokens"),
        cached_input_tokens=_cached(said),
        model_calls=len(said),
        speculations=report.speculations,
        wasted=_wasted(events),
        hidden_seconds=report.hidden_seconds,
        hideable_seconds=report.hideable_seconds,
        wasted_input_tokens=report.wasted_input_tokens,
        wasted_output_tokens=report.wasted_output_tokens,
    )


def failed_row(suite: str, trial: Trial, question: Question, error: str) -> RunRow:
    """The row of a run that has no answer."""
    return RunRow(**_asked(suite, trial, question), error=error)


def passages_of(message: ToolMessage) -> tuple[str, ...]:
    """The texts that a search gave back: of its documents where it says which, else the whole text."""
    artifact = message.artifact
    if isinstance(artifact, list) and artifact and all(isinstance(each, Document) for each in artifact):
        return tuple(each.page_content for each in artifact)
    text = str(message.text)
    return (text,) if text else ()


def query_of(call: ToolCall) -> str:
    """What a call searches for: its ``query``, else its only text, else all of its arguments."""
    arguments = call["args"]
    if isinstance(arguments.get(QUERY), str):
        return str(arguments[QUERY])
    texts = [value for value in arguments.values() if isinstance(value, str)]
    return texts[0] if len(texts) == 1 else str(arguments)


def searches_made(messages: Sequence[BaseMessage], tools: Collection[str]) -> list[tuple[ToolCall, ToolMessage]]:
    """The calls of the named tools that have a result, in the order in which the model asked."""
    results = {each.tool_call_id: each for each in messages if isinstance(each, ToolMessage)}
    return [
        (call, results[call["id"] or ""])
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
        if call["name"] in tools and (call["id"] or "") in results
    ]


def _asked(suite: str, trial: Trial, question: Question) -> dict[str, Any]:
    return {
        "suite": suite,
        "arm": trial.arm,
        "question_id": question.id,
        "question": question.text,
        "kind": question.kind,
        "language": question.language,
        "reference": question.reference,
        "batch": trial.batch,
        "repeat": trial.repeat,
        "warm": trial.warm,
        "place": trial.place,
    }


def _searches(heard: Heard, events: Sequence[Event], tools: Collection[str]) -> tuple[SearchRow, ...]:
    answers = {each.call_id: each for each in events if isinstance(each, SearchCallAnswered) and each.call_id}
    return tuple(
        _search(call, result, heard.call_seconds, answers.get(call["id"] or ""))
        for call, result in searches_made(heard.messages, tools)
    )


def _search(
    call: ToolCall, result: ToolMessage, call_seconds: Mapping[str, float], answer: SearchCallAnswered | None
) -> SearchRow:
    taken = call_seconds.get(call["id"] or "")
    query, passages = query_of(call), passages_of(result)
    if answer is None:
        return SearchRow(query=query, answered="ran", seconds=taken or 0.0, retrieval_seconds=taken, passages=passages)
    answered: Answered = "ran" if answer.source is None else "late" if answer.late else "ready"
    return SearchRow(
        query=query,
        answered=answered,
        # A served call's own callbacks begin when it is answered, after it has waited.
        seconds=max(taken or 0.0, answer.waited_seconds),
        lookup_seconds=answer.waited_seconds if answered == "ready" else None,
        retrieval_seconds=answer.retrieval_seconds,
        source=None if answer.source is None else str(answer.source),
        passages=passages,
    )


def _tokens(said: Sequence[AIMessage], name: str) -> int | None:
    """Of all messages; None where the provider did not tell of one of them."""
    total = 0
    for message in said:
        usage: Mapping[str, Any] | None = message.usage_metadata
        if usage is None:
            return None
        total += int(usage.get(name, 0))
    return total


def _cached(said: Sequence[AIMessage]) -> int:
    """Of the tokens read, those from the provider's prompt cache; 0 where it does not say."""
    usages: list[Mapping[str, Any]] = [message.usage_metadata or {} for message in said]
    return sum(int((usage.get("input_token_details") or {}).get("cache_read") or 0) for usage in usages)


def _wasted(events: Sequence[Event]) -> int:
    """Speculations that served no call; one that is still kept when the run is over has served none."""
    started = {each.speculation_id for each in events if isinstance(each, SpeculationStarted)}
    served = {each.speculation_id for each in events if isinstance(each, SpeculationEnded) and each.fate is Fate.SERVED}
    return len(started - served)
