"""Runs are made once, written at once, and what fails says so."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.messages.tool import ToolCall

from langgraph_prefetch.errors import ConfigurationError, EmbedderMismatchError
from langgraph_prefetch.evaluation.trials import Outcome, RowFile, RunSettings, paired_trials, run_trials
from tests.evaluation.trials.agents import Quick, arm, questions

SETTINGS = RunSettings(suite="speed", tools=("search",))


class Killed(BaseException):
    """What ends a process, as far as a test can bear it."""


async def outcome(
    path: Path, agents: dict[str, Any], *, count: int = 3, settings: RunSettings = SETTINGS, **options: Any
) -> Outcome:
    asked = questions(count)
    trials = paired_trials(list(asked), list(agents), warm=options.pop("warm", False), seed=5)
    arms = {name: arm(name, agent, keeps=name == "wrapped") for name, agent in agents.items()}
    await asyncio.to_thread(path.mkdir, exist_ok=True)
    rows = await asyncio.to_thread(RowFile, path / "rows.jsonl")
    return await run_trials(trials, asked, arms, rows, settings, **options)


async def test_a_row_holds_what_the_run_came_to(tmp_path: Path) -> None:
    """Answer, search, passages, and times, from the run's own messages."""
    result = await outcome(tmp_path, {"bare": Quick()}, count=1)
    (row,) = result.rows
    assert (row.answer, row.error, row.model_calls) == ("the answer", None, 2)
    assert [(each.query, each.answered, each.passages) for each in row.searches] == [
        ("question 0", "ran", ("a passage",))
    ]
    assert row.first_token_seconds is not None
    assert 0 <= row.first_token_seconds <= row.seconds
    assert result.remarks == ()


async def test_a_resumed_evaluation_asks_nothing_twice(tmp_path: Path) -> None:
    """What was paid for is read from the file; only what is missing is asked."""
    stopping = Quick()
    said: list[str] = []

    def stop(line: str) -> None:
        said.append(line)
        if len(said) == 4:
            raise Killed

    with pytest.raises(BaseExceptionGroup):
        await outcome(tmp_path, {"bare": stopping}, count=6, say=stop)
    again = Quick()
    result = await outcome(tmp_path, {"bare": again}, count=6)
    assert len(stopping.asked) == 4
    assert len(again.asked) == 2
    assert not {text for text, _ in stopping.asked} & {text for text, _ in again.asked}
    assert len(result.rows) == 6


async def test_an_arm_that_fails_half_way_leaves_rows_and_a_result_that_says_so(tmp_path: Path) -> None:
    """The other arm goes on; the arm is given up after so many failures in a row, with its last error."""
    broken = Quick(fails=lambda number: RuntimeError("quota is used up") if number > 2 else None)
    settings = RunSettings(suite="speed", tools=("search",), failures_in_a_row=3)
    result = await outcome(tmp_path, {"bare": Quick(), "wrapped": broken}, count=10, settings=settings)
    of = {name: [row for row in result.rows if row.arm == name] for name in ("bare", "wrapped")}
    assert len(of["bare"]) == 10
    assert [row.error is None for row in of["wrapped"]] == [True, True, False, False, False]
    assert result.given_up == {"wrapped": "RuntimeError: quota is used up"}
    assert any("partial: 15 of 20" in remark for remark in result.remarks)


async def test_a_failure_now_and_then_gives_no_arm_up(tmp_path: Path) -> None:
    """Failures count in a row; each has a row, and a resumed evaluation makes that run again."""
    flaky = Quick(fails=lambda number: ConnectionError("reset") if number % 2 else None)
    settings = RunSettings(suite="speed", tools=("search",), failures_in_a_row=2)
    result = await outcome(tmp_path, {"bare": flaky}, count=6, settings=settings)
    assert (result.failed, result.given_up) == ({"bare": 3}, {})
    healed = Quick()
    assert (await outcome(tmp_path, {"bare": healed}, count=6)).failed == {}
    assert len(healed.asked) == 3


async def test_a_run_that_never_ends_is_a_failed_run(tmp_path: Path) -> None:
    """Its row names the limit."""

    class Hanging(Quick):
        async def astream(self, given: Any, config: Any, **_: Any) -> Any:
            await asyncio.Event().wait()
            yield

    settings = RunSettings(suite="speed", tools=("search",), timeout_seconds=0.01)
    result = await outcome(tmp_path, {"bare": Hanging()}, count=1, settings=settings)
    assert result.rows[0].error == "no answer within 0.01 s"


