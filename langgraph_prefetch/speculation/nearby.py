"""What a real call may be answered with, or guessed from, if no speculation of the very same call answers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from langgraph_prefetch.guesses import Tell
from langgraph_prefetch.values import Output

NEAR = "near"
"""The kind of these guesses."""
P_PROVED, P_LIKELY, P_UNSURE = 0.97, 0.95, 0.7
"""P(a ranking is what the tool returns, in its order): of either tier, and of one that may not be served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NearOutput:
    """A near miss that may be served. ``retrieval_seconds``: how long the tool's own search usually takes."""

    output: Output
    retrieval_seconds: float


class Nearby(Protocol):
    """Passages near one real call. Nothing here raises, and nothing waits longer than the call has patience."""

    def answer(self) -> NearOutput | None:
        """What the call is answered with; None: run the tool. Blocks while the query is embedded."""
        ...

    async def aanswer(self) -> NearOutput | None:
        """:meth:`answer` without blocking the loop."""
        ...

    def guess(self, tell: Tell) -> None:
        """Tell, later and on another thread, what the call will probably return."""
        ...

    def ran(self, output: Output | None, seconds: float) -> None:
        """The tool itself returned this, to this call or to its own search started early; None: nothing comparable."""
        ...
