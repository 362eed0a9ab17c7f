"""What a search will probably return: guesses of results, which answer no call by themselves.

Under ``serve="verified"`` they let the next model call start in private; the graph sees real results only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from langgraph_prefetch.keys import SearchKey
from langgraph_prefetch.values import Output


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A real call whose result is not known yet.

    Attributes:
        tool: its name.
        key: equal for two calls only if they ask the same tool the same on behalf of the same caller and scope.
        arguments: as the model wrote them.
        query: the text that is searched for; None if the arguments do not tell.
    """

    tool: str
    key: SearchKey
    arguments: Mapping[str, Any] = field(hash=False, repr=False)
    query: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultGuess:
    """What the call will probably return.

    Attributes:
        output: content and artifact, in the form that a tool message has them.
        kind: where it comes from, in a word (``stale``, ``similar`` …); guesses of one kind are right about equally
            often, and that is learned.
        probability: P(the call returns exactly this), before anything was learned.
        bounded: its error is bounded, so that ``serve="bounded"`` may answer the call with it.
    """

    output: Output
    kind: str
    probability: float
    bounded: bool = False


Tell = Callable[[ResultGuess | None], None]


@runtime_checkable
class ResultGuesser(Protocol):
    """Knows what searches will probably return."""

    def guess(self, asked: Asked, tell: Tell) -> None:
        """Call ``tell`` once, at once or later and on any thread: with a guess, or with None where there is none.

        It is asked on the thread (or event loop) that is about to run the real search, so it must not block. What is
        told after the search has returned comes too late and is dropped. What it raises counts as None.
        """
        ...
