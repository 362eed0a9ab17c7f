"""Is a speculation worth its price? Pure decisions over values; the shell is in `experience`.

A speculation starts only if what it may save is worth more than what it may waste::

    P(served) * seconds saved * value of a second  >  (1 - P(served)) * price of a call

that is, if P(served) is above the break-even ``c / (c + v)`` with ``c`` the price of a call and ``v`` the worth of what
a right guess saves, both in the unit the user chose (money or calls). A served speculation replaces its call, so it
costs nothing more.

And only on credit that guesses have earned. A guess which is not started is still scored: when the real call comes, it
is known whether it was right, and what it would have hidden. So watching costs nothing, and the gate begins by
watching: every decision for a start, carried out or not, books its worth or its price in the tool's `Account`, and a
start needs credit for the case that it and all others under way are wrong. Guesses that do badly on someone's traffic
stop by themselves, and come back when they would do well, without a call spent on finding out; and what wrong starts
cost never exceeds what right guesses were worth.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from langgraph_prefetch.speculation.posterior import KEEP, Seen, p_served, seconds_saved

MAX_CREDIT = 20.0
"""Most credit and most debt kept, in prices of a call: so many wrong guesses in a row stop all starts, however good the
past, and however bad it was, a run of right ones brings them back."""


class Verdict(StrEnum):
    """What the gate says of a guess."""

    START = "start"
    NOT_WORTH_IT = "gate: not worth it"
    NO_CREDIT = "gate: no credit yet"


@dataclass(frozen=True, slots=True)
class Terms:
    """What one tool's speculations cost and bring, in one unit.

    Attributes:
        price: of one call of the tool.
        value_of_second: of one second that the agent does not wait.
    """

    price: float
    value_of_second: float

    def break_even(self, seconds: float) -> float:
        """The probability from which a guess that saves so many ``seconds`` pays: c / (c + v), in [0, 1]."""
        whole = self.price + seconds * self.value_of_second
        return self.price / whole if whole > 0 else 1.0


@dataclass(frozen=True, slots=True)
class Account:
    """What the gate's decisions for a start have brought, whether they were carried out or only watched.

    Attributes:
        credit: worth of the right ones less the price of the wrong ones, faded and bounded by `MAX_CREDIT` prices.
        under_way: starts whose end is not known yet.
    """

    credit: float = 0.0
    under_way: int = 0

    def affords(self, price: float) -> bool:
        """Whether one more start would be covered if it and all those under way were wrong."""
        return self.credit >= (self.under_way + 1) * price

    def begun(self) -> Account:
        """With one more start under way."""
        return replace(self, under_way=self.under_way + 1)

    def taken_back(self) -> Account:
        """With one start less: it did not happen, or its end is known."""
        return replace(self, under_way=max(0, self.under_way - 1))

    def booked(self, terms: Terms, *, right: bool, seconds: float) -> Account:
        """With the end of one decision for a start; ``seconds``: what it hid, or would have."""
        gain = seconds * terms.value_of_second if right else -terms.price
        most = MAX_CREDIT * terms.price
        return replace(self, credit=max(-most, min(self.credit * KEEP + gain, most)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighing:
    """One decision with its numbers.

    Attributes:
        p_served: P(the speculation will be served).
        seconds: what it saves if it is.
        gain: P(served) * seconds * value of a second, in the user's unit; None without prices.
        loss: (1 - P(served)) * price of a call, in the same unit; None without prices.
        verdict: what follows.
    """

    p_served: float
    seconds: float
    gain: float | None = None
    loss: float | None = None
    verdict: Verdict = Verdict.START

    @property
    def worth_it(self) -> bool:
        """Whether the gain is above the loss, credit or no credit."""
        return self.verdict is not Verdict.NOT_WORTH_IT


def weigh(
    probability: float, terms: Terms | None, *, tool: Seen, kind: Seen, account: Account, expected_seconds: float
) -> Weighing:
    """Weigh one guess.

    Args:
        probability: what the guess says of itself.
        terms: price and value; None: nothing has a price, so everything may start.
        tool: what became of the tool's guesses.
        kind: what became of its guesses of this kind.
        account: the tool's.
        expected_seconds: min(typical retrieval, expected lead), as far as they are known.
    """
    served, seconds = p_served(probability, tool, kind), seconds_saved(expected_seconds, tool, kind)
    if terms is None:
        return Weighing(p_served=served, seconds=seconds)
    gain, loss = served * seconds * terms.value_of_second, (1 - served) * terms.price
    verdict = Verdict.START
    if not gain > loss:
        verdict = Verdict.NOT_WORTH_IT
    elif not account.affords(terms.price):
        verdict = Verdict.NO_CREDIT
    return Weighing(p_served=served, seconds=seconds, gain=gain, loss=loss, verdict=verdict)


def weigh_sealed(terms: Terms | None, expected_seconds: float) -> Weighing:
    """A call whose arguments have closed passes: it is coming, so its speculation replaces it."""
    if terms is None:
        return Weighing(p_served=1.0, seconds=expected_seconds)
    gain = expected_seconds * terms.value_of_second
    return Weighing(p_served=1.0, seconds=expected_seconds, gain=gain, loss=0.0)
