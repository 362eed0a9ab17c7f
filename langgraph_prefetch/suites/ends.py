"""End to end: by how much wrapped runs are shorter than bare ones, and what a search takes of them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.evaluation.statistics.describe import mean
from langgraph_prefetch.evaluation.statistics.paired import paired_permutation
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.suites.agents import BARE, WRAPPED
from langgraph_prefetch.suites.cells import NONE, p_value
from langgraph_prefetch.suites.pairing import Pairs, pairs


@dataclass(frozen=True, slots=True, kw_only=True)
class EndToEnd:
    """Bare and wrapped, in pairs.

    Attributes:
        pairs: the runs.
        bare, wrapped: mean seconds.
        difference: of the means, wrapped less bare.
        share: the difference, as a part of the bare mean; below 0 wrapped is shorter.
        search_share: what the agent waited for searches, as a part of the bare mean.
        p: of the paired permutation test, two-sided.
    """

    pairs: Pairs
    bare: Estimate
    wrapped: Estimate
    difference: Estimate
    share: float | None
    search_share: float | None
    p: float | None

    @property
    def share_ends(self) -> tuple[float, float] | None:
        """The ends of the interval of the share: those of the difference, as parts of the bare mean."""
        if self.share is None or self.bare.value is None or self.difference.interval is None:
            return None
        return self.difference.interval.low / self.bare.value, self.difference.interval.high / self.bare.value

    @property
    def share_cell(self) -> str:
        """The share as it is read, with its interval."""
        if self.share is None or self.share_ends is None:
            return NONE if self.share is None else f"{self.share:.1%}"
        low, high = self.share_ends
        return f"{self.share:.1%} ({low:.1%} to {high:.1%})"

    def against(self, limit: float | None) -> str:
        """Estimate, interval and what the estimate was to reach, in one sentence each. ``limit``: a share, below 0."""
        said = f"Wrapped less bare, of the bare run: {self.share_cell}, with its 95 % interval; {self.p_said}."
        if limit is None or self.share is None:
            return said
        said += f" The limit is {limit:.1%}, for the estimate."
        if self.share <= limit and self.share_ends is not None and self.share_ends[1] > limit:
            said += " The interval reaches beyond it: that less is saved is not ruled out."
        return said

    @property
    def search_share_cell(self) -> str:
        """What searches take of a bare run, as it is read."""
        return NONE if self.search_share is None else f"{self.search_share:.1%}"

    @property
    def p_cell(self) -> str:
        """The p-value as it is read."""
        return p_value(self.p)

    @property
    def p_said(self) -> str:
        """The p-value within a sentence."""
        return f"p {self.p_cell}" if self.p_cell.startswith("<") else f"p = {self.p_cell}"


def end_to_end(rows: Sequence[RunRow], *, seed: int) -> EndToEnd:
    """Of cold runs with an answer."""
    found = pairs(rows, BARE, WRAPPED, warm=False)
    bare, wrapped = found.of()
    difference = mean([other - one for one, other in zip(bare, wrapped, strict=True)], seed=seed)
    before = mean(bare, seed=seed)
    waited = [sum_of_waits(row) for row in found.first]
    return EndToEnd(
        pairs=found,
        bare=before,
        wrapped=mean(wrapped, seed=seed),
        difference=difference,
        share=None if difference.value is None or not before.value else difference.value / before.value,
        search_share=sum(waited) / sum(bare) if bare and sum(bare) else None,
        p=paired_permutation(bare, wrapped, seed=seed).p_value,
    )


def sum_of_waits(row: RunRow) -> float:
    """Seconds of a run's searches. Those made side by side count once, as the longest of them."""
    return sum(max(each) for each in _side_by_side(row)) if row.searches else 0.0


def _side_by_side(row: RunRow) -> list[list[float]]:
    taken = [each.seconds for each in row.searches]
    # The rows of a run do not say which searches shared a message; comparisons of this suite put both into one.
    return [taken] if row.kind == "comparison" else [[each] for each in taken]
