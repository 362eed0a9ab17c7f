"""The plan is the best one there is, and says what limits it."""

import json
from dataclasses import replace
from itertools import pairwise, product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langgraph_prefetch.errors import InfeasibleBudgetError
from langgraph_prefetch.serving.flow import START, Flow, Placement
from langgraph_prefetch.serving.planning import equal_split, plan, shared_out, whole_pipeline
from tests.serving.planning.flows import chain, corrective, flow, stage


def test_loops_multiply_the_visits() -> None:
    """With p = 1/2 of going round, a request is graded twice; f_j = Σ p_ij γ_i f_i."""
    found = plan(corrective(0.5), {"cpu": 20})
    visits = {each.stage: each.visits_per_request for each in found.stages}
    assert visits == pytest.approx({"retrieve": 2, "grade": 2, "rewrite": 1, "generate": 1})
    assert found.bottleneck == "grade"


def test_amplification_multiplies_too() -> None:
    """A stage that sends on four for each it gets makes four times the load behind it."""
    found = plan(chain(stage("split", 0.1, amplification=4.0), stage("work", 0.1)), {"cpu": 10})
    assert found.replicas == {"split": 2, "work": 8}
    assert found.throughput == pytest.approx(20)


@settings(max_examples=30, deadline=None)
@given(
    seconds=st.lists(st.floats(0.01, 2.0), min_size=2, max_size=3),
    sizes=st.lists(st.sampled_from([0.75, 1.0, 1.5]), min_size=3, max_size=3),
    least=st.lists(st.integers(0, 2), min_size=3, max_size=3),
    again=st.floats(0, 0.8),
    budget=st.integers(9, 12),
)
def test_no_other_replicas_do_better(
    seconds: list[float], sizes: list[float], least: list[int], again: float, budget: int
) -> None:
    """Against all ways to spend the budget: none that fits and keeps the minimums serves more."""
    stages = tuple(stage(f"s{n}", each, {"cpu": sizes[n]}, min_replicas=least[n]) for n, each in enumerate(seconds))
    names = [each.name for each in stages]
    edges = [(START, names[0], 1.0), *((a, b, 1.0) for a, b in pairwise(names))]
    looped = flow(stages, *edges, (names[-1], names[0], again), (names[-1], "__end__", 1 - again))
    found = plan(looped, {"cpu": budget})
    best = 0.0
    ranges = [range(max(1, least[n]), int(budget / sizes[n]) + 1) for n in range(len(stages))]
    for counts in product(*ranges):
        if sum(count * sizes[n] for n, count in enumerate(counts)) <= budget:
            rates = (count / each * (1 - again) for count, each in zip(counts, seconds, strict=True))
            best = max(best, min(rates))
    assert found.throughput == pytest.approx(best, rel=1e-6)
    assert found.used["cpu"] <= budget
    assert found.bound >= best * (1 - 1e-6)
    assert all(found.replicas[name] >= least[n] for n, name in enumerate(names))


def test_several_resources_limit_together() -> None:
    """The one that is short decides; another unit of it buys something, of the other nothing."""
    found = plan(chain(stage("find", 0.1), stage("say", 0.5, {"cpu": 1, "gpu": 1})), {"cpu": 16, "gpu": 2})
    assert found.throughput == pytest.approx(4)
    assert (found.bottleneck, found.tightest) == ("say", "say")
    assert found.next_units["gpu"].gain == pytest.approx(2)
    assert found.next_units["gpu"].replicas == {"say": 3}
    assert found.next_units["gpu"].marginal == pytest.approx(2)
    assert found.next_units["cpu"].gain == 0
    assert found.used == {"cpu": 3, "gpu": 2}


def test_no_more_replicas_than_the_throughput_needs() -> None:
    """What is left over is left over, and said."""
    found = plan(chain(stage("find", 0.1), stage("say", 1.0, {"gpu": 1})), {"cpu": 16, "gpu": 2})
    assert found.replicas == {"find": 1, "say": 2}
    assert "Left over: cpu=15" in found.explain()


def test_where_either_kind_would_do_the_scarcer_resource_is_left() -> None:
    """One replica is a tenth of the cpu and half of the gpu."""
    on_gpu = Placement(name="gpu", resources={"gpu": 1}, mean_seconds=0.1)
    either = chain(stage("say", 0.1, placements=(on_gpu,)), stage("limit", 1.0, {"tpu": 1}))
    found = plan(either, {"cpu": 10, "gpu": 2, "tpu": 1})
    assert found.stages[0].replicas == {"own": 1, "gpu": 0}
    assert found.throughput == pytest.approx(1)


def test_parts_of_replicas_bound_it_in_closed_form() -> None:
    """On one resource: the budget over the work of a request, and of that work each stage has its share."""
    found = plan(corrective(0.5), {"cpu": 21})
    work = {"retrieve": 0.2, "grade": 0.8, "rewrite": 0.2, "generate": 0.3}
    whole = sum(work.values())
    assert found.bound == pytest.approx(21 / whole)
    assert found.throughput < found.bound
    assert found.next_units["cpu"].marginal == pytest.approx(1 / whole)
    assert {each.stage: each.share for each in found.stages} == pytest.approx({n: w / whole for n, w in work.items()})


