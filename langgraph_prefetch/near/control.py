"""One tool's traffic in one scope: how far down the score its answers may be served, and whether that still holds.

Calls whose right answer is known make the *pool*: while nothing is served every real search is one, at no cost; later a
fixed share of all calls is checked (served ones by a search in the background). At certain sizes of the pool, each
twice the one before, the thresholds are tested (:mod:`~langgraph_prefetch.near.threshold`); the tests share out
``1 - confidence`` among them (a half, a quarter, …), so that looking again does not wear it out. An alarm
(:mod:`~langgraph_prefetch.near.alarm`) forgets all that came before the change it found: if what came since passes a
test, the threshold is tightened to that, else nothing but proved answers is served until enough is known anew. The
stated confidence is that of each stretch between alarms.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Literal

from langgraph_prefetch.near.alarm import Alarm
from langgraph_prefetch.near.binomial import Interval, interval, least_trials
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.threshold import Checked, first_threshold, passing

MAX_POOL = 8_192
WARM_UP = 32
_LOOKS = 12
_FIRST_LOOK = 1.5
_SUSPICIOUS, _VERY_SUSPICIOUS = 3.0, 10.0

Tier = Literal["proved", "likely"]
Check = Literal["nothing", "known", "search"]
"""``search``: compare with a real search; ``known``: learn that it was right without one."""
State = Literal["learning", "open", "closed"]
"""``learning``: not enough is known yet; ``closed``: an alarm rang, and not enough is known since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is exported of one control.

    Attributes:
        state: whether likely answers are served.
        threshold: of the reach, above which they are; None while nothing but proved answers is.
        served, proved: answers served from neighbourhoods, and those of them that were proved.
        audited: served answers that were searched again.
        wrong: those of them whose set was another.
        recent, recent_wrong: the same since the threshold was last changed.
        known: calls in the pool.
        needed: the size of the pool at which the next test takes place.
        alarms: how often the bound was found broken.
        evidence: of the alarm; it rings at ``1 / false_alarm``.
    """

    state: State
    threshold: float | None
    served: int
    proved: int
    audited: int
    wrong: int
    recent: int
    recent_wrong: int
    known: int
    needed: int
    alarms: int
    evidence: float

    @property
    def wrong_set_rate(self) -> float:
        """Of the answers searched again, the share whose set was another; 0 if none was."""
        return self.wrong / self.audited if self.audited else 0.0

    @property
    def interval(self) -> Interval:
        """Clopper-Pearson, 95 %, of the wrong-set rate of served answers since the threshold was last changed."""
        return interval(self.recent_wrong, self.recent)


class Control:
    """Decides and learns. Not safe for threads; no clock, no I/O, no randomness of its own."""

    def __init__(self, settings: NearSettings) -> None:
        self._settings = settings
        self._alarm = Alarm(settings.epsilon, settings.false_alarm)
        self._warm: deque[float] = deque(maxlen=2 * WARM_UP)
        self._pool: deque[Checked] = deque(maxlen=MAX_POOL)
        self._right_before: dict[Hashable, None] = {}
        self._threshold: float | None = None
        self._looks = self._alarms = self._served = self._proved = self._audited = self._wrong = 0
        self._recent = [0, 0]

    def serves(self, reach: float, *, proved: bool) -> Tier | None:
        """Whether a local answer may be served, and why."""
        if proved:
            return "proved"
        return "likely" if self._threshold is not None and reach > self._threshold else None

    def check(self, draw: float, tier: Tier | None) -> Check:
        """What is to be learned from a call; ``draw``: uniform in [0, 1), drawn before anything is known of it.

        Of a proved answer the right one is known: it is searched again only to watch the proof itself.
        """
        if draw >= self._share():
            return "nothing"
        return "known" if tier == "proved" and draw >= self._settings.audit_share else "search"

    def count_served(self, tier: Tier) -> None:
        """An answer was served."""
        self._served += 1
        self._proved += tier == "proved"

    def learn(
        self, call: Checked, *, tier: Tier | None, searched: bool = True, same_as: Hashable | None = None
    ) -> None:
        """The right answer became known of a call that :meth:`check` chose; of others nothing is to be handed over.

        Args:
            call: its score and whether the local answer was another.
            tier: why the local answer was served; None if it was not.
            searched: False where it was known without a search.
            same_as: equal for calls of one query. A query that was right before is no new evidence when it is right
                again: retries would make the sample look larger than it is.
        """
        if tier is not None and searched:
            self._audited += 1
            self._wrong += call.wrong
            self._recent[0] += 1
            self._recent[1] += call.wrong
        if not self._is_news(call, same_as):
            return
        if len(self._warm) < WARM_UP:
            self._warm.append(call.reach)
            return
        self._pool.append(call)
        if tier is not None and self._alarm.add(wrong=call.wrong):
            self._ring()
        elif len(self._pool) >= self._needed():
            self._test()

    def figures(self) -> Figures:
        """What is known now."""
        state: State = "open" if self._threshold is not None else "closed" if self._alarms else "learning"
        return Figures(
            state=state,
            threshold=self._threshold,
            served=self._served,
            proved=self._proved,
            audited=self._audited,
            wrong=self._wrong,
            recent=self._recent[0],
            recent_wrong=self._recent[1],
            known=len(self._pool),
            needed=self._needed(),
            alarms=self._alarms,
            evidence=self._alarm.evidence,
        )

    def _share(self) -> float:
        if self._threshold is None:
            return 1.0
        if self._alarm.evidence >= _VERY_SUSPICIOUS:
            return 1.0
        return max(self._settings.audit_share, 0.5 if self._alarm.evidence >= _SUSPICIOUS else 0.0)

    def _is_news(self, call: Checked, same_as: Hashable | None) -> bool:
        if same_as is None or call.wrong:
            return True
        if same_as in self._right_before:
            return False
        self._right_before[same_as] = None
        if len(self._right_before) > MAX_POOL:
            del self._right_before[next(iter(self._right_before))]
        return True

    def _needed(self) -> int:
        """The size of the pool at the next test."""
        if self._looks >= _LOOKS:
            return MAX_POOL + 1
        first = math.ceil(_FIRST_LOOK * least_trials(self._settings.epsilon, self._confidence(0)))
        return int(min(MAX_POOL, first * 2.0**self._looks))

    def _confidence(self, look: int) -> float:
        return 1 - (1 - self._settings.confidence) * 0.5 ** (look + 1)

    def _test(self) -> None:
        look, self._looks = self._looks, self._looks + 1
        if len(self._pool) == MAX_POOL:
            self._looks = _LOOKS  # the pool grows no more: this was the last test until an alarm
        confidence = self._confidence(look)
        first = first_threshold(tuple(self._warm), len(self._pool), self._settings.epsilon, confidence)
        passed = passing(tuple(self._pool), first, self._settings.epsilon, confidence)
        self._set(passed[-1].threshold if passed else None)

    def _set(self, threshold: float | None) -> None:
        if threshold != self._threshold:
            self._threshold = threshold
            self._recent = [0, 0]
            self._alarm.reset()

    def _ring(self) -> None:
        """The bound is broken: only what came since the change is evidence of how things are now."""
        self._alarms += 1
        since = min(self._alarm.since, len(self._pool))
        fresh = list(self._pool)[len(self._pool) - since :]
        stale = list(self._pool)[: len(self._pool) - since]
        self._warm.extend(call.reach for call in stale[-WARM_UP:])
        self._pool.clear()
        self._pool.extend(fresh)
        self._right_before.clear()
        self._looks = 0
        self._alarm.reset()
        self._recent = [0, 0]
        self._threshold = None
        if len(self._pool) >= self._needed():
            self._test()
