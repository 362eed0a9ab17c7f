"""Judging stays within its bounds: calls, money, calls at a time, and what it refuses to begin with."""

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from langchain_core.language_models import FakeListChatModel

from langgraph_prefetch.errors import (
    ConfigurationError,
    JudgeModelError,
    MissingPartError,
    NoJudgeError,
    NothingToJudgeError,
)
from langgraph_prefetch.evaluation.judging import (
    ANSWER,
    CORRECT,
    GROUNDED,
    Judge,
    JudgeBudget,
    JudgeLimits,
    JudgePrice,
    Judging,
    Reason,
    judging_themselves,
)
from langgraph_prefetch.evaluation.judging.spending import Ledger
from langgraph_prefetch.testing.judge import JudgeServer, sensible, strict
from langgraph_prefetch.testing.wire import Request, Turn
from tests.evaluation.judging.served import NONSENSE, bridge, bridges, judge, judging

ROOT = Path(__file__).parents[3]
PRICE = JudgePrice(input_per_million=1_000.0, output_per_million=1_000.0)


def test_a_budget_of_calls_ends_in_a_partial_result_that_says_so() -> None:
    """Of 1,000 samples and a budget of 200, exactly 200 are asked; the others have their reason."""
    with judging(budget=JudgeBudget(calls=200), max_concurrency=16) as (panel, server):
        sheet = panel.score(bridges(1_000))
        assert len(server.requests) == sheet.spent.calls == 200
        assert sheet.coverage.reasons == {Reason.OUT_OF_BUDGET: 800}
        assert sheet.stopped == "800 not asked: out of budget"
        assert sheet.mean == 1.0
        assert panel.compare([(bridge(1), bridge(1, arm="w", answer=NONSENSE))]).coverage.scored == 0
        assert len(server.requests) == 200


def test_a_budget_of_money_is_not_exceeded() -> None:
    """What the calls cost in the end stays below it, with many of them under way at a time."""
    with JudgeServer() as server:
        limits = JudgeLimits(budget=JudgeBudget(money=2.0), max_concurrency=8)
        panel = Judging([judge(server, price=PRICE)], limits=limits)
        sheet = panel.score(bridges(40))
        assert 0 < sheet.spent.calls < 40
        assert sheet.spent.money <= 2.0
        assert Reason.OUT_OF_BUDGET in sheet.coverage.reasons


def test_calls_under_way_hold_their_part_of_the_budget() -> None:
    """Before a call's price is known, what it may cost is set aside: two cannot both take the last of it."""
    ledger = Ledger(budget=JudgeBudget(money=1.0))
    assert ledger.reserve(0.6)
    assert not ledger.reserve(0.6)
    ledger.settle(0.6, 0.1, 10, 1)
    assert ledger.reserve(0.6)
    assert (ledger.calls, ledger.refused) == (2, 1)


def test_a_dry_run_counts_what_the_run_then_makes(tmp_path: Path) -> None:
    """Nothing is called, equal texts count once, and what is stored already costs nothing."""
    samples = [*bridges(5), *bridges(5, arm="wrapped"), bridge(6, answer="")]
    pairs = [(bridge(1), bridge(1, arm="wrapped", answer=NONSENSE)), (bridge(2), bridge(2, arm="wrapped"))]
    with JudgeServer() as server, JudgeServer(strict) as other:
        panel = Judging([judge(server, price=PRICE), judge(other, "strict", PRICE)], verdicts=tmp_path / "v.jsonl")
        planned = panel.plan(samples, [ANSWER, GROUNDED], pairs)
        assert len(server.requests) == 0
        assert (planned.calls, planned.stored) == (2 * (5 + 5 + 2), 0)
        assert planned.money is not None
        assert planned.money > 0
        panel.score(samples)
        panel.score(samples, GROUNDED)
        panel.compare(pairs)
        assert len(server.requests) + len(other.requests) == planned.calls
        again = panel.plan(samples, [ANSWER, GROUNDED], pairs)
        assert (again.calls, again.stored, again.money) == (0, planned.calls, 0)


