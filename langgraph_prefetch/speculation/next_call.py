"""Is a model call in private worth its tokens? Pure decisions; the memory of what became of earlier ones is below.

One that turns out wrong costs no time, only the tokens that it read and wrote until it was cancelled. So it starts only
while few enough of them are wrong, and, where tokens and seconds have a price, only where

    P(equal) * seconds saved * value of a second  >  (1 - P(equal)) * tokens * price of a token

One that was not started is still scored: once the real request comes it is known whether it would have been equal. So
the gate comes back by itself where guesses get better, without a token spent on finding out.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

from cachetools import LRUCache

from langgraph_prefetch.config import NextCalls, Price
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.speculation.posterior import KEEP, Seen, p_served, seconds_saved

MAX_KINDS = 1_024
BACK_OFF_SECONDS, MOST_BACK_OFF_SECONDS = 5.0, 300.0
"""After a private call failed none starts for so long; each further failure in a row doubles it, up to the second."""

LEAST_SECONDS = 0.01
"""Less than this is not worth a model call, whatever its tokens cost."""

TYPICAL_OUTPUT_TOKENS = 100.0
"""What a cancelled call is taken to have written before the first one was counted."""


class NextCallVerdict(StrEnum):
    """What the gate says."""

    START = "start"
    NOTHING_TO_HIDE = "next call: nothing to hide"
    NOT_WORTH_IT = "next call: not worth it"
    TOO_MANY_WASTED = "next call: too many wasted"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallWeighing:
    """One decision with its numbers; ``gain`` and ``loss`` in the unit of the prices, None without prices."""

    p_equal: float
    seconds: float
    gain: float | None = None
    loss: float | None = None
    verdict: NextCallVerdict = NextCallVerdict.START


def weigh_next_call(
    probability: float,
    *,
    everything: Seen,
    kind: Seen,
    expected_seconds: float,
    tokens: float,
    rules: NextCalls,
    value_of_second: Price | None,
) -> NextCallWeighing:
    """Weigh one private call.

    Args:
        probability: P(all its results are right), as the guesses say.
        everything: what became of all earlier ones.
        kind: what became of those on guesses of the same kind.
        expected_seconds: how long the searches that it runs beside usually take.
        tokens: what a cancelled one reads and writes.
        rules: the user's.
        value_of_second: the user's, if there is one.
    """
    equal = p_served(probability, everything, kind)
    seconds = seconds_saved(expected_seconds, everything, kind)
    gain = loss = None
    verdict = NextCallVerdict.START
    if value_of_second is not None and rules.token_price is not None:
        gain = equal * seconds * value_of_second.amount
        loss = (1 - equal) * tokens * rules.token_price.amount
        if not gain > loss:
            verdict = NextCallVerdict.NOT_WORTH_IT
    if 1 - equal > rules.max_wasted_share:
        verdict = NextCallVerdict.TOO_MANY_WASTED
    if seconds < LEAST_SECONDS:
        verdict = NextCallVerdict.NOTHING_TO_HIDE
    return NextCallWeighing(p_equal=equal, seconds=seconds, gain=gain, loss=loss, verdict=verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallsSpent:
    """What bounds count: private calls of this run, those that run now, and until when failures keep them back."""

    in_run: int
    running: int
    backed_off_until: float


def next_call_held_back(spent: NextCallsSpent, rules: NextCalls, now: float) -> str | None:
    """The bound that keeps a private call from starting; None if none does."""
    if spent.in_run >= rules.per_run:
        return "budget: per_run"
    if spent.running >= rules.max_running:
        return "budget: max_running"
    return "failed a moment ago" if now < spent.backed_off_until else None


def back_off_seconds(failures: int) -> float:
    """How long to wait after so many failures in a row, at least one."""
    return float(min(BACK_OFF_SECONDS * 2 ** min(failures - 1, 16), MOST_BACK_OFF_SECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallDecided:
    """A private call that was weighed, until it is known whether the real request was equal."""

    weighing: NextCallWeighing
    kind: str
    probability: float


class NextCallExperience:
    """Weighs private calls and learns from each one's end, started or not. Safe for threads."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._all = Seen()
        self._kinds: LRUCache[Hashable, Seen] = LRUCache(MAX_KINDS)
        self._written = self._count = 0.0
        self._failures = 0
        self.backed_off_until = 0.0

    def weigh(
        self,
        kind: str,
        probability: float,
        expected_seconds: float,
        tokens_read: int,
        rules: NextCalls,
        value_of_second: Price | None,
    ) -> NextCallDecided:
        """Decide on one; ``tokens_read``: the length of its request."""
        with self._lock:
            everything, of_kind = self._all, self._kinds.get(kind) or Seen()
            written = self._written / self._count if self._count else TYPICAL_OUTPUT_TOKENS
        weighing = weigh_next_call(
            probability,
            everything=everything,
            kind=of_kind,
            expected_seconds=expected_seconds,
            tokens=tokens_read + written,
            rules=rules,
            value_of_second=value_of_second,
        )
        return NextCallDecided(weighing=weighing, kind=kind, probability=probability)

    def learn(self, decided: NextCallDecided, *, right: bool, seconds: float = 0.0) -> None:
        """It is known whether the real request was equal; ``seconds``: what it saved, or would have."""
        with self._lock:
            self._all = self._all.plus(decided.probability, right=right, seconds=seconds)
            of_kind = self._kinds.get(decided.kind) or Seen()
            self._kinds[decided.kind] = of_kind.plus(decided.probability, right=right, seconds=seconds)

    def wrote(self, tokens: int) -> None:
        """A cancelled call had written so many tokens."""
        with self._lock:
            self._written, self._count = self._written * KEEP + tokens, self._count * KEEP + 1

    def failed(self, now: float) -> None:
        """A private call failed (a rate limit, say): leave the provider alone for a while."""
        with self._lock:
            self._failures += 1
            self.backed_off_until = now + back_off_seconds(self._failures)

    def went_well(self) -> None:
        """A private call was adopted."""
        with self._lock:
            self._failures = 0
