"""When requests come."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import EventFileError, SimulationError
from langgraph_prefetch.events import Event, RunStarted, StageVisited
from langgraph_prefetch.observe.event_lines import to_line
from langgraph_prefetch.serving.simulator import bursts, poisson, recorded


def file(path: Path, events: list[Event]) -> Path:
    path.write_text("".join(map(to_line, events)))
    return path


def runs(*times: float) -> list[Event]:
    return [RunStarted(run_id=str(number), at=at) for number, at in enumerate(times)]


def test_poisson_arrivals() -> None:
    """As many as the rate says, with gaps whose deviation is their mean, the same for the same seed."""
    arrivals = poisson(5.0, 2_000, seed=1)
    assert len(arrivals) == pytest.approx(10_000, rel=0.03)
    gaps = [later.at - earlier.at for earlier, later in itertools.pairwise(arrivals)]
    mean = sum(gaps) / len(gaps)
    assert (sum((gap - mean) ** 2 for gap in gaps) / len(gaps)) ** 0.5 == pytest.approx(mean, rel=0.05)
    assert poisson(5.0, 2_000, seed=1) == arrivals != poisson(5.0, 2_000, seed=2)


def test_bursts() -> None:
    """Ten times the rate for a sixth of the time; 0 makes pauses."""
    arrivals = bursts(1.0, 6_000, times=10, every_seconds=60, burst_seconds=10, seed=1)
    inside = sum(each.at % 60 < 10 for each in arrivals)
    assert inside == pytest.approx(10_000, rel=0.05)
    assert len(arrivals) - inside == pytest.approx(5_000, rel=0.05)
    assert all(each.at % 60 >= 10 for each in bursts(1.0, 600, times=0))


@pytest.mark.parametrize(
    "wrong",
    [
        {"rate": 0.0},
        {"rate": float("nan")},
        {"seconds": -1.0},
        {"times": -1.0},
        {"burst_seconds": 61.0},
        {"rate": 1e9},
    ],
)
def test_arrivals_that_cannot_be_drawn(wrong: dict[str, Any]) -> None:
    """Each says why."""
    with pytest.raises(SimulationError):
        bursts(**{"rate": 1.0, "seconds": 10.0, **wrong})


def test_recorded_runs_come_as_they_came(tmp_path: Path) -> None:
    """Each file from 0 on, side by side, and faster where that is asked for."""
    files = [file(tmp_path / "a", runs(1_000, 1_002, 1_001.5)), file(tmp_path / "b", runs(7, 8))]
    assert [each.at for each in recorded(files)] == [0, 0, 1, 1.5, 2]
    assert [each.at for each in recorded(files, times=2)] == [0, 0, 0.5, 0.75, 1]


def test_a_clock_that_started_anew_goes_on(tmp_path: Path) -> None:
    """The process was started again and wrote on in the same file."""
    path = file(tmp_path / "a", runs(500, 510, 3, 5))
    assert [each.at for each in recorded([path])] == [0, 10, 10, 12]


def test_requests_of_pools_come_when_their_first_visit_did(tmp_path: Path) -> None:
    """Where no run was recorded."""
    seen: list[Event] = [
        StageVisited(at=at, request_id=name, stage="s", visit=1, waited_seconds=0.5, service_seconds=1.0)
        for at, name in ((11.5, "a"), (14.5, "b"), (15.5, "a"))
    ]
    assert [each.at for each in recorded([file(tmp_path / "a", seen)])] == [0, 3]


def test_files_without_runs_are_named(tmp_path: Path) -> None:
    """Nothing can be played from them."""
    with pytest.raises(SimulationError, match="no run starts"):
        recorded([file(tmp_path / "a", [])])
    with pytest.raises(EventFileError, match="missing"):
        recorded([tmp_path / "missing"])
    with pytest.raises(SimulationError, match="as fast"):
        recorded([], times=0)
