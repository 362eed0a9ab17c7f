"""`langgraph-prefetch replay --serve verified`: what it adds, and what it refuses."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from tests.evaluation.near.small import corpus, runs
from tests.evaluation.recordings import ANSWERED, SAID, episode, finish, write

ADDED = {
    *("search_calls", "at_hand_share", "guessed_share", "equal_share", "started_share", "adopted_share"),
    *("waited_seconds", "hidden_seconds", "cancelled", "wasted_input_tokens", "wasted_output_tokens"),
    *("ignored", "by_kind"),
}
EMBEDDER = "tests.evaluation.near.embedders:words"


def test_figures_are_added_and_the_rest_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a corpus results are those that were recorded."""
    files = [str(write(tmp_path / f"{name}.jsonl", [episode(SAID, SAID, ANSWERED)])) for name in ("one", "two")]
    plain, verified = tmp_path / "plain.json", tmp_path / "verified.json"
    options = ["--no-sealed", "--max-guesses", "0"]
    assert main(["replay", *files, *options, "--json", str(plain)]) == 0
    assert main(["replay", *files, *options, "--serve", "verified", "--json", str(verified)]) == 0
    printed = capsys.readouterr().out
    assert "wasted tokens" in printed
    before, after = (json.loads(path.read_text(encoding="utf-8")) for path in (plain, verified))
    assert [each["file"] for each in after] == [*files, "together"]
    for old, new in zip(before, after, strict=False):
        assert {name: value for name, value in new.items() if name != "verified"} == old
    assert all(set(each["verified"]) == ADDED for each in after)
    together = after[-1]["verified"]
    assert (together["search_calls"], together["guessed_share"], together["adopted_share"]) == (4, 0.5, 0.5)
    assert set(together["by_kind"]) == {"stale"}


def test_with_a_corpus_near_misses_are_guessed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = str(runs(tmp_path, "one.jsonl", 8, 0)), tmp_path / "out.json"
    options = [
        "--serve",
        "verified",
        "--corpus",
        str(corpus(tmp_path)),
        "--embedder",
        EMBEDDER,
        "--n",
        "40",
        "--k",
        "3",
    ]
    options += ["--anchors", "3", "--embedding-cache", str(tmp_path / "v"), "--max-wasted-share", "1", "--no-sealed"]
    assert main(["replay", file, *options, "--json", str(out)]) == 0
    capsys.readouterr()
    figures = json.loads(out.read_text(encoding="utf-8"))[0]["verified"]
    assert set(figures["by_kind"]) == {"near"}
    assert figures["started_share"] == figures["guessed_share"] > 0.9
    assert list((tmp_path / "v").glob("*.npz"))
    assert main(["replay", file, *options, "--token-price", "9", "--json", str(out)]) == 0
    capsys.readouterr()
    dear = json.loads(out.read_text(encoding="utf-8"))[0]["verified"]
    assert dear["started_share"] == 0
    assert set(dear["ignored"]) == {"next call: not worth it"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max-wasted-share", "0.1"], "--max-wasted-share goes with --serve verified"),
        (["--serve", "bounded", "--token-price", "1"], "--token-price goes with --serve verified"),
        (["--serve", "verified", "--splits", "3"], "--splits goes with --serve bounded"),
        (["--serve", "verified", "--embedder", "hashing"], "--embedder goes with --corpus"),
        (["--serve", "verified", "--max-wasted-share", "2"], "max_wasted_share"),
        (["--serve", "verified", "--corpus", "missing.jsonl"], "missing.jsonl"),
        (["--serve", "verified", "--inject-collisions"], "one run at a time"),
    ],
)
def test_wrong_use_is_named(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = runs(tmp_path, "one.jsonl", 1, 0)
    assert main(["replay", str(file), *options]) == 2
    assert message in capsys.readouterr().err


def test_recordings_without_results_need_a_corpus(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = {"thought": "Let me see.", "action": "search", "query": "tides"}
    file = write(tmp_path / "bare.jsonl", [episode(bare, bare, finish("So."))])
    assert main(["replay", str(file), "--serve", "verified"]) == 2
    assert "give --corpus" in capsys.readouterr().err
