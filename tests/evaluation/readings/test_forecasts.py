"""P(search) of recorded thoughts: what the live reader would say, with what the steps did."""

import json
import re
from pathlib import Path

import pytest

from langgraph_prefetch.evaluation.readings.elsewhere import weighed_elsewhere
from langgraph_prefetch.evaluation.readings.forecasts import Forecast, forecasts, hear, p_search
from langgraph_prefetch.evaluation.readings.queries import score_queries
from langgraph_prefetch.evaluation.readings.scores import by_group, score
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.intent.cues import default_cues
from langgraph_prefetch.intent.likelihood import Habit
from langgraph_prefetch.intent.queries import Guesser
from tests.evaluation.recordings import ANSWERED, FALSE_START, SAID, UNSAID, episode, search, write

CUES = default_cues()
OWN = sorted(Path("evals/recordings").glob("*.jsonl"))


def recording(folder: Path, *lines: str, name: str = "runs") -> Recording:
    return read_recording(write(folder / f"{name}.jsonl", lines))


def forecast(probability: float, searched: bool) -> Forecast:
    return Forecast(file="any", model="", language="en", probability=probability, searched=searched, question="any?")


def test_each_step_has_one_forecast(tmp_path: Path) -> None:
    """What announces a search has P(search) above the threshold, what says nothing 0, whatever the step then does."""
    (heard,) = hear([recording(tmp_path, episode(SAID, UNSAID, FALSE_START))], ["search"])
    found = list(forecasts(heard, CUES, 0.7))
    assert [each.searched for each in found] == [True, True, False]
    assert [each.probability >= 0.7 for each in found] == [True, False, True]
    assert found[1].probability == 0
    assert found[0].group == "runs · en"


def test_negations_and_quotations_are_no_announcements() -> None:
    """They are read as the live reader reads them."""
    assert p_search("I don't need to search for Ada Lovelace.", CUES, 0.0) < 0.1
    assert p_search('The sign says "I need to search for Ada Lovelace".', CUES, 0.0) == 0
    assert p_search("I need to search for Ada Lovelace.", CUES, 0.0) == pytest.approx(0.84)


def test_a_thought_is_read_as_the_live_reader_reads_it_too(tmp_path: Path) -> None:
    """A weak clause that opens at any P(search) swallows the strong one behind it; at the threshold it never opens."""
    thought = "Let me find out: I should search Humber Bridge."
    assert p_search(thought, CUES, 0.0) < 0.7 <= p_search(thought, CUES, 0.7)
    (heard,) = hear([recording(tmp_path, episode(search(thought, "Humber Bridge")))], ["search"])
    assert [each.probability for each in forecasts(heard, CUES, 0.7)] == [pytest.approx(0.84)]


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_a_forecast_reaches_the_threshold_exactly_where_the_live_reader_opens(path: Path) -> None:
    """Precision and recall are those of an agent that runs at this threshold."""
    (heard,) = hear([read_recording(path)], ["search"])
    for step, each in zip(heard.steps, forecasts(heard, CUES, 0.7), strict=True):
        guesser = Guesser(CUES, Habit(), threshold=0.7, min_probability=0.0, max_guesses=10)
        guessed = bool(guesser.feed(step.text) + guesser.finish())
        assert not guessed or each.probability >= 0.7
        assert (p_search(step.text, CUES, 0.7) >= 0.7) == (each.probability >= 0.7)


def test_model_and_language_are_as_the_recording_says_else_by_script(tmp_path: Path) -> None:
    """A label is shortened for tables, without what is said about it."""
    said = json.loads(episode(SAID)) | {"model": "a-model (a note on it)", "language": "de"}
    eastern = json.loads(episode(search("한강을 검색해 보자.", "한강"))) | {"model": "m" * 60}
    (heard,) = hear([recording(tmp_path, json.dumps(said), json.dumps(eastern))], ["search"])
    first, second = forecasts(heard, CUES, 0.7)
    assert (first.model, first.language) == ("a-model", "de")
    assert second.language == "ko"
    assert len(second.model) == 28
    assert heard.languages == {"de", "ko"}


