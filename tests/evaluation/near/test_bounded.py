"""Bounded serving on recorded runs: causal, split by question, and counted against an exact search."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from langgraph_prefetch.errors import ConfigurationError, TraceFileError
from langgraph_prefetch.evaluation.near.bounded import BoundedReplay, replay_bounded
from langgraph_prefetch.evaluation.near.corpus import read_corpus
from langgraph_prefetch.evaluation.near.figures import TOGETHER, near_figures, near_table
from langgraph_prefetch.evaluation.near.observed import Observed, Played
from langgraph_prefetch.evaluation.near.play import NearPlayer
from langgraph_prefetch.evaluation.near.splits import calibrated, halves, measure
from langgraph_prefetch.evaluation.near.vectors import Vectors
from langgraph_prefetch.evaluation.traces import read_recording
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.source import MemorySource
from tests.evaluation.near.small import corpus, runs
from tests.near.stores import hashed

SETTINGS = NearSettings(n=8, epsilon=0.2, confidence=0.9)


def call(reach: float, *, wrong: bool, question: str = "q", query: str = "", file: str = "f") -> Observed:
    right = ("a", "b")
    return Observed(
        file=file,
        question=question,
        query=query or f"{question} {reach}",
        thought="",
        guesses=(),
        right=right,
        local=("a", "c") if wrong else right,
        reach=reach,
        proved=False,
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    folder = tmp_path_factory.mktemp("near")
    texts = read_corpus([corpus(folder)])
    source = MemorySource([f"p{at:04d}" for at in range(len(texts))], hashed(texts), texts=texts)
    player = NearPlayer(source=source, vectors=Vectors(hashed), settings=SETTINGS, k=3, tools=("search",))
    recordings = [read_recording(runs(folder, f"runs {seed}.jsonl", 40, seed)) for seed in (1, 2)]
    return player.play(recordings)


def test_every_search_call_is_played_and_most_local_answers_are_right(played: Played) -> None:
    assert (len(played.calls), played.steps) == (160, 240)
    assert sum(not each.wrong for each in played.calls) > 80
    assert any(each.wrong for each in played.calls)
    assert not [each for each in played.calls if each.proved and each.wrong]
    assert played.fetches <= 4 * played.steps
    assert played.passages == 8 * played.fetches


def test_the_figures_are_those_of_the_measured_halves(played: Played) -> None:
    figures = near_figures(played, SETTINGS, splits=20, seed=1)
    assert [Path(each.file).name for each in figures] == ["runs 1.jsonl", "runs 2.jsonl", TOGETHER]
    together = figures[-1]
    assert together.search_calls == 160
    assert 0 <= together.proved_share <= together.accepted_share <= 1
    assert together.wrong_set_rate <= together.wrong_set_upper95
    assert together.recall_at_k > 0.9
    assert together == near_figures(played, SETTINGS, splits=20, seed=1)[-1]
    assert TOGETHER in near_table(figures, ())


def test_a_question_is_on_one_side_of_a_split_only() -> None:
    calls = [call(0.1, wrong=False, question=f"q{at % 30}", file=f"f{at % 3}") for at in range(300)]
    for known, rest in halves(calls, 10, seed=0):
        assert not {each.question for each in known} & {each.question for each in rest}
        assert len(known) == len(rest) == 150
    assert list(halves(calls, 3, seed=0)) == list(halves(calls, 3, seed=0))
    assert list(halves(calls, 3, seed=0)) != list(halves(calls, 3, seed=1))


def test_what_is_measured_plays_no_part_in_the_threshold() -> None:
    known = [call(0.5, wrong=False, question=f"q{at}") for at in range(300)]
    threshold = calibrated(known, NearSettings(epsilon=0.01), 0)
    assert threshold is not None
    assert threshold < 0.5
    bad = measure([call(0.6, wrong=True)] * 10 + [call(-2, wrong=True)] * 10, threshold)
    assert (bad.accepted, bad.wrong, bad.rate) == (10, 10, 1.0)


def test_too_few_known_calls_accept_only_what_is_proved() -> None:
    known = [call(0.5, wrong=False, question=f"q{at}") for at in range(100)]
    assert calibrated(known, NearSettings(epsilon=0.01), 0) is None
    proved = dataclasses.replace(call(2.0, wrong=False), proved=True)
    found = measure([proved, call(0.9, wrong=False)], None)
    assert (found.accepted, found.proved) == (1, 1)


def test_a_query_asked_again_is_no_further_evidence() -> None:
    """Five trials of one question would else be taken for five calls."""
    known = [call(0.5, wrong=False, question=f"q{at % 60}", query=f"s{at % 60}") for at in range(600)]
    assert calibrated(known, NearSettings(epsilon=0.01), 0) is None


def test_the_replay_goes_from_files_to_figures(tmp_path: Path) -> None:
    settings = BoundedReplay(
        corpus=(str(corpus(tmp_path)),),
        embedder="tests.evaluation.near.embedders:words",
        near=SETTINGS,
        k=3,
        splits=5,
        cache=tmp_path / "vectors",
    )
    recordings = [read_recording(runs(tmp_path, "runs.jsonl", 10, 3))]
    first = replay_bounded(recordings, settings)
    embedded: list[int] = []
    again = replay_bounded(recordings, settings, on_text=embedded.append)
    assert first.figures == again.figures
    assert not embedded  # all were read from the folder
    assert {"exact, from reasoning", "cosine cache 0.9", "guessed query's results"} < {arm.name for arm in first.rivals}
    assert first.settings_as_json(settings)["passages"] == 600
    assert first.cost()["fetches_per_step"] <= 4


@pytest.mark.parametrize(
    ("name", "message"),
    [("constant", "same vector"), ("unknown", "no 'unknown'")],
)
def test_an_embedder_that_is_of_no_use_is_refused(tmp_path: Path, name: str, message: str) -> None:
    settings = BoundedReplay(
        corpus=(str(corpus(tmp_path)),), embedder=f"tests.evaluation.near.embedders:{name}", near=SETTINGS
    )
    with pytest.raises(ConfigurationError, match=message):
        replay_bounded([read_recording(runs(tmp_path, "runs.jsonl", 1, 3))], settings)


def test_recordings_without_a_search_call_are_refused(tmp_path: Path) -> None:
    settings = BoundedReplay(
        corpus=(str(corpus(tmp_path)),),
        embedder="tests.evaluation.near.embedders:words",
        near=SETTINGS,
        tools=("elsewhere",),
    )
    with pytest.raises(ConfigurationError, match="no search call"):
        replay_bounded([read_recording(runs(tmp_path, "runs.jsonl", 1, 3))], settings)


@pytest.mark.parametrize("given", [{"k": 0}, {"splits": 0}, {"corpus": ()}])
def test_a_setting_out_of_its_range_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ConfigurationError):
        dataclasses.replace(BoundedReplay(corpus=("c",), embedder="hashing", near=SETTINGS), **given)  # type: ignore[arg-type]


@pytest.mark.parametrize("line", ["[]", '{"title": "x"}', '{"title": 3, "text": "x"}', "no json"])
def test_a_line_that_is_no_passage_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "passages.jsonl"
    path.write_text('{"text": "one"}\n' + line, encoding="utf-8")
    with pytest.raises(TraceFileError, match="line 2"):
        read_corpus([path])


def test_equal_passages_are_one_and_no_passage_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "passages.jsonl"
    path.write_text('{"text": "one"}\n\n{"text": "one"}\n{"title": "t", "text": "one"}\n', encoding="utf-8")
    assert read_corpus([path, path]) == ("one", "t\none")
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(TraceFileError, match="no passage"):
        read_corpus([path])
    with pytest.raises(TraceFileError):
        read_corpus([tmp_path / "missing"])


def test_vectors_are_kept_between_replays_and_a_broken_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "vectors.npz"
    vectors = Vectors(hashed, file=file)
    wanted = vectors.of(["a b", "c"])
    vectors.save()

    def never(texts: object) -> np.ndarray:
        raise AssertionError(texts)

    assert np.array_equal(Vectors(never, file=file).of(["a b", "c"]), wanted)
    assert [each.name for each in file.parent.iterdir()] == ["vectors.npz"]
    file.write_bytes(b"PK broken")
    with pytest.raises(TraceFileError, match="delete it"):
        Vectors(hashed, file=file)
