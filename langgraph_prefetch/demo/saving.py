"""What prefetching could have saved end to end, what it hid, and where the rest went."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from langgraph_prefetch.events import Event, SearchCallAnswered
from langgraph_prefetch.values import Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """Seconds, summed over steps. Calls of one step are made at once, so that the slowest of them counts.

    Attributes:
        allowed: what was hideable: retrieval after the query was readable and before it was asked for.
        hidden: what was hidden of it.
        late: lost because the search was started later than its query was readable.
        unguessed: lost because the search was started when the call's arguments were written, or not before the call.
    """

    allowed: float = 0.0
    hidden: float = 0.0
    late: float = 0.0
    unguessed: float = 0.0


def saving_of(events: Iterable[Event]) -> Saving:
    """The saving of the runs that these events tell of."""
    steps: dict[tuple[str, int], list[SearchCallAnswered]] = defaultdict(list)
    for event in events:
        if isinstance(event, SearchCallAnswered):
            steps[event.run_id, event.step].append(event)
    return total(_of_step(calls) for calls in steps.values())


def total(savings: Iterable[Saving]) -> Saving:
    """The sum."""
    kept = list(savings)
    return Saving(
        allowed=sum(each.allowed for each in kept),
        hidden=sum(each.hidden for each in kept),
        late=sum(each.late for each in kept),
        unguessed=sum(each.unguessed for each in kept),
    )


def _of_step(calls: Iterable[SearchCallAnswered]) -> Saving:
    kept = list(calls)
    whole = max(call.retrieval_seconds for call in kept)
    slowest = max(kept, key=lambda call: call.retrieval_seconds - call.hidden_seconds)
    hidden = whole - (slowest.retrieval_seconds - slowest.hidden_seconds)
    allowed = whole - max(call.retrieval_seconds - call.hideable_seconds for call in kept)
    lost = max(0.0, allowed - hidden)
    guessed = slowest.source is Source.REASONING
    return Saving(allowed=allowed, hidden=hidden, late=lost if guessed else 0.0, unguessed=0.0 if guessed else lost)
