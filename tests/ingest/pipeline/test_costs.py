"""The cost model finds the parameters behind timings, and what it chooses keeps up."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest import IngestSettings
from langgraph_prefetch.ingest.costs import (
    OWN_SECONDS,
    CostModel,
    Load,
    StageCost,
    Timing,
    choose,
    fit,
    model_of,
    writers_for,
)
from langgraph_prefetch.ingest.pace import PROBES, Pace

_seconds = st.just(0.0) | st.floats(1e-6, 0.1)


@given(alpha=_seconds, beta=_seconds, sizes=st.lists(st.integers(1, 2_048), min_size=2, max_size=9, unique=True))
def test_a_fit_finds_what_made_the_timings(alpha: float, beta: float, sizes: list[int]) -> None:
    """A cost per request and one per item, neither below 0."""
    found = fit([Timing(size, alpha + beta * size) for size in sizes])
    for size in sizes:
        assert found.request_seconds(size) == pytest.approx(alpha + beta * size, rel=1e-4, abs=1e-6)
    assert min(found.alpha, found.beta) >= 0
    assert found.error < 1e-3


@given(timings=st.lists(st.builds(Timing, items=st.integers(1, 99), seconds=_seconds), max_size=9))
def test_no_timings_lead_to_a_negative_cost(timings: list[Timing]) -> None:
    """Larger requests may happen to be faster."""
    found = fit(timings)
    assert min(found.alpha, found.beta) >= 0
    assert found.samples == len(timings)


def test_the_formula() -> None:
    """T ≈ Nα/(bP) + Nβ/P + Ω, the slowest stage's, since the stages overlap."""
    stages = {
        "embed": StageCost(alpha=0.1, beta=0.001, error=0, samples=3),
        "upsert": StageCost(alpha=0.0, beta=0.0001, error=0, samples=3),
    }
    loads = {"embed": Load(batch=50, workers=4), "upsert": Load(batch=100, workers=1)}
    model = CostModel(stages=stages, loads=loads, omega=0.5, items=1_000)
    assert model.predict(1_000) == pytest.approx(1_000 * 0.1 / (50 * 4) + 1_000 * 0.001 / 4 + 0.5)
    assert model.slowest(1_000) == "embed"
    faster = {"embed": Load(batch=1_000, workers=16)}
    assert model.slowest(1_000, faster) == "upsert"
    assert model.error(1_000, 1.0) == pytest.approx(0.25)
    assert str(model).splitlines()[0] == (
        "embed  α 100.00 ms a request, β 1000.0 µs an item (off by 0% over 3), b 50, P 4"
    )


def _simulated(items: int, alpha: float, beta: float, batch: int, workers: int, write: float) -> float:
    """When the last of some requests ends that are spread over workers, each waiting for its turn at one writer."""
    free, written = [0.0] * workers, 0.0
    for start in range(0, items, batch):
        count = min(batch, items - start)
        worker = free.index(min(free))
        free[worker] += alpha + beta * count
        written = max(written, free[worker]) + write * count
    return written


@pytest.mark.parametrize(
    ("alpha", "beta", "write"), [(0.06, 0.0, 30e-6), (0.06, 1e-4, 30e-6), (0.001, 0.0, 30e-6), (0.2, 2e-4, 5e-6)]
)
def test_it_predicts_other_runs_within_a_fifth(alpha: float, beta: float, write: float) -> None:
    """Fitted to one run of a simulated pipeline, for corpora of other sizes, other requests and other workers."""
    loads = {"embed": Load(batch=256, workers=4), "upsert": Load(batch=256, workers=1)}
    seconds = _simulated(18_000, alpha, beta, 256, 4, write)
    timings = {
        "embed": [Timing(size, alpha + beta * size) for size in (32, 128, 256)],
        "upsert": [Timing(size, write * size) for size in (128, 256)],
    }
    model = model_of(timings, loads, items=18_000, seconds=seconds)
    for items, batch, workers in itertools.product((36_000, 100_000), (128, 512), (2, 8)):
        other = {"embed": Load(batch=batch, workers=workers), "upsert": Load(batch=batch, workers=1)}
        assert model.error(items, _simulated(items, alpha, beta, batch, workers, write), other) < 0.2


@given(alpha=_seconds, beta=_seconds, pace=st.floats(0, 0.01), most=st.integers(1, 4_096), workers=st.integers(1, 64))
def test_what_is_chosen_is_within_limits_and_costs_little_more_than_the_best(
    alpha: float, beta: float, pace: float, most: int, workers: int
) -> None:
    """Per item at most a tenth more than the largest requests, and no more workers than are needed."""
    cost = StageCost(alpha=alpha, beta=beta, error=0, samples=3)
    load = choose(cost, pace=pace, max_batch=most, max_workers=workers)
    assert 1 <= load.batch <= most
    assert 1 <= load.workers <= workers
    own = max(alpha, OWN_SECONDS)
    assert own / load.batch + beta <= 1.1 * (own / most + beta) * (1 + 1e-9)
    if load.workers < workers:
        assert 2 * (own / load.batch + beta) / load.workers <= pace * (1 + 1e-9)


