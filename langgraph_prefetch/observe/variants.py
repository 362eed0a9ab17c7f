"""What came of the runs of each variant: a sink that keeps a row for each run, to be compared later."""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass, field

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import (
    Event,
    Fate,
    OfNoRun,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationStarted,
    VariantAssigned,
)
from langgraph_prefetch.locks import ForkSafeLock

MAX_RUNS = 100_000
MAX_OPEN_RUNS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantRun:
    """One run of an experiment.

    Attributes:
        run_id: as in the events.
        variant: which it was given.
        unit: stands for the key it was assigned by; None: it had none, and got the default.
        seconds: from its start to its end.
        search_calls: of named tools; ``served`` of them by a speculation.
        waited_seconds: for search calls, all together; ``hidden_seconds`` of retrieval were not waited for.
        speculations: started; ``wasted`` of them served no call.
        failed_calls: search calls whose tool raised or returned an error.
    """

    run_id: str
    variant: str
    unit: str | None
    seconds: float
    search_calls: int = 0
    served: int = 0
    waited_seconds: float = 0.0
    hidden_seconds: float = 0.0
    speculations: int = 0
    wasted: int = 0
    failed_calls: int = 0


@dataclass(slots=True)
class _Open:
    began: float
    given: VariantAssigned | None = None
    answered: list[SearchCallAnswered] = field(default_factory=list)
    speculations: int = 0
    served: int = 0


class VariantRuns:
    """``prefetch.subscribe(VariantRuns("reranker"))``: keeps the latest runs of one experiment. Safe for threads.

    Args:
        experiment: its name.
        max_runs: how many ended runs are kept; the oldest go.

    Raises:
        ConfigurationError: ``max_runs`` is below 1.
    """

    def __init__(self, experiment: str, *, max_runs: int = MAX_RUNS) -> None:
        if max_runs < 1:
            raise ConfigurationError(f"max_runs is a whole number from 1, not {max_runs!r}")
        self.experiment = experiment
        self._lock = ForkSafeLock()
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._runs: deque[VariantRun] = deque(maxlen=max_runs)

    @property
    def runs(self) -> tuple[VariantRun, ...]:
        """The ended runs, oldest first. Runs whose start was not heard are not among them."""
        with self._lock:
            return tuple(self._runs)

    def __call__(self, event: Event) -> None:
        """Take in one event."""
        if isinstance(event, OfNoRun):
            return
        with self._lock:
            if isinstance(event, RunStarted):
                self._open[event.run_id] = _Open(event.at)
                if len(self._open) > MAX_OPEN_RUNS:
                    self._open.popitem(last=False)
                return
            run = self._open.get(event.run_id)
            if run is not None:
                self._take(run, event)

    def _take(self, run: _Open, event: Event) -> None:
        match event:
            case VariantAssigned() if event.experiment == self.experiment:
                run.given = event
            case SearchCallAnswered():
                run.answered.append(event)
            case SpeculationStarted():
                run.speculations += 1
            case SpeculationEnded():
                run.served += event.fate is Fate.SERVED
            case RunEnded():
                del self._open[event.run_id]
                if run.given is not None:
                    self._runs.append(_row(run, run.given, event))
            case _:
                pass


def _row(run: _Open, given: VariantAssigned, ended: RunEnded) -> VariantRun:
    calls = run.answered
    return VariantRun(
        run_id=ended.run_id,
        variant=given.variant,
        unit=given.unit,
        seconds=max(0.0, ended.at - run.began),
        search_calls=len(calls),
        served=sum(call.source is not None for call in calls),
        waited_seconds=sum(call.waited_seconds for call in calls),
        hidden_seconds=sum(call.hidden_seconds for call in calls),
        speculations=run.speculations,
        # A served speculation of another run, under a scope, is counted where it was started.
        wasted=max(0, run.speculations - run.served),
        failed_calls=sum(call.failed for call in calls),
    )
