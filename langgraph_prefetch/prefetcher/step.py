"""One model call, as heard: what it has said so far and when."""

from __future__ import annotations

import bisect
import itertools
from collections import deque
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from langgraph_prefetch.events import StepEnded
from langgraph_prefetch.intent.reader import IntentReader
from langgraph_prefetch.keys import Encoded
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.ports import Caller
from langgraph_prefetch.speculation.echoes import is_planted
from langgraph_prefetch.values import Delta, ToolCallDelta

if TYPE_CHECKING:
    from langgraph_prefetch.prefetcher.nearness import NearStep

MAX_PIECES = 20_000
SLICES = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What a model call was given to read: the user's latest text, and what tools had answered."""

    question: str = field(default="", repr=False)
    results: tuple[str, ...] = field(default=(), repr=False)

    def planted(self, query: str) -> bool:
        """Whether one of the results told the model to search for ``query``."""
        return is_planted(query, self.results, self.question)


class Step:
    """The running text of one model call with the time of each piece, and how much it has started.

    Args:
        number: counted from 1 within the run.
        reader: the intent reader of this model call.
        began_at: clock seconds.
        told: what the model was given to read.

    Attributes:
        heard: pieces read.
        inbox: pieces not read yet, each with its time and with who would call; ``is_due`` while they are to be read.
        reading: held while the inbox is read; a look-up reads what is left itself, and waits for it.
        caller: who would call for what was read last.
        context: what was current when the model began to speak; searches run in a copy of it.
        guesses, sealed: speculations started, by kind.
        near: fetches passages for near misses; None where none are answered.
        told: what the model was given to read.
    """

    __slots__ = (
        "_call_at",
        "_pieces",
        "_sealed",
        "_times",
        "began_at",
        "caller",
        "context",
        "guesses",
        "heard",
        "inbox",
        "is_due",
        "near",
        "number",
        "reader",
        "reading",
        "sealed",
        "told",
    )

    def __init__(self, number: int, reader: IntentReader, began_at: float, told: Told = Told()) -> None:
        self.number, self.reader, self.began_at, self.told = number, reader, began_at, told
        self.heard = self.guesses = self.sealed = 0
        self.inbox: deque[tuple[tuple[Delta, ...], float, Callable[[], Caller]]] = deque()
        self.is_due = False
        self.reading = ForkSafeLock()
        self.caller: Callable[[], Caller] | None = None
        self.context: Context | None = None
        self.near: NearStep | None = None
        self._call_at: float | None = None
        self._pieces: deque[str] = deque(maxlen=MAX_PIECES)
        self._times: deque[float] = deque(maxlen=MAX_PIECES)
        self._sealed: dict[tuple[str, Encoded], float] = {}

    def note(self, delta: Delta, at: float) -> None:
        """One more piece was heard at ``at``."""
        self.heard += 1
        if not isinstance(delta, ToolCallDelta):
            self._pieces.append(delta.text)
            self._times.append(at)
        elif self._call_at is None:
            self._call_at = at

    @property
    def has_spoken(self) -> bool:
        """True once anything of it was heard."""
        return self.heard > 0 or bool(self.inbox)

    def ended(self, run_id: str, at: float) -> StepEnded:
        """What is told of it at its end."""
        return StepEnded(
            run_id=run_id, step=self.number, at=at, pieces=self.heard, slices=self._slices(at), call_at=self._call_at
        )

    def note_sealed(self, tool: str, arguments: Encoded, at: float) -> None:
        """The call's arguments closed at ``at``."""
        self._sealed.setdefault((tool, arguments), at)

    def readable_at(self, tool: str, arguments: Encoded, query: str | None) -> float | None:
        """When the query had ended in the streamed output, in clock seconds; None if it never stood there."""
        times = [self._sealed.get((tool, arguments)), self._said_at(query) if query else None]
        known = [at for at in times if at is not None]
        return min(known) if known else None

    def _said_at(self, query: str) -> float | None:
        pieces, times = list(self._pieces), list(self._times)
        text = "".join(pieces)
        start = text.find(query)
        if start < 0:
            return None
        ends = list(itertools.accumulate(map(len, pieces)))
        return times[bisect.bisect_left(ends, start + len(query))]

    def _slices(self, ended_at: float) -> tuple[int, ...]:
        times, seconds = list(self._times), ended_at - self.began_at
        if not times or seconds <= 0:
            return ()
        inner = (bisect.bisect_left(times, self.began_at + seconds * part / SLICES) for part in range(1, SLICES))
        return tuple(end - start for start, end in itertools.pairwise((0, *inner, len(times))))
