"""All questions, with the added latency and without it."""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.demo.agent import PASSAGES, as_text, make_agent, search_tool
from langgraph_prefetch.demo.figures import Figures
from langgraph_prefetch.demo.questions import QUESTIONS, Question
from langgraph_prefetch.demo.settings import DemoSettings
from langgraph_prefetch.demo.threads import all_at_once
from langgraph_prefetch.demo.trial import Pair, Trial
from langgraph_prefetch.errors import DemoError
from langgraph_prefetch.evaluation.named_model import in_a_line
from langgraph_prefetch.retrieval import PgVectorStore


class Session:
    """Asks questions and keeps what came of them.

    Args:
        settings: the demo's options.
        model: of every agent.
        store: searched.

    Attributes:
        search_seconds: the median time of a search without added latency.
    """

    def __init__(self, settings: DemoSettings, model: BaseChatModel, store: PgVectorStore) -> None:
        self._settings, self._store = settings, store
        latencies = dict.fromkeys((settings.latency_seconds, 0.0))
        self._pairs = [self._pair(model, latency) for latency in latencies]
        self._trials: list[list[Trial]] = [[] for _ in latencies]
        self._asked: list[str] = []
        self.search_seconds = self._search_seconds()

    def ask(self, question: Question) -> Trial:
        """Ask every agent at the same time; the trial with the added latency.

        Raises:
            DemoError: the model of the user's choice failed.
        """
        try:
            trials = all_at_once(partial(pair.ask_at_once, question.text) for pair in self._pairs)
        except Exception as error:
            if self._settings.model is None:
                raise
            raise DemoError(f"the model {self._settings.model!r} failed: {in_a_line(error)}") from error
        self._asked.append(question.text)
        for kept, trial in zip(self._trials, trials, strict=True):
            kept.append(trial)
        return trials[0]

    def totals(self) -> tuple[Figures, Figures | None]:
        """Of all questions so far: with the added latency, and without it where one was added."""
        total, *local = (Figures.of(trials) for trials in self._trials)
        return total, local[0] if local else None

    def as_json(self) -> dict[str, Any]:
        """Settings and figures; seconds."""
        total, local = self.totals()
        return {
            "questions": [
                {"question": text, **Figures.of([trial]).as_json()}
                for text, trial in zip(self._asked, self._trials[0], strict=True)
            ],
            "total": total.as_json(),
            "without_latency": None if local is None else local.as_json(),
            "latency_seconds": self._settings.latency_seconds,
            "tokens_per_second": None if self._settings.model else self._settings.tokens_per_second,
            "model": self._settings.model or "scripted",
            "search_seconds": round(self.search_seconds, 6),
        }

    def _pair(self, model: BaseChatModel, latency: float) -> Pair:
        search = search_tool(self._store, latency)
        return Pair(
            lambda: make_agent(model, search),
            lambda query: as_text(self._store.similarity_search(query, k=PASSAGES)),
        )

    def _search_seconds(self) -> float:
        taken = []
        for step in (step for question in QUESTIONS for step in question.steps):
            began = time.perf_counter()
            self._store.similarity_search(step.queries[0], k=PASSAGES)
            taken.append(time.perf_counter() - began)
        return statistics.median(taken)
