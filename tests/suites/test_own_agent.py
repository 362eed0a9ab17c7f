"""A user's own agent, evaluated in a loop that is there already."""

import asyncio
import dataclasses
import json
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError, UnknownOptionError
from langgraph_prefetch.evaluation.trials import Question
from langgraph_prefetch.suites.agents import arms_of, counted
from langgraph_prefetch.suites.running import Request, prepare
from langgraph_prefetch.suites.suite_file import find_suite
from tests.suites import own_agent


@pytest.fixture
def request_of_own(tmp_path: Path) -> Request:
    (tmp_path / "questions.jsonl").write_text('{"question": "How long is it?"}\n', encoding="utf-8")
    return Request(
        suite="speed",
        smoke=True,
        agent="tests.suites.own_agent:make",
        tools=("find",),
        questions=tmp_path / "questions.jsonl",
        out=tmp_path / "out",
    )


async def test_it_runs_in_a_loop_that_is_there_and_twice_in_one_process(request_of_own: Request) -> None:
    """As in a notebook; the loop is never blocked, and the second time goes on with what the first left."""
    first = await (await asyncio.to_thread(prepare, request_of_own, print)).arun()
    assert first.failures == ()
    resumed = dataclasses.replace(request_of_own, resume=True)
    before = len(own_agent.asked)
    again = await (await asyncio.to_thread(prepare, resumed, print)).arun()
    assert len(own_agent.asked) == before
    assert again.summary == first.summary


def test_options_of_the_file_are_those_of_the_wrapped_arm(request_of_own: Request, tmp_path: Path) -> None:
    """With nothing guessed and no calls read ahead, nothing is served; a name that is no option is refused."""
    text = find_suite("speed").read_text(encoding="utf-8")
    (tmp_path / "ours.toml").write_text(f"{text}\n[prefetch]\ndry_run = true\n", encoding="utf-8")
    (tmp_path / "wrong.toml").write_text(f"{text}\n[prefetch]\nspeed = 9\n", encoding="utf-8")
    ours = dataclasses.replace(request_of_own, suite=str(tmp_path / "ours.toml"))
    prepare(ours, print).run()
    lines = (tmp_path / "out" / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    cold = [search for row in rows if row["arm"] == "wrapped" and not row["warm"] for search in row["searches"]]
    assert {search["answered"] for search in cold} == {"ran"}
    wrong = dataclasses.replace(request_of_own, suite=str(tmp_path / "wrong.toml"), out=tmp_path / "other")
    with pytest.raises(UnknownOptionError, match="speed"):
        prepare(wrong, print).run()


def test_an_agent_that_is_wrapped_already_is_refused() -> None:
    """Its bare arm would not be bare."""
    with pytest.raises(ConfigurationError):
        arms_of(arms_of(own_agent.make(), ["find"])["wrapped"].make().runnable, ["find"])


def test_the_mark_of_the_questions_changes_with_any_of_them() -> None:
    """A resumed evaluation has to ask the same."""
    one = [Question(id="a", text="?")]
    assert counted(one) == counted(list(one))
    assert counted(one) != counted([Question(id="a", text="!")])
    assert counted(one) != counted(one, {"?": "a thought"})
