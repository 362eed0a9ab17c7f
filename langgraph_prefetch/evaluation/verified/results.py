"""What recorded searches returned, as the model read it."""

from __future__ import annotations

from typing import Protocol

from langgraph_prefetch.evaluation.traces import Episode, RecordedStep
from langgraph_prefetch.guesses import ResultGuess


class Results(Protocol):
    """What searches return."""

    def of(self, step: RecordedStep, query: str | None) -> str | None:
        """What the search call of ``step`` returned; None if nobody knows."""
        ...

    def of_query(self, query: str) -> str | None:
        """What a search returns that the run started early and never asked for; None if nobody knows."""
        ...


class Recorded:
    """The recorded observations. What was never asked for was never recorded."""

    def of(self, step: RecordedStep, query: str | None) -> str | None:
        """See :class:`Results`."""
        return step.observation

    def of_query(self, query: str) -> str | None:
        """See :class:`Results`."""
        return None


class Near(Protocol):
    """Near misses of the calls of one recording."""

    def guess(self, episode: Episode, number: int) -> ResultGuess | None:
        """What passages around the thought say of the search call of step ``number``."""
        ...

    def ran(self) -> None:
        """The search that was guessed last has returned: learn."""
        ...
