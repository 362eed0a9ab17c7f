"""Plans made anew while requests are served: by counts alone, only where it pays, published to those elsewhere."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import StagePressure, StageVisited
from langgraph_prefetch.serving.flow import FlowValues
from langgraph_prefetch.serving.planning import CountsFile, PublishedSizing, Resizer, plan, shared_out
from langgraph_prefetch.serving.planning.rerouting import Counted, rerouted
from langgraph_prefetch.serving.queueing.sizing import PoolSizing
from langgraph_prefetch.serving.simulator import journey, poisson, simulate
from tests.serving.planning.flows import corrective

BUDGET = {"cpu": 20}


def pressure(pool: str, arrived: int, served: int) -> StagePressure:
    return StagePressure(
        at=0.0,
        pool=pool,
        replicas=1,
        places=1,
        busy=0,
        waiting=0,
        speculative=0,
        oldest_seconds=0.0,
        arrived=arrived,
        served=served,
        refused=0,
    )


def pressures(requests: int, again: float, stuck: Mapping[str, int] | None = None) -> list[StagePressure]:
    """What pools count where a share of the graded goes round, and some stages served less than came."""
    graded = round(requests / (1 - again))
    rounds = graded - requests
    counts = {"retrieve": graded, "grade": graded, "rewrite": rounds, "generate": requests}
    return [pressure(name, count, count - (stuck or {}).get(name, 0)) for name, count in counts.items()]


def probability(flow: FlowValues, source: str, target: str) -> float:
    return next(each.probability for each in flow.edges if (each.source, each.target) == (source, target))


def test_counts_of_pools_tell_where_requests_go() -> None:
    """From who came and who was served alone, loops included."""
    counted = {each.pool: Counted(arrived=each.arrived, served=each.served) for each in pressures(100, 0.75)}
    found = rerouted(corrective(0.2), counted)
    assert probability(found, "grade", "rewrite") == pytest.approx(0.75, abs=0.01)
    assert probability(found, "__start__", "retrieve") == 1


def test_a_stage_that_cannot_keep_up_does_not_look_like_one_that_few_go_to() -> None:
    """Who waits is counted as come: half of the rewrites are not done, and the routing is as it is."""
    counted = {e.pool: Counted(arrived=e.arrived, served=e.served) for e in pressures(100, 0.5, {"generate": 60})}
    assert probability(rerouted(corrective(0.2), counted), "grade", "rewrite") == pytest.approx(0.5, abs=0.01)


def test_what_nobody_counted_stays_as_it_was() -> None:
    """Without counts, or with those of other pools."""
    assert rerouted(corrective(0.2), {}) == corrective(0.2)
    found = rerouted(corrective(0.2), {"retrieve": Counted(arrived=50, served=50)})
    assert probability(found, "grade", "rewrite") == pytest.approx(0.2)


def test_a_shift_resizes_and_steady_traffic_does_not() -> None:
    """The new plan is taken over where it serves 5 % more than the present sizes would."""
    resizer = Resizer(corrective(0.2), BUDGET)
    assert resizer.sizes(pressures(400, 0.2), 10.0) == {}
    assert resizer.sizes(pressures(400, 0.1), 20.0) == {}
    assert resizer.plan.replicas != resizer.replicas  # another plan, that is 1 % better
    changed = resizer.sizes(pressures(400, 0.7), 30.0)
    assert changed
    assert resizer.replicas == plan(corrective(0.7), BUDGET).replicas
    assert resizer.sizes(pressures(400, 0.7), 40.0) == {}


def test_too_few_requests_are_counted_on() -> None:
    """A handful says nothing; together with those of the next periods they do."""
    resizer = Resizer(corrective(0.2), BUDGET, min_served=100)
    assert resizer.sizes(pressures(10, 0.75), 10.0) == {}
    assert resizer.sizes(pressures(10, 0.75), 20.0) == {}
    assert resizer.sizes(pressures(10, 0.75), 30.0) != {}


def test_service_times_are_heard_from_events() -> None:
    """A stage that became slow gets more replicas, though the routing is the same."""
    resizer = Resizer(corrective(0.2), BUDGET)
    for number in range(50):
        resizer(
            StageVisited(
                at=1.0, request_id=str(number), stage="generate", visit=1, waited_seconds=0.0, service_seconds=3.0
            )
        )
    before = resizer.replicas["generate"]
    assert resizer.sizes(pressures(400, 0.2), 10.0)["generate"] > before


def test_a_clock_that_goes_back_changes_nothing_that_once() -> None:
    """The next period counts as ever, and what was counted is not lost."""
    resizer = Resizer(corrective(0.2), BUDGET)
    resizer.sizes(pressures(400, 0.2), 100.0)
    assert resizer.sizes(pressures(400, 0.7), 50.0) == {}
    assert resizer.sizes(pressures(400, 0.7), 60.0) != {}


def test_a_period_in_which_nobody_left_a_loop_has_a_plan() -> None:
    """What was known before counts as a few visits, so that no chance count makes a loop endless."""
    resizer = Resizer(corrective(0.2), BUDGET)
    stuck = [pressure("retrieve", 100, 100), pressure("grade", 100, 100), pressure("rewrite", 100, 100)]
    resizer.sizes([*stuck, pressure("generate", 0, 0)], 10.0)
    assert 0.9 < probability(resizer.plan.flow, "grade", "rewrite") < 0.98
    assert min(resizer.replicas.values()) >= 1


def test_what_cannot_be_planned_leaves_the_sizes_as_they_are() -> None:
    """A clock that stood still, by which no visit took any time."""
    resizer = Resizer(corrective(0.2), BUDGET)
    before = resizer.plan
    for name in ("retrieve", "grade", "rewrite", "generate"):
        for number in range(50):
            resizer(
                StageVisited(
                    at=1.0, request_id=str(number), stage=name, visit=1, waited_seconds=0.0, service_seconds=0.0
                )
            )
    assert resizer.sizes(pressures(400, 0.7), 10.0) == {}
    assert resizer.plan is before
    assert resizer.sizes(pressures(400, 0.7), 20.0) != {}


def test_pools_that_are_no_stages_are_left_alone() -> None:
    """A pool that several stages share has a name of its own."""
    resizer = Resizer(corrective(0.2), BUDGET)
    assert resizer.sizes([pressure("shared", 900, 900)], 10.0) == {}


def test_wrong_settings_are_refused() -> None:
    """At once."""
    for wrong in ({"min_gain": -0.1}, {"min_served": 0}):
        with pytest.raises(ConfigurationError):
            Resizer(corrective(), BUDGET, **wrong)
    with pytest.raises(ConfigurationError):
        Resizer(corrective(), {"cpu": 2})


def test_after_a_shift_the_pools_are_near_the_new_optimum_within_two_periods() -> None:
    """In the simulator, under load: at least 90 % of what the best plan for the new routing serves."""
    before, after = corrective(0.1), corrective(0.75)
    resizer = Resizer(before, BUDGET)
    shift, reached = 30.0, {}
    best = plan(after, BUDGET).throughput

    class Watched:
        def sizes(self, found: Sequence[StagePressure], now: float) -> Mapping[str, int]:
            changed = resizer.sizes(found, now)
            reached[now] = shared_out(after, BUDGET, resizer.replicas).throughput / best
            return changed

    watched: PoolSizing = Watched()
    arrivals = poisson(plan(before, BUDGET).throughput * 0.8, 60.0, seed=3)
    journeys = [journey(before if each.at < shift else after, n) for n, each in enumerate(arrivals)]
    simulate(before, resizer.replicas, arrivals, sizing=watched, journeys=journeys, max_waiting=10**6)
    assert reached[30.0] < 0.8
    assert reached[50.0] >= 0.9


class Fixed:
    """Asks for the same once."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.wanted = sizes

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        wanted, self.wanted = self.wanted, {}
        return wanted


