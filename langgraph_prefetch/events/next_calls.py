"""What happens to model calls that are started in private."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class NextCallFate(StrEnum):
    """How a model call that was started in private ended; every one ends in exactly one of these."""

    ADOPTED = "adopted"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallStarted:
    """The next model call was started in private, on guessed results.

    Attributes:
        next_call_id: names it.
        guesses: where the guessed results come from (``stale``, ``similar+result`` …).
        p_equal: P(the real request will be the same).
        saved_seconds: what it is expected to save if it is.
        gain: ``p_equal`` * ``saved_seconds`` * value of a second, in the unit of the prices; None without prices.
        loss: (1 - ``p_equal``) * price of the tokens.
    """

    run_id: str
    step: int
    at: float
    next_call_id: str
    guesses: str
    p_equal: float
    saved_seconds: float
    gain: float | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallIgnored:
    """The next model call could have started in private and did not (``next call: too many wasted`` …).

    ``guesses`` … ``loss``: as for `NextCallStarted`.
    """

    run_id: str
    step: int
    at: float
    reason: str
    guesses: str
    p_equal: float
    saved_seconds: float
    gain: float | None = None
    loss: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCallEnded:
    """A model call that was started in private met its fate. Told once it has stopped.

    Attributes:
        seconds: how long it ran: until it was adopted, or until it stopped.
        hidden_seconds: of an adopted one: time of the model call that the agent did not wait for.
        wasted_input_tokens: of one that was not adopted: tokens read, estimated where the provider did not tell.
        wasted_output_tokens: tokens written until it stopped, likewise.
    """

    run_id: str
    step: int
    at: float
    next_call_id: str
    fate: NextCallFate
    reason: str
    seconds: float
    hidden_seconds: float = 0.0
    wasted_input_tokens: int = 0
    wasted_output_tokens: int = 0
