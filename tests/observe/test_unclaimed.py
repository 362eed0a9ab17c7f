"""The ledger holds what was started early and answered no call: all of it, and nothing else."""

from dataclasses import asdict
from typing import Any

import pytest

from langgraph_prefetch.events import Event, Fate, SpeculationEnded, SpeculationStarted
from langgraph_prefetch.observe import unclaimed
from langgraph_prefetch.observe.event_lines import of_line, to_line
from langgraph_prefetch.observe.unclaimed import UnclaimedLedger
from langgraph_prefetch.values import Source

ABOUT: dict[str, Any] = {"run_id": "r", "step": 1, "tool": "search", "source": Source.REASONING}


def started(name: str, **more: Any) -> SpeculationStarted:
    return SpeculationStarted(**ABOUT, at=1.0, speculation_id=name, probability=0.5, cue="name", **more)


def ended(name: str, fate: Fate, seconds: float | None = 0.5) -> SpeculationEnded:
    return SpeculationEnded(**ABOUT, at=2.0, speculation_id=name, fate=fate, reason="run ended", seconds=seconds)


def ledger_of(*events: Event) -> UnclaimedLedger:
    ledger = UnclaimedLedger()
    for event in events:
        ledger(event)
    return ledger


def test_only_what_nobody_claimed_is_kept() -> None:
    """Wasted, failed and cancelled speculations are rows, in the order of their end; served and open ones are not."""
    fates = [Fate.WASTED, Fate.SERVED, Fate.FAILED, Fate.CANCELLED]
    events = [started(str(place), query_hash=str(place)) for place in range(5)]
    ledger = ledger_of(*events, *(ended(str(place), fate) for place, fate in enumerate(fates)))
    assert [(row.fate, row.query_hash) for row in ledger.rows()] == [
        (Fate.WASTED, "0"),
        (Fate.FAILED, "2"),
        (Fate.CANCELLED, "3"),
    ]


def test_a_row_says_where_it_went() -> None:
    """Tool, destination, times, reason and hash; the query where the events have it, and never in its repr."""
    first = started("a", destination="third_party", query="Ada's salary", query_hash="h")
    (row,) = ledger_of(first, ended("a", Fate.CANCELLED, None)).rows()
    assert asdict(row) == {
        "run_id": "r",
        "tool": "search",
        "destination": "third_party",
        "source": Source.REASONING,
        "started_at": 1.0,
        "ended_at": 2.0,
        "fate": Fate.CANCELLED,
        "reason": "run ended",
        "seconds": None,
        "query": "Ada's salary",
        "query_hash": "h",
    }
    assert "salary" not in repr(row)


def test_the_ledger_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The latest rows stay; speculations whose end never comes are forgotten."""
    monkeypatch.setattr(unclaimed, "MAX_OPEN", 3)
    ledger = UnclaimedLedger()
    for number in range(1_500):
        ledger(started(str(number)))
        ledger(ended(str(number), Fate.WASTED))
    assert len(ledger.rows()) == 1_000
    for number in range(10):
        ledger(started(f"open {number}"))
    ledger(ended("open 0", Fate.FAILED))
    ledger(ended("open 9", Fate.FAILED))
    assert [row.fate for row in ledger.rows()].count(Fate.FAILED) == 1


def test_the_file_of_events_has_the_same_facts() -> None:
    """What a JSONL file gives back makes the same ledger; a file from before there were destinations says own store."""
    events: list[Event] = [started("a", destination="third_party", query_hash="h"), ended("a", Fate.WASTED)]
    assert ledger_of(*(of_line(to_line(event)) for event in events)).rows() == ledger_of(*events).rows()
    old = '{"v": "1.0", "event": "SpeculationStarted", "run_id": "r", "step": 1, "at": 1, "speculation_id": "a"}'
    read = of_line(old.replace("}", ', "tool": "s", "source": "sealed", "probability": 1, "cue": "call"}'))
    assert isinstance(read, SpeculationStarted)
    assert (read.destination, read.query_hash) == ("own_store", None)
