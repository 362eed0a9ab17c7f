"""What one recorded search call was like: all that the figures are counted from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """One recorded search call.

    Attributes:
        file: of the recording.
        question: of the episode.
        query: what was searched for.
        thought: what the model wrote before it, its action not included.
        guesses: the queries that the reader made of it, with the package's own settings, the likeliest first.
        right: the ids that an exact search returns, nearest first.
        local: the ids of the local answer; empty where there was none.
        reach: its score.
        proved: the certificate held.
    """

    file: str
    question: str
    query: str
    thought: str
    guesses: tuple[str, ...]
    right: tuple[str, ...]
    local: tuple[str, ...]
    reach: float
    proved: bool

    @property
    def wrong(self) -> bool:
        """The local answer is another set of passages."""
        return set(self.local) != set(self.right)

    @property
    def recall(self) -> float:
        """The share of the right passages that the local answer has."""
        return len(set(self.local) & set(self.right)) / len(self.right) if self.right else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """All search calls of some recordings, in order, and what fetching around anchors took.

    Attributes:
        steps: model calls, those that made no search included.
        fetches: neighbourhoods fetched.
        passages: passages they held.
        embedded: anchor texts embedded, fetched around or not.
    """

    calls: tuple[Observed, ...]
    steps: int
    fetches: int
    passages: int
    embedded: int
