"""Workers as processes of their own: started, told to stop, killed, and what they said."""

import pytest

from langgraph_prefetch.testing.local_workers import LocalWorker
from tests.aws.conftest import aws, make_place, place
from tests.aws.parts import ROOT, Place

__all__ = ["aws", "make_place", "place"]

pytestmark = pytest.mark.slow


def made(place: Place, retriever: str = "tests.aws.searching:every") -> LocalWorker:
    return LocalWorker(place.queue, place.table, retriever, environment=place.aws.environment(), folder=ROOT)


def test_it_works_until_it_is_told_to_stop(place: Place) -> None:
    """As a context manager it is gone afterwards, and stopping it again does nothing."""
    with made(place) as worker:
        assert not worker.ready().ended
    assert worker.ended
    assert worker.stop() == 0
    assert worker.lines[-1].startswith("stopped")


def test_one_that_cannot_work_says_why(place: Place) -> None:
    """With its last line, and nothing is left running."""
    worker = made(place, "no_such_module:search")
    with pytest.raises(RuntimeError, match="no_such_module"):
        worker.ready()
    assert worker.ended


def test_a_crash(place: Place) -> None:
    """It is over at once."""
    worker = made(place).ready()
    worker.kill()
    assert worker.ended
    assert worker.stop() != 0
