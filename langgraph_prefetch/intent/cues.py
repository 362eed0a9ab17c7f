"""The cue set: which words say that a search is coming, as data a user can read and change."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any, Literal

from langgraph_prefetch.errors import ConfigurationError

Role = Literal["intent", "search", "against", "pardon"]
Order = Literal["verb_object", "object_verb"]
LANGUAGES = ("en", "ko", "zh", "ja")
"""Languages with cue data in the package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """One piece of evidence for or against a coming search.

    Attributes:
        name: ``language.word``, e.g. ``en.need_to``; unique in a set.
        role: ``intent`` (wanting to act), ``search`` (the act), ``against`` (negated, done, conditional, reported),
            or ``pardon`` (contains an ``against`` phrase but does not mean it: "not only").
        weight: probability in [0, 1] that the cue alone decides; how weights combine stands in `detector`.
        phrases: what is looked for, lower case. Words of English match whole words only.
        scope: how far an ``against`` cue reaches: the clause of the search cue, or its whole sentence.
    """

    name: str
    role: Role
    weight: float
    phrases: tuple[str, ...]
    scope: Literal["clause", "sentence"] = "clause"

    def __post_init__(self) -> None:
        if self.language not in LANGUAGES:
            raise ConfigurationError(f"a cue's name starts with one of {', '.join(LANGUAGES)} and a dot: {self.name!r}")
        if not 0 <= self.weight <= 1:
            raise ConfigurationError(f"the weight of {self.name} must be in [0, 1], not {self.weight!r}")
        if not self.phrases or any(phrase != phrase.lower() or not phrase.strip() for phrase in self.phrases):
            raise ConfigurationError(f"the phrases of {self.name} must be lower case and not empty")

    @property
    def language(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Grammar:
    """Where a language puts a search's object, and the words around it that are not part of the query.

    There is one object a language (see `grammar`), compared by identity so that compiled patterns are found fast.

    Attributes:
        order: whether the object follows the search cue or stands before it.
        lead: dropped in front of the object ("for", "information about").
        article: dropped in front of the object after ``lead``.
        tail: dropped behind the object (particles, "on Wikipedia").
        cut: where an object ends although the sentence goes on ("then", "which").
        follow: verbs which show, behind "and" or "to", that a new clause starts there.
        adverbs: dropped behind the object, where a clause ends after them ("next", "instead").
        kinds: words that only say what kind of thing a name is ("movie", "song").
        relative: words of ``cut`` that begin a description of the object.
        vague: words that an object starts with when it names nothing ("it", "each").
        abbreviations: words whose full stop ends no sentence.
    """

    order: Order = "verb_object"
    lead: tuple[str, ...] = ()
    article: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    follow: tuple[str, ...] = ()
    adverbs: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    relative: tuple[str, ...] = ()
    vague: tuple[str, ...] = ()
    abbreviations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CueSet:
    """A frozen set of cues; every change returns a new set.

    Attributes:
        cues: the cues.
        rates: rows of `likelihood.RATES` that differ from those of the package, with their probabilities; they were
            fitted to somebody's own agents.
    """

    cues: tuple[Cue, ...]
    rates: tuple[tuple[str, float], ...] = ()
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Every model call looks its compiled cues up by this hash, so it is computed once.
        object.__setattr__(self, "_hash", hash((self.cues, self.rates)))
        if wrong := [name for name, rate in self.rates if not 0 <= rate <= 1]:
            raise ConfigurationError(f"a rate must be in [0, 1]: {', '.join(wrong)}")
        names = [cue.name for cue in self.cues]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ConfigurationError(f"cue names must be unique; given twice: {', '.join(sorted(twice))}")

    def __hash__(self) -> int:
        return self._hash

    def add(self, *cues: Cue) -> CueSet:
        """With further cues. Raises ConfigurationError for a name that is taken."""
        return replace(self, cues=self.cues + cues)

    def remove(self, *names: str) -> CueSet:
        """Without these cues. Raises ConfigurationError for an unknown name."""
        self._require(names)
        return replace(self, cues=tuple(cue for cue in self.cues if cue.name not in names))

    def reweigh(self, weights: Mapping[str, float]) -> CueSet:
        """With other weights, by cue name. Raises ConfigurationError for an unknown name."""
        self._require(weights)
        return replace(self, cues=tuple(replace(cue, weight=weights.get(cue.name, cue.weight)) for cue in self.cues))

    def rate(self, rates: Mapping[str, float]) -> CueSet:
        """With these rates in place of those of the package. Raises ConfigurationError for one outside [0, 1]."""
        return replace(self, rates=tuple(sorted({**dict(self.rates), **rates}.items())))

    def describe(self) -> str:
        """One line a cue: name, role, weight, phrases."""
        lines = (f"{cue.name:16} {cue.role:8} {cue.weight:4.2f}  {' | '.join(cue.phrases)}" for cue in self.cues)
        return "\n".join(lines)

    def _require(self, names: Iterable[str]) -> None:
        known = {cue.name for cue in self.cues}
        if unknown := sorted(set(names) - known):
            raise ConfigurationError(f"no cue named {', '.join(unknown)}; there are {', '.join(sorted(known))}")


@cache
def default_cues() -> CueSet:
    """The cues that come with the package, read from ``cue_data/*.toml``."""
    return CueSet(tuple(cue for language in LANGUAGES for cue in _cues(language)))


@cache
def grammar(language: str) -> Grammar:
    """The grammar that comes with the package for one of `LANGUAGES`."""
    data = _data(language)
    parts = {name: tuple(words) for name, words in data.get("object", {}).items()}
    return Grammar(order=data["order"], **parts)


def _cues(language: str) -> Iterable[Cue]:
    for entry in _data(language)["cue"]:
        yield Cue(**{**entry, "name": f"{language}.{entry['name']}", "phrases": tuple(entry["phrases"])})


@cache
def _data(language: str) -> dict[str, Any]:
    file = resources.files("langgraph_prefetch.intent") / "cue_data" / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))
