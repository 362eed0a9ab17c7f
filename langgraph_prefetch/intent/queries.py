"""Guesses: candidate queries of the running text, ranked, with a probability each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from langgraph_prefetch.intent.clauses import ClauseObject, ClauseReader
from langgraph_prefetch.intent.cues import CueSet, grammar
from langgraph_prefetch.intent.detector import Evidence, detectors
from langgraph_prefetch.intent.directives import DirectiveReader, Reading
from langgraph_prefetch.intent.forms import Candidate, Form, candidates, early_candidates, vague
from langgraph_prefetch.intent.likelihood import Habit, Shape, likelihood, rates_of, row, shape
from langgraph_prefetch.intent.objects import MAX_OBJECT_CHARS
from langgraph_prefetch.intent.safety import may_leave
from langgraph_prefetch.values import Guess

_WORD = re.compile(r"[^\W_]+")
_SAME_WORDS = 0.75
_HISTORY = 8
_MAX_DIRECTIVES = 100


class Guesser:
    """Turns the text of one model message into guesses, each as soon as its query has ended.

    A guess is made when its clause reaches ``threshold``, its likelihood ``min_probability``, and fewer than
    ``max_guesses`` have been made. Its probability is that likelihood: the rates were counted over clauses which had
    reached the threshold, so P(search) is in them already. One text is guessed once. Of the candidates that a
    directive offers at the same moment the likeliest comes first; what is certain early is not held back for a better
    one. After a hundred directives a message is taken for noise and read no further.
    """

    __slots__ = (
        "_clauses",
        "_directives",
        "_directives_left",
        "_habit",
        "_left",
        "_min_probability",
        "_rates",
        "_seen",
    )

    def __init__(
        self, cues: CueSet, habit: Habit, *, threshold: float, min_probability: float, max_guesses: int
    ) -> None:
        own = detectors(cues)
        self._directives = DirectiveReader(own["en"], grammar("en"), threshold)
        self._clauses = ClauseReader(own, threshold)
        self._habit = habit
        self._rates = rates_of(cues)
        self._min_probability = min_probability
        self._left = max_guesses
        self._directives_left = _MAX_DIRECTIVES
        self._seen: set[str] = set()

    def feed(self, text: str) -> list[Guess]:
        """Guesses that ``text`` made certain."""
        if not self._left:
            return []
        return self._guesses(self._directives.feed(text), self._clauses.feed(text))

    def finish(self) -> list[Guess]:
        """Guesses that only a following word could still have changed."""
        if not self._left:
            return []
        return self._guesses(self._directives.finish(), self._clauses.finish())

    def _guesses(self, readings: Iterable[Reading], objects: Iterable[ClauseObject]) -> list[Guess]:
        guesses: list[Guess] = []
        for reading in readings:
            self._directives_left -= reading.finished
            if not self._directives_left:
                self._left = 0
                break
            guesses.extend(self._ranked(reading.evidence, self._candidates(reading), reading.offset))
        for each in objects:
            guesses.extend(self._ranked(each.evidence, [Candidate(each.text, Form.CLAUSE, 0)], each.end))
        return guesses

    def _candidates(self, reading: Reading) -> list[Candidate]:
        if not reading.finished:
            return early_candidates(reading.text, grammar("en"))
        if len(reading.text) > MAX_OBJECT_CHARS:
            return []

        def known(text: str) -> bool:
            seen = (reading.past, self._habit.question, *self._habit.earlier)
            return any(text in each for each in seen)

        found = candidates(reading.text, grammar("en"), known=known, past=reading.past)
        if reading.described:
            # "the film that …": the description goes on, so that what has been read is no query, except a name.
            found = [each for each in found if shape(each.text) is Shape.NAME]
        return found + self._history(reading.text)

    def _history(self, text: str) -> list[Candidate]:
        """The earlier query that says nearly the same, else the last one where the object names nothing."""
        earlier = self._habit.earlier
        if not earlier:
            return []
        own = set(_WORD.findall(text.lower()))
        for query in reversed(earlier[-_HISTORY:]):
            words = set(_WORD.findall(query.lower()))
            if query != text.strip() and len(words & own) >= _SAME_WORDS * len(words | own):
                return [Candidate(query, Form.HISTORY, len(text))]
        body = text.strip()
        if not body or vague(body, grammar("en")) or body[0].islower():
            return [Candidate(earlier[-1], Form.HISTORY, len(text))]
        return []

    def _ranked(self, evidence: Evidence, found: Iterable[Candidate], offset: int) -> Iterator[Guess]:
        new = (each for each in found if each.text not in self._seen)
        rated = [(likelihood(each, evidence.verb, self._habit, self._rates), each) for each in new]
        for likely, each in sorted(rated, key=lambda pair: -pair[0]):
            if not self._left:
                return
            if likely < self._min_probability or each.text in self._seen or not may_leave(each.text):
                continue
            self._seen.add(each.text)
            self._left -= 1
            yield Guess(
                query=each.text,
                probability=likely,
                cue=_cue(evidence, each),
                end=offset + each.end,
                kind=row(each, evidence.verb, self._habit),
            )


def _cue(evidence: Evidence, candidate: Candidate) -> str:
    """What was recognised: the intent cue, or the source that is not the running text."""
    match candidate.form:
        case Form.HISTORY:
            return "history"
        case Form.BEFORE:
            return "name"
    return evidence.cue
