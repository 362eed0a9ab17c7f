"""What stages take of the interpreter is counted without what only their first calls cost."""

from types import SimpleNamespace

import pytest

from langgraph_prefetch.ingest import interpreter
from langgraph_prefetch.ingest.interpreter import Interpreter, clocked


class _Clock:
    now = 3.0

    def __call__(self) -> float:
        return self.now


def test_the_first_call_of_each_stage_is_left_out() -> None:
    """It pays for imports and connections, which the next passages do not; stages add up."""
    shared = Interpreter(_Clock())
    assert shared.per_passage == 0
    shared.took("load", 256, 9.0)
    shared.took("load", 512, 0.512)
    shared.took("load", 488, 0.488)
    shared.took("split", 256, 5.0)
    shared.took("split", 1_000, 2.0)
    assert shared.per_passage == pytest.approx(0.001 + 0.002)


def test_each_writer_has_a_first_call() -> None:
    """Its own connection."""
    shared = Interpreter(_Clock())
    for passages, seconds, writer in ((256, 9.0, "one"), (512, 8.0, "two"), (500, 0.5, "one"), (500, 1.0, "two")):
        shared.took("upsert", passages, seconds, writer)
    assert shared.per_passage == pytest.approx(0.0015)


def test_a_single_call_tells_all_there_is() -> None:
    """A corpus of one batch has no other; a stage that had no passage costs none anything."""
    shared = Interpreter(_Clock())
    shared.took("load", 0, 7.0)
    assert shared.per_passage == 0
    shared.took("split", 100, 0.2)
    assert shared.per_passage == pytest.approx(0.002)


def test_a_second_call_of_a_few_passages_does_not_stand_for_the_others() -> None:
    """What a call costs would be taken for what a passage costs."""
    shared = Interpreter(_Clock())
    shared.took("upsert", 256, 0.512)
    shared.took("upsert", 3, 0.006 + 0.020)
    assert shared.per_passage == pytest.approx((0.512 + 0.026) / 259)


def test_the_event_loop_counts_from_one_written_batch_to_the_next() -> None:
    """Until the first it also did what begins a run."""
    clock = _Clock()
    shared = Interpreter(clock)
    for now, passages in ((5.0, 256), (5.5, 500), (6.5, 1_000)):
        clock.now = now
        shared.wrote(passages)
    assert shared.per_passage == pytest.approx(0.001)


def test_a_call_is_clocked_by_what_its_thread_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its result comes with it."""
    times = iter((5.0, 7.5))
    monkeypatch.setattr(interpreter, "time", SimpleNamespace(thread_time=lambda: next(times)))
    assert clocked(max, 3, 4) == (4, 2.5)