def test_a_plan_beyond_the_budget_says_so() -> None:
    """Whoever asks first knows before anything is paid."""
    with judging(budget=JudgeBudget(calls=3)) as (panel, _):
        assert panel.plan(bridges(3)).within_budget
        assert not panel.plan(bridges(4)).within_budget
        assert panel.plan(bridges(4)).money is None


def test_no_more_calls_at_a_time_than_allowed() -> None:
    """Rate limits are the judge's; the cap holds over all judges of a panel."""
    lock, under_way, most = threading.Lock(), 0, 0
    full = threading.Barrier(3)

    def counted(request: Request) -> Turn:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        full.wait(20)  # broken, and with it the test, unless three come together
        with lock:
            under_way -= 1
        return sensible(request)

    with JudgeServer(counted) as server:
        panel = Judging([judge(server), judge(server, "other")], limits=JudgeLimits(max_concurrency=3))
        assert panel.score(bridges(6)).coverage.scored == 6
    assert most == 3


def test_a_resumed_run_pays_for_nothing_twice(tmp_path: Path) -> None:
    """A second panel over the same file asks only what the first did not; its sheet is the whole one."""
    path = tmp_path / "verdicts.jsonl"
    with JudgeServer() as server:
        first = Judging([judge(server)], verdicts=path, limits=JudgeLimits(budget=JudgeBudget(calls=4)))
        assert first.score(bridges(10)).coverage.scored == 4
        second = Judging([judge(server)], verdicts=path)
        sheet = second.score(bridges(10))
        assert (sheet.coverage.scored, sheet.spent.calls, sheet.spent.stored) == (10, 6, 4)
        assert len(server.requests) == 10


async def test_a_cancelled_run_keeps_what_came(tmp_path: Path) -> None:
    """Whoever interrupts it loses only the calls that were under way."""
    release, third = threading.Event(), asyncio.Event()
    loop, came = asyncio.get_running_loop(), 0

    def third_waits(request: Request) -> Turn:
        nonlocal came
        came += 1
        if came == 3:
            loop.call_soon_threadsafe(third.set)
            release.wait(30)
        return sensible(request)

    with JudgeServer(third_waits) as server:
        limits = JudgeLimits(max_concurrency=1)
        panel = Judging([judge(server)], verdicts=tmp_path / "v", limits=limits)
        running = asyncio.create_task(panel.ascore(bridges(9)))
        await third.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        release.set()
        assert Judging([judge(server)], verdicts=tmp_path / "v").plan(bridges(9)).stored == 2


KILLED = """
import sys
from langchain_openai import ChatOpenAI
from langgraph_prefetch.evaluation.judging import Judge, JudgeLimits, Judging
from tests.evaluation.judging.served import bridges

model = ChatOpenAI(model="scripted", base_url=sys.argv[1], api_key="none", max_retries=0)
limits = JudgeLimits(max_concurrency=2)
Judging([Judge(name="scripted", model=model)], limits=limits, verdicts=sys.argv[2]).score(bridges(20))
"""


def test_after_a_kill_only_what_was_under_way_is_paid_for_again(tmp_path: Path) -> None:
    """`kill -9` in the middle of judging: of 20 samples, those whose reply had come are not asked again."""
    release, both_wait = threading.Event(), threading.Semaphore(0)
    lock, came = threading.Lock(), 0

    def two_wait(request: Request) -> Turn:
        nonlocal came
        with lock:
            came += 1
            waits = came > 7
        if waits and not release.is_set():
            both_wait.release()
            release.wait(50)
        return sensible(request)

    path = tmp_path / "verdicts.jsonl"
    with JudgeServer(two_wait) as server:
        command = [sys.executable, "-c", KILLED, f"{server.url}/v1", str(path)]
        with subprocess.Popen(command, cwd=ROOT) as running:
            assert both_wait.acquire(timeout=50)
            assert both_wait.acquire(timeout=50)
            running.kill()
        release.set()
        sheet = Judging([judge(server)], verdicts=path).score(bridges(20))
        assert (sheet.coverage.scored, sheet.spent.stored, sheet.spent.calls) == (20, 7, 13)
        assert len(server.requests) == 20 + 2


