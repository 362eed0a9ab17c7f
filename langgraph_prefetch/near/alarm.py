"""Has the error rate risen above the bound? Looked at after every checked call, for as long as the process lives.

An e-detector (Shin, Ramdas, Rinaldo, *E-detectors: a nonparametric framework for sequential change detection*, 2022)
built from bets against "at most ``epsilon`` of the served sets are wrong" (Waudby-Smith, Ramdas, *Estimating means of
bounded random variables by betting*, J. R. Stat. Soc. B 86, 2024). Each bet ``b`` multiplies its stake by
``1 + b (wrong - epsilon)``, whose mean is at most 1 while the bound holds, and begins anew whenever it has fallen below
1 (CUSUM), so that a long good past does not hide a bad present. The mean of the stakes reaches ``1 / alpha`` while the
bound holds after ``1 / alpha`` checked calls on average at the earliest, however often one looks and whenever one
stops; once it does not hold, after about ``ln(1 / alpha) / KL(rate, epsilon)`` checked calls.
"""

from __future__ import annotations

_BETS = (1 / 64, 1 / 16, 1 / 4)
"""As shares of the largest stake that cannot be lost beyond its all, ``1 / epsilon``: for rates a little above the
bound, several times the bound, and far above."""


class Alarm:
    """Watches one bound.

    Attributes:
        evidence: against the bound; the alarm rings at ``1 / alpha``.
        since: how many calls ago the rate seems to have changed (the last time the strongest bet began anew).
    """

    __slots__ = ("_alpha", "_bets", "_since", "_stakes", "evidence")

    def __init__(self, epsilon: float, alpha: float) -> None:
        self._alpha = alpha
        self._bets = tuple((share / epsilon, epsilon) for share in _BETS)
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self._stakes = [1.0] * len(self._bets)
        self._since = [0] * len(self._bets)
        self.evidence = 1.0

    @property
    def since(self) -> int:
        """See above."""
        return self._since[max(range(len(self._stakes)), key=self._stakes.__getitem__)]

    def add(self, *, wrong: bool) -> bool:
        """One more served call was checked. True: the bound is broken."""
        for at, (bet, epsilon) in enumerate(self._bets):
            if self._stakes[at] <= 1.0:
                self._stakes[at], self._since[at] = 1.0, 0
            self._stakes[at] *= 1 + bet * (wrong - epsilon)
            self._since[at] += 1
        self.evidence = sum(self._stakes) / len(self._stakes)
        return self.evidence >= 1 / self._alpha