def test_a_stage_may_run_on_other_kinds_of_replica() -> None:
    """Where a larger machine serves more for what it occupies, it is taken; what is left is filled with small ones."""
    large = Placement(name="large", resources={"gpu": 1}, mean_seconds=0.05)
    found = plan(chain(stage("say", 0.5, placements=(large,))), {"cpu": 4, "gpu": 1})
    assert found.stages[0].replicas == {"own": 4, "large": 1}
    assert found.throughput == pytest.approx(28)
    assert found.replicas == {"say": 5}
    assert "4 + 1 large" in found.explain()


def test_what_nobody_comes_to_gets_its_minimum() -> None:
    """Edges never taken, and stages never measured behind them, cost their minimum and no more."""

    def with_unused(least: int) -> Flow:
        return flow(
            (stage("a", 0.1, min_replicas=0), stage("never", None, min_replicas=least)),
            *((START, "a", 1.0), ("a", "__end__", 1.0), ("a", "never", 0.0)),
        )

    for least in (0, 1):
        assert plan(with_unused(least), {"cpu": 5}).replicas == {"a": 5 - least, "never": least}
    with pytest.raises(InfeasibleBudgetError, match="that of 'a'"):
        plan(with_unused(1), {"cpu": 0.5})


def test_a_stage_that_takes_no_time_or_nothing_limits_nothing() -> None:
    """Infinite capacity, one replica; a stage without resources gets as many as it needs."""
    found = plan(chain(stage("free", 0.0), stage("api", 3.0, {}), stage("work", 0.5)), {"cpu": 5})
    assert found.stages[0].capacity == inf
    assert found.stages[0].utilisation == 0
    assert found.replicas == {"free": 1, "api": 24, "work": 4}
    assert json.loads(json.dumps(found.as_json()))["stages"]["free"]["capacity"] is None


def test_very_fast_and_very_slow_stages_in_one_flow() -> None:
    """Nine orders of magnitude between two stages lose no replica to rounding."""
    found = plan(chain(stage("fast", 1e-6), stage("slow", 1e3)), {"cpu": 1001})
    assert found.replicas == {"fast": 1, "slow": 1000}
    assert found.throughput == pytest.approx(1)


def test_it_is_told_in_words_as_json_and_drawn() -> None:
    """The bottleneck, what the next unit buys and what was assumed."""
    found = plan(replace(corrective(0.5), notes=("one cpu each",)), {"cpu": 20, "gpu": 1})
    text = found.explain()
    assert "Bottleneck: grade; visits that are 1 % faster there buy 0.53 % of throughput." in text
    assert "One more cpu: " in text
    assert "- one cpu each\n- no stage occupies gpu" in text
    values = json.loads(json.dumps(found.as_json()))
    assert (values["version"], values["bottleneck"]) == (1, "grade")
    assert values["stages"]["grade"]["replicas"] == found.replicas["grade"]
    assert f"grade × {found.replicas['grade']}<br/>" in found.mermaid()
    assert "style s1 stroke-width" in found.mermaid()


def test_prices_of_visits_add_up() -> None:
    """Each visit of a request costs, those of a loop as often as they come."""
    found = plan(corrective(0.5, price_per_visit=0.25), {"cpu": 20})
    assert found.price_per_request == pytest.approx(0.5)
    assert "One request costs 0.5" in found.explain()


def test_rivals_share_out_by_the_same_equations() -> None:
    """Equal parts and whole copies use what there is, and never do better than the plan."""
    found = corrective(0.5)
    equal, whole = equal_split(found, {"cpu": 21}), whole_pipeline(found, {"cpu": 21})
    assert sum(equal.replicas.values()) == 21
    assert (min(equal.replicas.values()), equal.tightest) == (5, "grade")
    assert whole.replicas == dict.fromkeys(("retrieve", "grade", "rewrite", "generate"), 5)
    assert whole.throughput == pytest.approx(5 / 0.8)
    planned = plan(found, {"cpu": 21})
    assert planned.throughput > max(equal.throughput, whole.throughput)
    assert shared_out(found, {"cpu": 21}, planned.replicas).throughput == pytest.approx(planned.throughput)


def test_an_equal_split_keeps_the_minimums() -> None:
    """A stage that must have more than its part takes it from the largest."""
    found = equal_split(chain(stage("a", 0.1, min_replicas=8), stage("b", 0.1), stage("c", 0.1)), {"cpu": 12})
    assert found.replicas == {"a": 8, "b": 2, "c": 2}


def test_whole_copies_are_as_many_as_the_scarcest_resource_holds() -> None:
    """Two gpus are two copies, whatever is left of the rest."""
    both = chain(stage("find", 0.1), stage("say", 0.1, {"cpu": 1, "gpu": 1}))
    assert whole_pipeline(both, {"cpu": 10, "gpu": 2}).replicas == {"find": 2, "say": 2}


def test_rivals_take_the_first_kind_where_a_stage_was_measured_on_others_alone() -> None:
    """Their replicas serve what that kind serves."""
    large = Placement(name="large", resources={"cpu": 2}, mean_seconds=0.5)
    found = whole_pipeline(chain(stage("say", None, placements=(large,))), {"cpu": 9})
    assert found.replicas == {"say": 4}
    assert found.throughput == pytest.approx(8)
