"""Speed and study from end to end, small: on scripted models and a real PostgreSQL, by the command that users have."""

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.cli.main import OK

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def smoke(suite: str, out: Path) -> tuple[str, list[dict[str, Any]], dict[str, Any]]:
    """The report's text, its rows, and the report as values."""
    assert main(("eval", suite, "--smoke", "--out", str(out))) == OK
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (out / "report.html").stat().st_size > 10_000
    text = (out / "report.md").read_text(encoding="utf-8")
    return text, rows, json.loads((out / "report.json").read_text(encoding="utf-8"))


def test_speed_asks_three_arms_in_balanced_pairs_and_says_what_it_found(tmp_path: Path) -> None:
    """Hypotheses first, every statistic by name, and passages that are the search's own."""
    text, rows, report = smoke("speed", tmp_path / "out")
    assert len(rows) == 3 * 3 * 2 * 2
    assert all(row["error"] is None for row in rows)
    assert all(search["as_real"] is True for row in rows for search in row["searches"])
    for said in (
        *("Primary endpoint", "H1:", "95th percentile", "Mann-Whitney U", "Cliff's delta", "Hodges-Lehmann"),
        *("paired permutation", "Kruskal-Wallis", "Dunn", "direct", "Warm runs", "By type of question", "smoke run"),
    ):
        assert said in text
    assert json.dumps(report).count("NaN") == 0
    warm = [search for row in rows if row["warm"] and row["arm"] == "wrapped" for search in row["searches"]]
    assert {(search["source"], search["answered"]) for search in warm} == {("reuse", "ready")}


def test_the_study_puts_its_figures_beside_the_published_ones(tmp_path: Path) -> None:
    """Cold and warm batches, two sets, both languages, every type, and a miss beside a direct search."""
    text, rows, _ = smoke("study", tmp_path / "out")
    assert {row["kind"] for row in rows} == {"fact", "comparison", "multi-hop", "no search"}
    assert {row["language"] for row in rows} == {"en", "ko"}
    assert {row["arm"] for row in rows} == {"series", "bare", "wrapped", "direct", "reasoning"}
    assert all(search["as_real"] is True for row in rows for search in row["searches"])
    warm = [row for row in rows if row["arm"] == "series" and row["warm"] and row["searches"]]
    assert warm
    assert all(search["answered"] == "ready" for row in warm for search in row["searches"])
    for said in (
        *(
            "99.2 %",
            "3.49 ms",
            "2,910 ms",
            "669 ms",
            "-10.7 %",
            "not degraded",
            "by the study's definition",
            "stricter",
        ),
        *(
            "The effect size of the cold miss",
            "direct search",
            "Dunn",
            "By language",
            "set a",
            "set b",
            "runs the tool at once",
        ),
    ):
        assert said in text.replace("\\", "")