def test_files_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    """Figures of two files never run together."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    found = hear([recording(tmp_path / name, episode(SAID)) for name in ("a", "b")], ["search"])
    assert [each.file for each in found] == [str(tmp_path / name / "runs.jsonl") for name in ("a", "b")]


def test_figures_of_four_thoughts_by_hand() -> None:
    """Two fired, one of them right; three searches; the rest is arithmetic."""
    found = [forecast(0.84, True), forecast(0.8, False), forecast(0.3, True), forecast(0.0, True)]
    scores = score(found, 0.7)
    assert (scores.thoughts, scores.searches, scores.said, scores.fired) == (4, 3, 3, 2)
    assert scores.precision.value == 0.5
    assert scores.recall.value == pytest.approx(1 / 3)
    assert scores.brier.value == pytest.approx((0.16**2 + 0.8**2 + 0.7**2 + 1) / 4)
    assert scores.brier_of_base_rate == pytest.approx(3 / 16)
    assert scores.calibration_error.value == pytest.approx((2 * abs(0.82 - 0.5) + 0.7 + 1) / 4)
    assert scores.calibration_error_said.value == pytest.approx((2 * abs(0.82 - 0.5) + 0.7) / 3)
    assert [each.n for each in scores.bins] == [1, 1, 2]


def test_where_nothing_fires_or_searches_there_is_no_share() -> None:
    """A share of nothing is no number, and never 0 or NaN."""
    scores = score([forecast(0.0, False), forecast(0.1, False)], 0.7)
    assert scores.precision.value is None
    assert scores.recall.value is None
    assert score([forecast(0.0, False)], 0.7).calibration_error_said.value is None


def test_groups_are_told_apart_by_file_model_and_language(tmp_path: Path) -> None:
    """Thoughts in two languages of one file are two groups."""
    lines = (episode(SAID, ANSWERED), episode(search("长江有多长？我先搜索长江。", "长江")))
    (heard,) = hear([recording(tmp_path, *lines)], ["search"])
    groups = by_group(forecasts(heard, CUES, 0.7))
    assert {name: len(held) for name, held in groups.items()} == {"runs · en": 2, "runs · zh": 1}


def test_weights_that_never_saw_the_file(tmp_path: Path) -> None:
    """Fitted to other files of its language alone: what a file says does not move its own weights."""

    def heard(*, lies: bool) -> list[Recording]:
        made = [
            recording(
                tmp_path,
                *(episode(SAID if not lies else FALSE_START, question=f"Question {number}?") for number in range(40)),
                name=name,
            )
            for name, lies in (("own", lies), ("other", False))
        ]
        return [*made, recording(tmp_path, episode(search("我先搜索长江。", "长江")), name="eastern")]

    honest, lying = (weighed_elsewhere(hear(heard(lies=lies), ["search"]), CUES) for lies in (False, True))
    own = honest["own"]
    assert own is not None
    assert own == lying["own"]
    assert honest["other"] != lying["other"]
    assert honest["eastern"] is None
    fitted = {cue.name: cue.weight for cue in own.cues}
    assert fitted["en.need_to"] > 0.5
    assert fitted["en.look_up"] == 0.5  # was not seen
    assert fitted["en.negated"] == {cue.name: cue.weight for cue in CUES.cues}["en.negated"]


def test_guessed_queries_are_scored_by_run(tmp_path: Path) -> None:
    """The figures of `fit`, with bins to draw."""
    (heard,) = hear([recording(tmp_path, episode(SAID, ANSWERED), episode(UNSAID))], ["search"])
    found = score_queries(heard, CUES)
    assert found.counted.searches == 2
    assert found.counted.found == 1
    assert found.scores.recall == 0.5
    assert sum(each.n for each in found.bins) == len(found.counted.forecasts)


def test_the_recordings_that_ship_have_steps_of_every_kind() -> None:
    """Four languages, a few dozen thoughts each, some of which search, and some of which speak of it and do not."""
    heard = hear([read_recording(path) for path in OWN], ["search"])
    assert {language for each in heard for language in each.languages} == {"en", "ko", "ja", "zh"}
    for each in heard:
        steps = list(each.steps)
        searches = sum(step.query is not None for step in steps)
        assert len(steps) >= 20
        assert 8 <= searches <= len(steps) - 8
        spoken_of = [step for step in steps if step.query is None and re.search("search|검색|検索|搜索", step.text)]
        assert len(spoken_of) >= 2
