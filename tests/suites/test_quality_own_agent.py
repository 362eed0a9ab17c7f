"""The suite `quality` on an agent and questions of the user: no database, and references where there are some."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import tool

from langgraph_prefetch.suites import quality
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from tests.suites.quality_rows import PLACES


@tool
def search(query: str) -> str:
    """Search."""
    return f"{query} crossing spans {len(query)}00 metres and is old."


def make_agent() -> Any:
    def script(messages: Any) -> Turn:
        place = str(messages[0].text).split()[-2]
        if messages[-1].type == "human":
            return Turn(text=f"I need to search {place}.", calls=[Call("search", {"query": place})])
        return Turn(text=f"{place} crossing spans {len(place)}00 metres.")

    return create_agent(ScriptedChatModel(script=script), [search])


def test_an_own_agent_is_asked_and_judged(tmp_path: Path) -> None:
    """Both arms are made of it; a resumed run makes no run and no call of a judge again."""
    questions = tmp_path / "questions.jsonl"
    lines = [{"id": place, "question": f"How far spans {place} crossing?", "language": "en"} for place in PLACES[:8]]
    questions.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    out = tmp_path / "out"
    out.mkdir()
    context = SuiteContext(
        settings={
            "title": "Quality",
            "primary_endpoint": "wrapped less bare",
            "hypotheses": ["H1"],
            "judging": {"margin": 0.4, "controls": 8},
            "limits": {"non_inferior": True},
        },
        data=tmp_path,
        out=out,
        seed=1,
        judges=("scripted",),
        make_agent=make_agent,
        questions=questions,
    )
    assert quality.plan(context).runs == 16
    report = asyncio.run(quality.run(context))
    assert report.failures == ()
    assert "Whether a judge is" not in " ".join(report.limitations)  # a scripted one is no model
    rows, verdicts = (out / "rows.jsonl").read_text("utf-8"), (out / "verdicts.jsonl").read_text("utf-8")
    assert len(rows.splitlines()) == 16
    asyncio.run(quality.run(replace(context, resume=True)))
    assert (out / "rows.jsonl").read_text("utf-8") == rows
    assert (out / "verdicts.jsonl").read_text("utf-8") == verdicts
