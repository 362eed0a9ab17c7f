"""What can be said of two arms without a judge: the same texts, nearly the same texts, the same searches."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.evaluation.judging import ScoreSheet
from langgraph_prefetch.evaluation.reporting.values import Figure
from langgraph_prefetch.evaluation.rows import RunRow
from langgraph_prefetch.suites.agents import BARE, WRAPPED
from langgraph_prefetch.suites.cells import NONE, share
from langgraph_prefetch.suites.pairing import pairs
from langgraph_prefetch.suites.quality_samples import sample_of


def text_figures(rows: Sequence[RunRow]) -> tuple[tuple[Figure, ...], str | None]:
    """Figures for the closing table, of runs that both arms have an answer for; or why there are none. Blocks."""
    try:
        from langgraph_prefetch.evaluation.judging.openevals_texts import Trajectory, compare_texts, match_trajectories
    except MissingExtraError as error:
        return (), f"texts and searches were not compared without a judge: {error}"
    found = pairs(rows, BARE, WRAPPED)
    if not found.first:
        return (), None
    both = list(zip(found.first, found.second, strict=True))
    samples = [replace(sample_of(wrapped), reference=bare.answer) for bare, wrapped in both]
    runs = [
        Trajectory(sample=sample_of(wrapped), messages=_messages(wrapped), expected=_messages(bare))
        for bare, wrapped in both
    ]
    same, matched = match_trajectories(runs), [sample for sample in samples if (sample.reference or "").strip()]
    figures = [Figure(name="same searches, in order", value=_share(same), note=same.metric)]
    if matched:
        exact, near = compare_texts(matched, "exact_match"), compare_texts(matched, "levenshtein")
        similar = NONE if near.mean is None else f"{near.mean:.3f} (mean of {near.coverage.scored})"
        figures += [
            Figure(name="same text", value=_share(exact), note=exact.metric),
            Figure(name="likeness of texts, 0 to 1", value=similar, note=near.metric),
        ]
    return tuple(figures), None


def _share(sheet: ScoreSheet) -> str:
    scores = [each.verdict.score for each in sheet.judged if hasattr(each.verdict, "score")]
    return share(sum(score == 1.0 for score in scores), len(scores))


def _messages(row: RunRow) -> list[dict[str, Any]]:
    """A run as agentevals takes it; what the agent thought and what it found are not compared."""
    called = [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "search", "arguments": json.dumps({"query": search.query})}}],
        }
        for search in row.searches
    ]
    return [{"role": "user", "content": row.question}, *called, {"role": "assistant", "content": ""}]
