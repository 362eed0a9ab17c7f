"""Files of cues: what is written is what is read, and what is no such file says so."""

import json
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch import Cue, load_cues
from langgraph_prefetch.errors import ConfigurationError, CueFileError
from langgraph_prefetch.intent.cue_file import MAX_BYTES, cue_text
from langgraph_prefetch.intent.cues import CueSet, default_cues
from langgraph_prefetch.intent.likelihood import RATES, Habit, rates_of
from langgraph_prefetch.intent.queries import Guesser

OWN = default_cues().reweigh({"en.search": 0.7}).rate({"whole/name/names": 0.5, "new/row": 0.25})


def written(path: Path, **changes: Any) -> Path:
    path.write_text(json.dumps({**json.loads(cue_text(OWN, {})), **changes}), encoding="utf-8")
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    """Cues and rates come back as they were, further ones of the user's included."""
    own = OWN.add(Cue(name="ko.own", role="intent", weight=0.5, phrases=("찾아",), scope="sentence"))
    path = tmp_path / "cues.json"
    path.write_text(cue_text(own, {"questions": 100}), encoding="utf-8")
    assert load_cues(path) == own
    assert load_cues(str(path)).rates == own.rates


def test_fitted_rates_rank_and_rate_guesses() -> None:
    """A guess has the probability of the cue set it was read with; other rows keep the package's."""

    def guess(cues: CueSet) -> list[float]:
        guesser = Guesser(cues, Habit(), threshold=0.7, min_probability=0.0, max_guesses=3)
        text = "I need to search Lake Baikal, and then"
        return [each.probability for each in (*guesser.feed(text), *guesser.finish())]

    assert guess(default_cues()) == [RATES["whole/name/nothing"]]
    assert guess(default_cues().rate({"whole/name/nothing": 0.33})) == [0.33]
    assert rates_of(OWN)["quoted/keeps"] == RATES["quoted/keeps"]


def test_changes_keep_the_rates() -> None:
    """Adding, removing and reweighing cues leaves the fitted rates in place, and a set differs by its rates."""
    for changed in (OWN.reweigh({"en.find": 0.3}), OWN.remove("en.find"), OWN.rate({"other": 0.1})):
        assert dict(OWN.rates).items() <= dict(changed.rates).items()
    assert default_cues().rate({"whole/name/names": 0.5}) != default_cues()
    with pytest.raises(ConfigurationError, match=r"in \[0, 1\]: wrong"):
        OWN.rate({"wrong": 1.5})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"version": 2}, "format version 2: this release reads 1"),
        ({"version": None}, "format version None"),
        ({"format": "something else"}, "not a file of cues"),
        ({"cues": "none"}, "'cues' is missing, or no list"),
        ({"rates": []}, "'rates' is missing, or no object"),
        ({"rates": {"a": "much"}}, "the rate of 'a' must be a number"),
        ({"rates": {"a": 2}}, r"in \[0, 1\]"),
        ({"cues": [1]}, "must be an object"),
        ({"cues": [{"name": "en.x"}]}, "a cue has name, role"),
        (
            {"cues": [{"name": "en.x", "role": "boss", "weight": 1, "phrases": ["x"], "scope": "clause"}]},
            "no such role",
        ),
        (
            {"cues": [{"name": "en.x", "role": "intent", "weight": True, "phrases": ["x"], "scope": "clause"}]},
            "must be a number",
        ),
        (
            {"cues": [{"name": "en.x", "role": "intent", "weight": 2, "phrases": ["x"], "scope": "clause"}]},
            r"must be in \[0, 1\]",
        ),
        (
            {"cues": [{"name": "en.x", "role": "intent", "weight": 1, "phrases": [1], "scope": "clause"}]},
            "list of texts",
        ),
    ],
)
def test_broken_files_say_what_is_wrong(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    """The error names the file and the reason, and is one of ours."""
    path = written(tmp_path / "cues.json", **changes)
    with pytest.raises(CueFileError, match=complaint) as found:
        load_cues(path)
    assert (found.value.path, str(path) in str(found.value)) == (str(path), True)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 50_000, b"null", b"1e999"])
def test_what_is_no_object_of_json_is_refused(tmp_path: Path, content: bytes) -> None:
    """Whatever stands in the file."""
    path = tmp_path / "cues.json"
    path.write_bytes(content)
    with pytest.raises(CueFileError):
        load_cues(path)


def test_huge_and_missing_files_are_refused(tmp_path: Path) -> None:
    """No more than a megabyte is read, and a file that is not there is an error of ours."""
    path = tmp_path / "cues.json"
    path.write_bytes(b" " * (MAX_BYTES + 1))
    with pytest.raises(CueFileError, match="too large"):
        load_cues(path)
    with pytest.raises(CueFileError, match="No such file"):
        load_cues(tmp_path / "missing.json")
    with pytest.raises(CueFileError):
        load_cues(tmp_path)