def test_limits_below_one_are_refused() -> None:
    """Nothing could run."""
    with pytest.raises(ConfigurationError):
        choose(fit([]), pace=0, max_batch=0, max_workers=1)


def _told(pace: Pace, alpha: float, beta: float, cpu: float = 0.0) -> None:
    for _, items in pace.spans(4_096):
        pace.tell(items, alpha + beta * items, cpu * (alpha + beta * items))


def test_probes_come_first_and_then_the_choice() -> None:
    """A slow endpoint is sent large requests, as many at once as keep up with the writer.

    Those that were cut before are small and many, and at least as many of them are under way as at first.
    """
    pace = Pace(IngestSettings(), blocking=False)
    pace.pace = 30e-6
    assert [items for _, items in pace.spans(2_720)] == [*PROBES, *[512] * 4]
    for items in PROBES:
        pace.tell(items, 0.06)
    assert pace.load == Load(batch=1_280, workers=8)
    for _ in range(3):
        pace.tell(512, 0.06)
    assert pace.load.workers == 8
    pace.tell(512, 0.06)  # the last of them
    assert pace.load == Load(batch=2_048, workers=2)
    pace.spans(30 * 2_048)
    pace.pace = 5e-6
    for _ in range(7):
        assert pace.load.workers == 2
        pace.tell(2_048, 0.06)
    assert pace.load.workers == 12


def test_what_computes_here_is_not_run_more_often_than_there_are_cores() -> None:
    """It would only wait for itself; what waits for a server may."""
    for share, workers in ((0.9, 2), (0.01, 16)):
        pace = Pace(IngestSettings(), blocking=True, cores=2)
        assert pace.load.workers == 1
        _told(pace, 0.0, 0.001, share)
        assert pace.load.workers == workers


def test_what_waits_for_a_server_has_more_under_way_as_soon_as_the_first_answer_says_so() -> None:
    """One probe after the other would take three times as long as an endpoint needs to answer, in every run."""
    for share, workers in ((0.01, 8), (0.9, 1)):
        pace = Pace(IngestSettings(), blocking=True, cores=2)
        pace.spans(sum(PROBES))
        pace.tell(PROBES[0], 0.06, share * 0.06)
        assert pace.load.workers == workers
        pace.tell(PROBES[1], 0.06, 0.06)  # what the first answer said is not asked of another
        assert pace.load.workers == workers
    coroutine = Pace(IngestSettings(), blocking=False)
    before = coroutine.load
    coroutine.tell(PROBES[0], 0.06)
    assert coroutine.load is before
    known = Pace(IngestSettings(request_items=7, in_flight=3), blocking=True)
    known.tell(7, 0.06)
    assert known.load.workers == 3


def test_only_the_first_answer_is_asked_whether_it_waits() -> None:
    """What was chosen, now or by an earlier run, stays until the next choice."""
    pace = Pace(IngestSettings(), blocking=True, cores=2)
    _told(pace, 0.06, 0.0)
    chosen = pace.load
    assert chosen.workers == 16
    pace.tell(512, 0.06)
    assert pace.load is chosen
    costs = model_of({"embed": pace.timings}, {"embed": chosen}, items=4_096, seconds=1.0)
    known = Pace(IngestSettings(), blocking=True, costs=costs)
    before = known.load
    known.tell(512, 0.06)
    assert known.load is before


def test_what_computes_here_has_no_more_under_way_than_keep_up() -> None:
    """Also while small requests are left: they compute as long as they wait."""
    pace = Pace(IngestSettings(), blocking=True, cores=2)
    pace.hear({"load": 0.1})
    pace.spans(4_096)
    for items in PROBES:
        pace.tell(items, 0.001 * items, 0.0009 * items)
        assert pace.load.workers == 1


def test_small_batches_at_the_start_do_not_make_requests_wait() -> None:
    """They cost the writer more per passage than any later batch: its pace is heard of once a large one is written."""
    pace = Pace(IngestSettings(), blocking=False)
    stages = {"load": 5e-6, "upsert": 4e-4}
    pace.hear(stages)
    _told(pace, 0.06, 0.0)
    assert (pace.pace, pace.load.workers) == (5e-6, 12)
    pace.wrote(256, 0.1)
    pace.hear(stages)
    assert pace.pace == 5e-6
    pace.wrote(2_048, 0.1)
    pace.hear(stages)
    assert pace.pace == 4e-4


def test_what_is_set_is_kept() -> None:
    """Whatever the timings."""
    pace = Pace(IngestSettings(request_items=7, in_flight=3), blocking=False)
    assert {items for _, items in pace.spans(700)} == {7}
    _told(pace, 1.0, 0.0)
    assert pace.load == Load(batch=7, workers=3)


def test_an_earlier_run_spares_the_probes() -> None:
    """Its model chooses at once."""
    first = Pace(IngestSettings(), blocking=False)
    _told(first, 0.06, 1e-4)
    costs = model_of(
        {"embed": first.timings, "upsert": [Timing(2_048, 0.06)]}, {"embed": first.load}, items=4_096, seconds=1.0
    )
    second = Pace(IngestSettings(), blocking=False, costs=costs)
    assert {items for _, items in second.spans(8 * second.load.batch)} == {second.load.batch}
    assert second.load.batch >= 512


