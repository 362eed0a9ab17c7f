"""Files of our own events, written by a real agent's sink, on and on a dry run."""

from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.evaluation.advice.advise import AdviceSettings, advise
from langgraph_prefetch.evaluation.advice.values import AS_IT_RAN, Verdict
from langgraph_prefetch.evaluation.importers.read import read_trace
from langgraph_prefetch.observe.jsonl import JsonlSink
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch

THOUGHT = "I need to search Humber Bridge, and then read the length of its main span, the one between the two towers. "
TURNS = [Turn(THOUGHT, calls=[Call("search", {"query": "Humber Bridge"})]), Turn(text="1,410 metres.")]


@pytest.mark.parametrize("dry_run", [False, True])
def test_what_a_sink_wrote_is_what_the_report_says(tmp_path: Path, *, dry_run: bool) -> None:
    """The figures from the file are those of the live report; on a dry run, those of what would have been."""
    questions = [f"How long is it, asked for the {number}th time?" for number in range(24)]
    model = ScriptedChatModel(script=script_by_question(dict.fromkeys(questions, TURNS)), seconds_per_token=0.0005)
    bare: Any = create_agent(model, [CountingSearch(style="both", seconds=0.012).tool])
    agent = with_prefetch(bare, ["search"], dry_run=dry_run)
    with JsonlSink(tmp_path / "events.jsonl") as sink:
        stop = agent.prefetch.subscribe(sink)
        for question in questions:
            agent.invoke({"messages": [("user", question)]})
        stop()
    trace = read_trace(tmp_path / "events.jsonl")
    assert (trace.format, trace.skipped_count) == ("events", 0)
    (search,) = advise([trace], AdviceSettings()).advice
    ran, report = search.evidence.modes[AS_IT_RAN], agent.prefetch.report()
    assert (ran.calls, search.evidence.facts.runs) == (24, 24)
    if dry_run:
        assert report.coverage == 0
        assert ran.coverage.value == 1.0
    else:
        assert ran.coverage.value == pytest.approx(report.coverage)
        assert ran.hidden.value == pytest.approx(report.hidden_seconds / 24)
        assert ran.extra.value == pytest.approx(report.amplification - 1)
    assert ran.hidden.value is not None
    assert ran.hidden.value > 0
    assert search.verdict in (Verdict.RECOMMENDED, Verdict.TOO_LITTLE_DATA)
