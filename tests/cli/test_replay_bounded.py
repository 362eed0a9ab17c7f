"""`langgraph-prefetch replay --serve bounded`: what it adds, and what it refuses."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from tests.evaluation.near.small import corpus, runs

ADDED = {
    *("accepted_share", "wrong_set_rate", "wrong_set_upper95", "recall_at_k", "embedder", "n", "anchors"),
    *("proved_share", "epsilon", "confidence", "k", "passages", "splits"),
    *("fetches_per_step", "vector_bytes_per_step", "embedded_texts_per_step"),
}
EMBEDDER = "tests.evaluation.near.embedders:words"


def test_each_file_and_all_together_get_the_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The objects of a plain replay stay as they are; figures are added, and one object of all files."""
    files = [str(runs(tmp_path, name, 8, seed)) for seed, name in enumerate(("one.jsonl", "two.jsonl"))]
    plain, bounded = tmp_path / "plain.json", tmp_path / "bounded.json"
    assert main(["replay", *files, "--json", str(plain)]) == 0
    options = ["--serve", "bounded", "--epsilon", "0.2", "--corpus", str(corpus(tmp_path)), "--embedder", EMBEDDER]
    options += ["--n", "40", "--anchors", "3", "--k", "3", "--splits", "4", "--embedding-cache", str(tmp_path / "v")]
    assert main(["replay", *files, *options, "--json", str(bounded)]) == 0
    printed = capsys.readouterr().out
    assert "other ways, all calls" in printed
    assert "together" in printed
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (plain, bounded))
    assert [each["file"] for each in after] == [*files, "together"]
    for old, new in zip(before, after, strict=False):
        assert {name: new[name] for name in old} == old
        assert set(new) >= ADDED
    assert (after[-1]["n"], after[-1]["anchors"], after[-1]["k"], after[-1]["embedder"]) == (40, 3, 3, EMBEDDER)
    assert after[-1]["search_calls"] == 32
    assert {"name", "hits", "wrong_set_rate", "best_share_at_0.01"} <= set(after[-1]["others"][0])
    assert "others" not in after[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", "0.1"], "goes with --serve bounded"),
        (["--embedding-cache", "x"], "--embedding-cache goes with"),
        (["--serve", "bounded"], "--corpus"),
        (["--serve", "bounded", "--corpus", "missing.jsonl"], "missing.jsonl"),
        (["--serve", "bounded", "--corpus", "x", "--epsilon", "2"], "epsilon is a share"),
        (["--serve", "bounded", "--corpus", "x", "--n", "0"], "n must be"),
    ],
)
def test_wrong_use_is_named(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = runs(tmp_path, "one.jsonl", 1, 0)
    assert main(["replay", str(file), *options]) == 2
    assert message in capsys.readouterr().err
