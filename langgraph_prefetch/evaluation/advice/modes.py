"""Tries each serve mode on the runs, for one tool after the other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from langgraph_prefetch.config import Price
from langgraph_prefetch.evaluation.advice.figures import (
    ModeFigures,
    Prices,
    RunCount,
    counts_of,
    mode_figures,
    sources_of,
)
from langgraph_prefetch.evaluation.advice.near_misses import Corpus, bounded_mode
from langgraph_prefetch.evaluation.advice.next_calls import verified_mode
from langgraph_prefetch.evaluation.advice.play import Played, Scenario, play
from langgraph_prefetch.evaluation.advice.tools import ToolFacts
from langgraph_prefetch.evaluation.advice.values import BOUNDED, PASTED, REASONING, REUSE, SEALED, VERIFIED
from langgraph_prefetch.evaluation.importers.values import TracedRun
from langgraph_prefetch.intent.cues import CueSet


class Trials:
    """Plays the runs, each scenario once.

    Args:
        runs: what was traced.
        scenario: the assumptions; its tools are all that would be named.
        prices: of calls and seconds; those that were only assumed start no gate.
        reuse_seconds: for the mode with reuse.
        cues: the language of intent.
        corpus: what is searched; None: no near misses.
        on_play: called after each time that all runs were played.
    """

    def __init__(
        self,
        runs: Sequence[TracedRun],
        scenario: Scenario,
        prices: Prices,
        *,
        reuse_seconds: float,
        cues: CueSet,
        corpus: Corpus | None = None,
        on_play: Callable[[], None] = lambda: None,
    ) -> None:
        self._runs, self._prices, self._reuse = runs, prices, reuse_seconds
        self._cues, self._corpus, self._on_play = cues, corpus, on_play
        if prices.unit:
            price, value = Price(money=prices.call), Price(money=prices.second)
            scenario = replace(scenario, price=price, value_of_second=value)
        self._scenario = scenario
        self._unguessed: dict[float | None, Played] = {}
        self.wrong_answers = 0

    @property
    def sealed(self) -> Played:
        """All runs with sealed calls alone."""
        return self._played(None, None)

    def modes(self, tool: ToolFacts) -> Mapping[str, ModeFigures]:
        """What each mode brings for ``tool``."""
        found: dict[str, ModeFigures] = {}
        sealed = _counts(self.sealed, tool)
        found[SEALED] = mode_figures(SEALED, sealed, self._prices, sources=_sources(self.sealed, tool))
        best = sealed
        guesses_for = tool.name if tool.query_argument is not None else None
        if guesses_for is not None:
            played = self._played(guesses_for, None)
            best = _counts(played, tool)
            found[REASONING] = mode_figures(
                REASONING, best, self._prices, before=sealed, sources=_sources(played, tool)
            )
        again = self._played(guesses_for, self._reuse)
        found[REUSE] = mode_figures(
            REUSE,
            _counts(again, tool),
            self._prices,
            before=best,
            sources=_sources(again, tool),
            note=f"equal calls of a run share a result for {self._reuse:g} s, unless another tool ran in between",
        )
        found[BOUNDED] = bounded_mode(self._runs, tool, best, corpus=self._corpus, prices=self._prices, cues=self._cues)
        found[VERIFIED] = verified_mode(
            self._runs, tool, best, scenario=self._scenario, prices=self._prices, cues=self._cues
        )
        self._on_play()
        return found

    def pasted(self, tools: Sequence[ToolFacts], guesses_for: str | None) -> Mapping[str, ModeFigures]:
        """What the recommended code would bring: these tools named and no others."""
        played = self._play(replace(self._scenario, tools=tuple(tools), guesses_for=guesses_for))
        return {
            each.name: mode_figures(PASTED, _counts(played, each), self._prices, sources=_sources(played, each))
            for each in tools
        }

    def run_seconds(self) -> float:
        """How long all runs take, model and tools together, without prefetch."""
        hidden = math.fsum(
            each.hidden for tool in self._scenario.tools for each in counts_of(self.sealed.events.values(), tool.name)
        )
        return math.fsum(self.sealed.seconds) + hidden

    def _played(self, guesses_for: str | None, reuse_seconds: float | None) -> Played:
        """Without guesses one pass is for all tools; such are kept."""
        if guesses_for is None and reuse_seconds in self._unguessed:
            return self._unguessed[reuse_seconds]
        played = self._play(replace(self._scenario, guesses_for=guesses_for, reuse_seconds=reuse_seconds))
        if guesses_for is None:
            self._unguessed[reuse_seconds] = played
        return played

    def _play(self, scenario: Scenario) -> Played:
        played = play(self._runs, scenario, self._cues)
        self.wrong_answers += played.wrong_answers
        self._on_play()
        return played


def _counts(played: Played, tool: ToolFacts) -> tuple[RunCount, ...]:
    return counts_of(played.events.values(), tool.name)


def _sources(played: Played, tool: ToolFacts) -> Mapping[str, float]:
    return sources_of(played.events.values(), tool.name)
