"""When each piece of a model call came: as recorded, spread over a recorded duration, or assumed. Pure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum

from langgraph_prefetch.evaluation.importers.values import TracedStep
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.values import Delta, ToolCallDelta


class Timing(StrEnum):
    """Where the times of a model call are from."""

    RECORDED = "recorded"
    SPREAD = "spread"
    ASSUMED = "assumed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """Seconds from the start of the model call.

    Attributes:
        at: when each piece came.
        end: when the message was complete.
        timing: where that is known from.
    """

    at: tuple[float, ...]
    end: float
    timing: Timing


def schedule(step: TracedStep, tokens_per_second: float) -> Schedule:
    """The times of one model call.

    Where only its duration was recorded, its tokens (about four characters each) are spread evenly over it, from the
    first token's moment where that is known. Where nothing was, they come at ``tokens_per_second``, the first after one
    token's time, and the end of the message one token later.
    """
    ends = list(itertools.accumulate(tokens_in(each) for each in step.deltas))
    count = ends[-1] if ends else 0
    if step.times is not None:
        at = tuple(itertools.accumulate(step.times, max))
        last = at[-1] if at else 0.0
        return Schedule(at=at, end=max(last, step.seconds or 0.0), timing=Timing.RECORDED)
    if step.seconds is not None:
        first = step.first if step.first is not None and step.first <= step.seconds else None
        if first is None:
            token = step.seconds / (count + 1)
            at = tuple(end * token for end in ends)
        else:
            token = (step.seconds - first) / max(1, count)
            at = tuple(first + (end - 1) * token for end in ends)
        return Schedule(at=at, end=step.seconds, timing=Timing.SPREAD)
    token = 1 / tokens_per_second
    return Schedule(at=tuple(end * token for end in ends), end=(count + 1) * token, timing=Timing.ASSUMED)


def tokens_in(delta: Delta) -> int:
    """How many tokens a piece is, at least one."""
    text = delta.arguments if isinstance(delta, ToolCallDelta) else delta.text
    return max(1, len(cut(text.rstrip())))  # many models send the space with the word before it
