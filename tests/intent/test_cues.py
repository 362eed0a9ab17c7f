"""The cue set is data that users can print and change; P(search) follows from it by the stated formula."""

import dataclasses

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.intent.cues import LANGUAGES, Cue, CueSet, default_cues
from langgraph_prefetch.intent.detector import detectors
from langgraph_prefetch.intent.reader import IntentSettings
from tests.intent.readers import queries


def probability(text: str, cues: CueSet | None = None) -> float:
    evidence = detectors(cues or default_cues())["en"].at_end(text)
    return evidence.probability if evidence is not None else 0.0


def weight(name: str) -> float:
    return next(cue.weight for cue in default_cues().cues if cue.name == name)


def test_every_language_has_cues() -> None:
    """The package brings intent, search and negative cues for each language it names."""
    for language in LANGUAGES:
        roles = {cue.role for cue in default_cues().cues if cue.language == language}
        assert roles >= {"intent", "search", "against"}


def test_probability_is_a_noisy_or_with_inhibitors() -> None:
    """P = (1 - prod(1 - w)) * prod(1 - v) over the cues that are present."""
    positive = 1 - (1 - weight("en.need_to")) * (1 - weight("en.search"))
    assert probability("I need to search") == pytest.approx(positive)
    assert probability("I need to not search") == pytest.approx(positive * (1 - weight("en.negated")))
    both = (1 - weight("en.negated")) * (1 - weight("en.conditional"))
    assert probability("If so I need to not search") == pytest.approx(positive * both)


def test_no_cue_decides_alone() -> None:
    """No weight of the package reaches the default threshold: the bare word "search" never fires."""
    positive = [cue.weight for cue in default_cues().cues if cue.role in ("intent", "search")]
    assert max(positive) < IntentSettings().threshold
    assert queries("Search engines search. The search for Lake Baikal was long. Search results: Lake Baikal.") == []


def test_reweighing_and_removing() -> None:
    """A cue with another weight, or none, changes what is detected; the original set stays as it was."""
    text = "I need to search for Lake Baikal."
    cues = default_cues()
    assert queries(text) == ["Lake Baikal"]
    assert queries(text, settings=IntentSettings(cues=cues.reweigh({"en.need_to": 0.1}))) == []
    assert queries(text, settings=IntentSettings(cues=cues.remove("en.search"))) == []
    assert queries(text, settings=IntentSettings(cues=cues)) == ["Lake Baikal"]


def test_adding() -> None:
    """A user's own phrase is recognised like the package's."""
    text = "I need to spelunk for Lake Baikal."
    own = default_cues().add(Cue(name="en.spelunk", role="search", weight=0.6, phrases=("spelunk",)))
    assert queries(text) == []
    assert queries(text, settings=IntentSettings(cues=own)) == ["Lake Baikal"]


def test_describe_prints_every_cue() -> None:
    """The printed set names each cue, its weight and its phrases."""
    lines = default_cues().describe().splitlines()
    assert len(lines) == len(default_cues().cues)
    assert any("en.need_to" in line and "0.60" in line and "i need to" in line for line in lines)


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "need_to"},
        {"name": "fr.chercher"},
        {"weight": 1.5},
        {"phrases": ()},
        {"phrases": ("Search",)},
        {"phrases": (" ",)},
    ],
)
def test_bad_cues_are_refused(fields: dict[str, object]) -> None:
    """A cue in an unknown language, out of range, or that could never match is an error when it is made."""
    good: dict[str, object] = {"name": "en.own", "role": "search", "weight": 0.5, "phrases": ("seek",)}
    with pytest.raises(ConfigurationError):
        Cue(**{**good, **fields})  # type: ignore[arg-type]


def test_unknown_and_double_names_are_refused() -> None:
    """A name that is not there, or already there, is named in the error."""
    cues = default_cues()
    with pytest.raises(ConfigurationError, match=r"en\.nothing"):
        cues.remove("en.nothing")
    with pytest.raises(ConfigurationError, match=r"en\.nothing"):
        cues.reweigh({"en.nothing": 0.1})
    with pytest.raises(ConfigurationError, match=r"en\.search"):
        cues.add(next(cue for cue in cues.cues if cue.name == "en.search"))


def test_cue_sets_are_values() -> None:
    """Equal cues make equal, hashable sets, and nobody can change one."""
    cues = default_cues()
    assert CueSet(cues.cues) == cues
    assert hash(CueSet(cues.cues)) == hash(cues)
    with pytest.raises(dataclasses.FrozenInstanceError):
        cues.cues = ()  # type: ignore[misc]


@pytest.mark.parametrize("fields", [{"threshold": 1.1}, {"min_probability": -0.1}, {"max_guesses": -1}])
def test_bad_settings_are_refused(fields: dict[str, float]) -> None:
    """Settings out of range are an error when they are made."""
    with pytest.raises(ConfigurationError, match=next(iter(fields))):
        IntentSettings(**fields)  # type: ignore[arg-type]
