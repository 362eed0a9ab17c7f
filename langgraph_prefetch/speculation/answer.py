"""How to answer a real call: serve, wait, or run the tool. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from langgraph_prefetch.config import ServeMode
from langgraph_prefetch.guesses import ResultGuess
from langgraph_prefetch.speculation.flight import FlightState

LEAST_PATIENCE_SECONDS = 0.05
"""A call waits at least so long for a running retrieval, however quick the tool usually is."""


@dataclass(frozen=True, slots=True)
class Serve:
    """Hand over the result at once."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait at most ``seconds`` for the retrieval, then run the tool. ``begun``: False if it is still to begin."""

    seconds: float
    begun: bool = True


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run the tool itself, for this reason."""

    reason: str


AnswerDecision = Serve | Wait | RunTool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the cache holds under the call's key.

    Attributes:
        state: where the retrieval stands.
        as_of: when it began to read, in clock seconds.
        grace_until: until then a call waits for it although it has not begun; None: a queued one is not waited for.
    """

    state: FlightState
    as_of: float
    grace_until: float | None = None


def decide_answer(
    found: Found | None, *, now: float, max_age: float, max_wait: float, typical: float | None
) -> AnswerDecision:
    """How to answer.

    Args:
        found: the matching retrieval, or None.
        now: clock seconds.
        max_age: how old a result may be, in seconds.
        max_wait: how long a call waits at most, in seconds.
        typical: a high quantile of the tool's own retrieval seconds; None while unknown.
    """
    if found is None:
        return RunTool("nothing speculated")
    match found.state:
        case FlightState.QUEUED if found.grace_until is not None and found.grace_until > now:
            return Wait(min(found.grace_until - now, max_wait), begun=False)
        case FlightState.QUEUED:
            return RunTool("still queued")
        case FlightState.FAILED:
            return RunTool("speculation failed")
        case FlightState.CANCELLED:
            return RunTool("speculation cancelled")
        case FlightState.READY | FlightState.RUNNING if now - found.as_of > max_age:
            return RunTool("too old")
        case FlightState.READY:
            return Serve()
        case FlightState.RUNNING:
            return Wait(patience(now - found.as_of, max_wait=max_wait, typical=typical))


def patience(running: float, *, max_wait: float, typical: float | None) -> float:
    """How long to wait, in seconds, for a retrieval that has been running for ``running`` seconds.

    Twice the typical time of a whole retrieval, less what has passed: a healthy one is joined, a hung one costs its
    caller a bounded delay before the tool runs anyway.
    """
    if typical is None:
        return max_wait
    return min(max_wait, max(LEAST_PATIENCE_SECONDS, 2 * typical - running))


def may_answer(serve: ServeMode, guess: ResultGuess) -> bool:
    """Whether a guessed result may answer the call itself: only one whose error is bounded, and only where asked for.

    Under ``"verified"`` a guess is for the next model call alone, and under ``"exact"`` there is none.
    """
    return serve == "bounded" and guess.bounded