async def test_an_agent_without_messages_says_what_is_missing(tmp_path: Path) -> None:
    """Nothing could be read from such an agent's runs."""

    class Wordless(Quick):
        async def astream(self, given: Any, config: Any, **_: Any) -> Any:
            yield "values", {"output": 1}

    result = await outcome(tmp_path, {"bare": Wordless()}, count=1)
    assert "no 'messages'" in str(result.rows[0].error)


async def test_more_runs_at_once_have_agents_of_their_own(tmp_path: Path) -> None:
    """No more of them are at work than was said, and each is made once a seat."""
    now = [0, 0]

    class Counting(Quick):
        async def astream(self, given: Any, config: Any, **_: Any) -> Any:
            now[0] += 1
            now[1] = max(now)
            await asyncio.sleep(0)
            yield "values", {"messages": [HumanMessage("?")]}
            now[0] -= 1

    settings = RunSettings(suite="speed", tools=("search",), concurrency=3)
    result = await outcome(tmp_path, {"bare": Counting()}, count=9, settings=settings)
    assert (len(result.rows), now) == (9, [0, 3])


async def test_served_passages_are_compared_with_those_of_the_real_call(tmp_path: Path) -> None:
    """After the clock has stopped; a second search that fails says nothing."""

    async def check(call: ToolCall) -> tuple[str, ...]:
        if call["args"]["query"] == "question 0":
            raise ConnectionError
        return ("a passage",) if call["args"]["query"] == "question 1" else ("another",)

    result = await outcome(tmp_path, {"bare": Quick()}, check=check)
    found = {row.question_id: row.searches[0].as_real for row in result.rows}
    assert found == {"q0": None, "q1": True, "q2": False}


async def test_arms_that_search_with_different_vectors_are_refused(tmp_path: Path) -> None:
    """Before anything is asked: whatever came of it would compare embedders."""
    agent, asked = Quick(), questions(1)
    arms = {name: arm(name, agent, embedder=embedder) for name, embedder in (("bare", "one"), ("wrapped", "two"))}
    trials = paired_trials(list(asked), list(arms), seed=0)
    with pytest.raises(EmbedderMismatchError, match="bare with 'one', wrapped with 'two'"):
        await run_trials(trials, asked, arms, await asyncio.to_thread(RowFile, tmp_path / "rows.jsonl"), SETTINGS)
    assert agent.asked == []


async def test_an_arm_that_nobody_made_is_refused(tmp_path: Path) -> None:
    """The error names those that there are."""
    asked = questions(1)
    with pytest.raises(ConfigurationError, match="'direct'"):
        await run_trials(
            paired_trials(list(asked), ["direct"], seed=0),
            asked,
            {"bare": arm("bare", Quick())},
            await asyncio.to_thread(RowFile, tmp_path / "rows.jsonl"),
            SETTINGS,
        )


async def test_the_run_before_the_first_is_not_counted(tmp_path: Path) -> None:
    """What is made at the first use is not measured, and what it kept is in a scope of its own."""
    agent = Quick()
    settings = RunSettings(suite="speed", tools=("search",), warm_up=True)
    result = await outcome(tmp_path, {"bare": agent}, count=2, settings=settings)
    assert len(result.rows) == 2
    assert agent.asked[0][1] == "warm-up"
    assert len(agent.asked) == 3


async def test_a_warm_run_is_made_warm_again_where_what_was_kept_is_gone(tmp_path: Path) -> None:
    """Resumed in another process, only an arm that keeps results is asked once more before, and that is not counted."""
    said: list[str] = []

    def stop(line: str) -> None:
        said.append(line)
        if len(said) == 4:
            raise Killed

    with pytest.raises(BaseExceptionGroup):
        await outcome(tmp_path, {"bare": Quick(), "wrapped": Quick()}, count=1, warm=True, say=stop)
    # Of one question, two arms, cold and warm, all four are made; without its warm rows they are to be made again.
    path = tmp_path / "rows.jsonl"
    lines = await asyncio.to_thread(path.read_text, encoding="utf-8")
    cold = "".join(f"{line}\n" for line in lines.splitlines() if '"warm": false' in line)
    await asyncio.to_thread(path.write_text, cold, encoding="utf-8")
    bare, wrapped = Quick(), Quick()
    result = await outcome(tmp_path, {"bare": bare, "wrapped": wrapped}, count=1, warm=True)
    assert (len(bare.asked), len(wrapped.asked), len(result.rows)) == (1, 2, 4)
    assert len({scope for _, scope in wrapped.asked}) == 1
    once = Quick()
    await outcome(tmp_path / "new", {"wrapped": once}, count=1, warm=True)
    assert len(once.asked) == 2, "where nothing is gone nothing is asked again"