def test_what_stages_cannot_overlap_bounds_the_pace() -> None:
    """However fast each stage is, all of them together need the one interpreter: T ≈ Nγ + Ω then."""
    stages = {"upsert": StageCost(alpha=0.0, beta=1e-5, error=0, samples=3)}
    loads = {"upsert": Load(batch=100, workers=1)}
    model = CostModel(stages=stages, loads=loads, omega=0.5, items=1_000, shared=3e-5)
    assert model.predict(100_000) == pytest.approx(100_000 * 3e-5 + 0.5)
    assert model.slowest(100_000) == "shared"
    slower = replace(model, shared=1e-6)
    assert slower.slowest(100_000) == "upsert"


@given(shared=st.floats(0, 100), seconds=st.floats(0.1, 10))
def test_a_run_is_explained_whatever_its_embedder_computes(shared: float, seconds: float) -> None:
    """Native threads may compute longer than the run took; the model still gives the run's own time, at least."""
    model = model_of(
        {"upsert": [Timing(100, 0.01)]}, {"upsert": Load(batch=100, workers=1)},
        items=1_000, seconds=seconds, shared=shared,
    )  # fmt: skip
    assert model.predict(1_000) == pytest.approx(seconds, rel=1e-6) or model.slowest(1_000) == "upsert"
    assert model.predict(1_000) >= seconds * (1 - 1e-9)


@given(upsert=st.floats(1e-6, 1), others=st.floats(0, 1), most=st.integers(1, 9))
def test_no_more_writers_than_help(upsert: float, others: float, most: int) -> None:
    """With one fewer it would be slower by more than a twentieth."""
    count = writers_for(upsert, others, most)
    best = max(upsert / most, others)
    assert 1 <= count <= most
    assert max(upsert / count, others) <= 1.05 * best * (1 + 1e-9)
    assert count == 1 or max(upsert / (count - 1), others) > 1.05 * best


def _wrote(pace: Pace, batches: int, seconds: float) -> None:
    for _ in range(batches):
        pace.wrote(2_048, seconds)


def test_one_more_writer_comes_where_writing_is_the_slowest() -> None:
    """And one more after that, up to the limit, while each of them is as fast as the first alone."""
    pace = Pace(IngestSettings(max_writers=3), blocking=False)
    pace.hear({"load": 5e-6, "upsert": 3e-5})
    pace.wrote(256, 9.0)  # small batches at the start say nothing
    assert pace.writers == 1
    _wrote(pace, 2, 0.06)
    assert pace.writers == 2
    _wrote(pace, 4, 0.06)
    assert pace.writers == 3
    _wrote(pace, 20, 0.06)
    assert pace.writers == 3


def test_a_writer_that_did_not_help_goes_again() -> None:
    """Two that wait for each other at the server are no faster than one; it is tried once."""
    pace = Pace(IngestSettings(), blocking=False)
    pace.hear({"load": 5e-6, "upsert": 3e-5})
    _wrote(pace, 2, 0.06)
    _wrote(pace, 4, 0.12)
    assert pace.writers == 1
    _wrote(pace, 20, 0.06)
    assert pace.writers == 1


@pytest.mark.parametrize(("settings", "writers"), [({}, 2), ({"max_writers": 1}, 1), ({"writers": 1}, 1)])
def test_the_second_comes_as_soon_as_a_batch_waits(settings: dict[str, int], writers: int) -> None:
    """Before the first has been measured, and where there may be two; what was measured decides from then on."""
    pace = Pace(IngestSettings(**settings), blocking=False)
    pace.waits()
    assert pace.writers == writers
    measured = Pace(IngestSettings(**settings), blocking=False)
    measured.hear({"load": 5e-5})
    _wrote(measured, 2, 0.06)
    measured.waits()
    assert measured.writers == 1


def test_one_writer_is_enough_for_a_slow_source() -> None:
    """And what is set is kept."""
    for settings, load in ((IngestSettings(), 5e-5), (IngestSettings(writers=1), 0.0)):
        pace = Pace(settings, blocking=False)
        pace.hear({"load": load, "upsert": 3e-5})
        _wrote(pace, 20, 0.06)
        assert pace.writers == 1


def test_why_so_many_writers_is_said() -> None:
    """Also why it is one."""
    stages = {
        "load": StageCost(alpha=0.0, beta=4e-5, error=0, samples=3),
        "upsert": StageCost(alpha=0.0, beta=2e-5, error=0, samples=3),
    }
    loads = {"load": Load(batch=100, workers=1), "upsert": Load(batch=100, workers=1)}
    model = CostModel(stages=stages, loads=loads, omega=0.0, items=1_000, shared=1e-6)
    assert model.explain().splitlines()[-1] == (
        "writers: 1; a passage takes one 20.0 µs, and 40.0 µs of the slowest other, load: one more would save 0%"
    )
