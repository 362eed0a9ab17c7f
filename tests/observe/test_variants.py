"""The sink that keeps a row for each run of an experiment."""

from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import (
    EventSink,
    Fate,
    NearTierChanged,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationStarted,
    VariantAssigned,
)
from langgraph_prefetch.observe.variants import MAX_OPEN_RUNS, VariantRun, VariantRuns
from langgraph_prefetch.testing.sink_contract import EventSinkContract
from langgraph_prefetch.values import Source


class TestContract(EventSinkContract):
    @pytest.fixture
    def sink(self) -> EventSink:
        return VariantRuns("reranker")


def given(run_id: str, variant: str = "with", experiment: str = "reranker") -> VariantAssigned:
    return VariantAssigned(run_id=run_id, at=0.0, experiment=experiment, variant=variant, unit="u")


def test_a_run_becomes_a_row() -> None:
    """Its seconds, its calls, what was hidden and what was wasted; of its own experiment alone."""
    runs = VariantRuns("reranker")
    about: dict[str, Any] = {"run_id": "1", "step": 1, "tool": "search", "source": Source.REASONING}
    answered = dict.fromkeys(("waited", "retrieval", "lead", "hideable", "hidden"), 0.25)
    answered_seconds: dict[str, Any] = {f"{name}_seconds": value for name, value in answered.items()}
    runs(RunStarted(run_id="1", at=1.0))
    runs(given("1"))
    runs(given("1", variant="x", experiment="another"))
    for number in (1, 2):
        runs(SpeculationStarted(**about, at=1.5, speculation_id=str(number), probability=0.9, cue="c"))
    runs(SpeculationEnded(**about, at=2.0, speculation_id="1", fate=Fate.SERVED, reason="ready"))
    runs(
        SearchCallAnswered(
            **about,
            **answered_seconds,
            at=2.0,
            call_id="c",
            speculation_id="1",
            late=False,
            reason="",
            failed=True,
        )
    )
    runs(NearTierChanged(at=2.0, tool="search", tier="likely", open=True, reason=""))
    assert not runs.runs
    runs(RunEnded(run_id="1", at=4.0, idle=False))
    assert runs.runs == (
        VariantRun(
            run_id="1",
            variant="with",
            unit="u",
            seconds=3.0,
            search_calls=1,
            served=1,
            waited_seconds=0.25,
            hidden_seconds=0.25,
            speculations=2,
            wasted=1,
            failed_calls=1,
        ),
    )


def test_runs_of_which_too_little_is_known() -> None:
    """Without a start there is no time, and without an assignment no variant: such runs are left out."""
    runs = VariantRuns("reranker")
    runs(given("no start"))
    runs(RunEnded(run_id="no start", at=1.0, idle=False))
    runs(RunStarted(run_id="no variant", at=1.0))
    runs(RunEnded(run_id="no variant", at=2.0, idle=False))
    assert runs.runs == ()


def test_it_is_bounded() -> None:
    """Runs that never end, and runs beyond those that are kept, go, the oldest first."""
    runs = VariantRuns("reranker", max_runs=2)
    for number in range(MAX_OPEN_RUNS + 3):
        runs(RunStarted(run_id=str(number), at=0.0))
        runs(given(str(number)))
    for number in range(MAX_OPEN_RUNS + 3):
        runs(RunEnded(run_id=str(number), at=1.0, idle=False))
    assert [each.run_id for each in runs.runs] == [str(MAX_OPEN_RUNS + 1), str(MAX_OPEN_RUNS + 2)]
    with pytest.raises(ConfigurationError, match="max_runs"):
        VariantRuns("reranker", max_runs=0)
