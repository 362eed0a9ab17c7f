"""What could be saved end to end is not the sum over calls that are made at once."""

import pytest

from langgraph_prefetch.demo.saving import Saving, saving_of
from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.values import Source


def call(step: int, hideable: float, hidden: float, source: Source | None = Source.REASONING) -> SearchCallAnswered:
    """A call of a search that takes one second."""
    return SearchCallAnswered(
        run_id="run",
        step=step,
        at=0.0,
        call_id=None,
        tool="search",
        source=source,
        speculation_id=None,
        late=False,
        reason="",
        waited_seconds=1 - hidden,
        retrieval_seconds=1.0,
        lead_seconds=hidden,
        hideable_seconds=hideable,
        hidden_seconds=hidden,
    )


@pytest.mark.parametrize(
    ("calls", "saving"),
    [
        ([], Saving()),
        ([call(1, 0.8, 0.8)], Saving(allowed=0.8, hidden=0.8)),
        ([call(1, 0.8, 0.5)], Saving(allowed=0.8, hidden=0.5, late=0.3)),
        ([call(1, 0.8, 0.1, Source.SEALED)], Saving(allowed=0.8, hidden=0.1, unguessed=0.7)),
        ([call(1, 0.8, 0.0, None)], Saving(allowed=0.8, hidden=0.0, unguessed=0.8)),
        ([call(1, 0.8, 0.8), call(2, 0.6, 0.6)], Saving(allowed=1.4, hidden=1.4)),  # one after the other
        ([call(1, 0.8, 0.8), call(1, 0.6, 0.6)], Saving(allowed=0.6, hidden=0.6)),  # at once: the slower one counts
        ([call(1, 1.0, 1.0), call(1, 0.0, 0.0, None)], Saving()),  # nothing is gained by one of two
        ([call(1, 0.9, 0.9), call(1, 0.9, 0.2, Source.SEALED)], Saving(allowed=0.9, hidden=0.2, unguessed=0.7)),
    ],
)
def test_the_slowest_call_of_a_step_counts(calls: list[SearchCallAnswered], saving: Saving) -> None:
    """An agent goes on when the last of its calls has come back."""
    found = saving_of(calls)
    for name in Saving.__dataclass_fields__:
        assert getattr(found, name) == pytest.approx(getattr(saving, name)), name


def test_what_is_lost_has_a_reason() -> None:
    """Hidden and lost add up to what was allowed."""
    found = saving_of([call(1, 0.8, 0.5), call(2, 0.7, 0.0, None), call(3, 0.2, 0.2)])
    assert found.hidden + found.late + found.unguessed == pytest.approx(found.allowed)