def test_counts_for_workers_elsewhere_are_published(tmp_path: Path) -> None:
    """Those of the stages that were named, and no others; the file is always whole."""
    path = tmp_path / "workers.json"
    sizing = PublishedSizing(Fixed({"search": 4, "grade": 2}), CountsFile(path), stages={"search"}, start={"search": 1})
    assert sizing.sizes([], 10.0) == {"search": 4, "grade": 2}
    assert json.loads(path.read_text(encoding="utf-8")) == {"version": 1, "workers": {"search": 4}}
    assert list(tmp_path.iterdir()) == [path]


def test_what_could_not_be_published_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """The pools go on meanwhile, and the latest count is the one that arrives."""
    told: list[tuple[str, int]] = []
    broken = [True]

    def publish(stage: str, replicas: int) -> None:
        if broken.pop() if broken else False:
            raise OSError("no network")
        told.append((stage, replicas))

    sizing = PublishedSizing(Fixed({"search": 4, "grade": 2}), publish, stages={"search"})
    assert sizing.sizes([], 10.0) == {"search": 4, "grade": 2}
    assert told == []
    assert "worker counts were not published (OSError)" in caplog.text
    assert sizing.sizes([], 20.0) == {}
    assert told == [("search", 4)]
    assert sizing.sizes([], 30.0) == {}
    assert told == [("search", 4)]


def test_the_start_is_published_before_anything_changes() -> None:
    """Of the stages that were named alone."""
    told: list[tuple[str, int]] = []
    sizing = PublishedSizing(
        Fixed({}), lambda *each: told.append(each), stages={"search"}, start={"search": 1, "grade": 9}
    )
    assert sizing.sizes([], 10.0) == {}
    assert told == [("search", 1)]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    """Where the file is to be there is a folder."""
    (tmp_path / "workers.json").mkdir()
    with pytest.raises(OSError, match=r"workers\.json"):
        CountsFile(tmp_path / "workers.json")("search", 1)
    assert [each.name for each in tmp_path.iterdir()] == ["workers.json"]


def test_a_folder_that_is_not_there_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    """The file that was there stays as it was."""
    with pytest.raises(FileNotFoundError):
        CountsFile(tmp_path / "none" / "workers.json")("search", 1)
    assert list(tmp_path.iterdir()) == []