def test_no_judge_is_an_error_that_says_how_to_name_one() -> None:
    """Missing judge: nothing is scored by default."""
    with pytest.raises(NoJudgeError, match="--judge"):
        Judging([])


def test_nothing_to_judge_is_an_error() -> None:
    """An empty set has no mean and no coverage."""
    with judging() as (panel, _):
        with pytest.raises(NothingToJudgeError):
            panel.score([])
        with pytest.raises(NothingToJudgeError):
            panel.compare([])
        with pytest.raises(NothingToJudgeError):
            panel.plan()


def test_a_rubric_that_needs_what_no_sample_has_is_refused_before_anything_is_paid() -> None:
    """If some have it, the others are unscored for that reason."""
    with judging() as (panel, server):
        with pytest.raises(MissingPartError, match="correct needs references, and none of the 3 samples"):
            panel.score(bridges(3, reference=None), CORRECT)
        with pytest.raises(MissingPartError, match="grounded needs contexts"):
            panel.score(bridges(3, contexts=()), GROUNDED)
        assert len(server.requests) == 0
        sheet = panel.score([bridge(1), bridge(2, reference=None)], CORRECT)
        assert sheet.coverage.reasons == {Reason.NO_REFERENCE: 1}


def test_a_pair_is_of_one_question() -> None:
    """Answers to different questions cannot be compared."""
    with judging() as (panel, _), pytest.raises(ConfigurationError, match="of one question"):
        panel.compare([(bridge(1), bridge(2))])


def test_a_model_without_structured_output_is_refused() -> None:
    """It says which judge, and what to take instead."""
    panel = Judging([Judge(name="plain", model=FakeListChatModel(responses=["5"]))])
    with pytest.raises(JudgeModelError, match="'plain' cannot be used: FakeListChatModel has no structured output"):
        panel.score(bridges(1))


def test_judges_need_names_of_their_own_and_prices_where_money_counts() -> None:
    """Two judges under one name would share verdicts; a judge without a price cannot keep to a budget in money."""
    model = FakeListChatModel(responses=[])
    with pytest.raises(ConfigurationError, match="name of its own"):
        Judging([Judge(name="a", model=model), Judge(name="a", model=model)])
    with pytest.raises(ConfigurationError, match="price of every judge, and a has none"):
        Judging([Judge(name="a", model=model)], limits=JudgeLimits(budget=JudgeBudget(money=1.0)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_concurrency": 0},
        {"timeout_seconds": 0},
        {"timeout_seconds": float("nan")},
        {"max_reply_chars": 0},
        {"give_up_after": 0},
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong: dict[str, int]) -> None:
    """Everything is bounded, and bounds are numbers above 0."""
    with pytest.raises(ConfigurationError):
        JudgeLimits(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"calls": -1}, {"money": -0.1}, {"money": float("inf")}, {"money": float("nan")}])
def test_budgets_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    """A budget is a finite number from 0 on."""
    with pytest.raises(ConfigurationError):
        JudgeBudget(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agent", "flagged"),
    [
        ("openai:gpt-5-mini", ("openai:gpt-5-mini", "azure/gpt-5-mini", "gpt-5-mini-2025-08-07")),
        ("GPT-5-mini", ("openai:gpt-5-mini", "azure/gpt-5-mini", "gpt-5-mini-2025-08-07")),
        ("anthropic:claude-sonnet-4-5", ()),
        (None, ()),
        ("", ()),
    ],
)
def test_a_judge_that_is_the_agents_own_model_is_flagged(agent: str | None, flagged: tuple[str, ...]) -> None:
    """Whatever provider or date stands in the name."""
    judges = ("openai:gpt-5-mini", "azure/gpt-5-mini", "gpt-5-mini-2025-08-07", "openai:gpt-5")
    assert judging_themselves(judges, agent) == flagged


def test_a_key_in_a_model_is_not_shown() -> None:
    """A judge's repr holds no model, and so no key."""
    with JudgeServer() as server:
        assert "none" not in repr(judge(server)).replace("price=None", "")
