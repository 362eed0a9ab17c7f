"""How requests went from stage to stage, read off the visits that events tell of. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from langgraph_prefetch.events import Event, StageVisited
from langgraph_prefetch.serving.flow.values import END, START

Move = tuple[str, str]
MAX_VISITS = 2_000_000


@dataclass(slots=True, kw_only=True)
class Seen:
    """All requests together.

    Attributes:
        requests: how many.
        moves: (from, to) -> how many went that way. Where several branches meet in one visit, each counts as its part.
        seconds: stage -> service times of its visits, in the order they were told.
        failed: stage -> visits that raised.
        left_out: visits beyond the most that are read.
    """

    requests: int = 0
    moves: dict[Move, float] = field(default_factory=dict)
    seconds: dict[str, list[float]] = field(default_factory=dict)
    failed: Counter[str] = field(default_factory=Counter)
    left_out: int = 0


def seen_in(events: Iterable[Event], edges: Collection[Move] | None = None) -> Seen:
    """Count the moves and times of all requests that ``events`` tell of.

    Args:
        events: of any kinds; only `StageVisited` counts. Those of several recordings may follow each other.
        edges: of the graph; tells which branch a visit follows where several ran side by side. None: each of them.
    """
    seen = Seen()
    requests: dict[str, list[StageVisited]] = {}
    count = 0
    for event in events:
        if not isinstance(event, StageVisited):
            continue
        count += 1
        if count > MAX_VISITS:
            seen.left_out += 1
            continue
        requests.setdefault(event.request_id, []).append(event)
        seen.seconds.setdefault(event.stage, []).append(event.service_seconds)
        seen.failed[event.stage] += event.failed
    seen.requests = len(requests)
    for visits in requests.values():
        for move, part in moves_of(visits, edges).items():
            seen.moves[move] = seen.moves.get(move, 0.0) + part
    return seen


def moves_of(visits: Sequence[StageVisited], edges: Collection[Move] | None = None) -> Mapping[Move, float]:
    """(from, to) -> how often one request went that way.

    A visit follows those of the round before that have an edge to it, and earlier ones with such an edge that nobody
    followed, as where a join waits for several branches. A second attempt of a stage in the same round follows the one
    that failed. Whom nobody follows goes to the end.
    """
    moves: dict[Move, float] = {}
    followed: set[int] = set()
    earlier: list[StageVisited] = []
    before: list[StageVisited] = []
    for group in _rounds(visits):
        for place, visit in enumerate(group):
            leads = _attempt_before(group[:place], visit, followed) or _leads(before, earlier, visit, followed, edges)
            followed.update(id(each) for each in leads)
            for source in [each.stage for each in leads] or [START]:
                moves[source, visit.stage] = moves.get((source, visit.stage), 0.0) + 1 / max(1, len(leads))
        earlier += before
        before = group
    for visit in (*earlier, *before):
        if id(visit) not in followed:
            moves[visit.stage, END] = moves.get((visit.stage, END), 0.0) + 1
    return moves


def _rounds(visits: Sequence[StageVisited]) -> list[list[StageVisited]]:
    """Visits that ran side by side are together; without rounds, each is alone."""
    groups: dict[tuple[int, int], list[StageVisited]] = {}
    for each in visits:
        key = (each.round, 0) if each.round is not None else (each.visit, 1)
        groups.setdefault(key, []).append(each)
    return [sorted(groups[key], key=lambda each: each.at - each.service_seconds) for key in sorted(groups)]


def _attempt_before(group: Sequence[StageVisited], visit: StageVisited, followed: set[int]) -> list[StageVisited]:
    began = visit.at - visit.service_seconds
    attempts = [e for e in group if e.stage == visit.stage and e.failed and e.at <= began and id(e) not in followed]
    return attempts[-1:]


def _leads(
    before: Sequence[StageVisited],
    earlier: Sequence[StageVisited],
    visit: StageVisited,
    followed: set[int],
    edges: Collection[Move] | None,
) -> list[StageVisited]:
    ended = [each for each in before if not each.failed] or list(before)
    if edges is None:
        return ended
    fitting = [each for each in ended if (each.stage, visit.stage) in edges]
    waiting = [e for e in earlier if not e.failed and id(e) not in followed and (e.stage, visit.stage) in edges]
    return waiting + fitting or ended
