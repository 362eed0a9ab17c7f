"""What recorded steps say, as evidence to fit cues by: directives and candidates, with what came of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from langgraph_prefetch.evaluation.arguments import arguments_of, query_argument, spoken_query
from langgraph_prefetch.evaluation.streams import ENDINGS, MESSAGES
from langgraph_prefetch.evaluation.traces import Episode, RecordedStep
from langgraph_prefetch.intent.clauses import ClauseReader
from langgraph_prefetch.intent.cues import CueSet, grammar
from langgraph_prefetch.intent.detector import detectors
from langgraph_prefetch.intent.directives import DirectiveReader
from langgraph_prefetch.intent.likelihood import Habit
from langgraph_prefetch.intent.queries import Guesser
from langgraph_prefetch.intent.reader import IntentSettings
from langgraph_prefetch.intent.think_tags import ThinkTagSplitter
from langgraph_prefetch.values import Guess

WEAK = 0.3
"""P(search) from which a directive counts as evidence on its cues, well below what may start a guess."""
_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class Directive:
    """An intent cue and a search cue in one clause, nothing said against them, and whether the step searched."""

    intent: str
    verb: str
    searched: bool
    question: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One possible guess: the row of the rates it falls into, and whether the run asked it from then on."""

    row: str
    right: bool
    question: str


@dataclass(frozen=True, slots=True)
class Spoken:
    """One step as the reader hears it: text, what the run had asked before, and the query it then asked, if any.

    ``group`` is the run's question, or a name of its own where it has none.
    """

    group: str
    text: str
    habit: Habit
    query: str | None
    later: frozenset[str]


def spoken(episodes: Iterable[Episode], tools: Collection[str], everybody: Iterable[Episode]) -> Iterator[list[Spoken]]:
    """The steps of each episode. ``everybody``: all episodes, which show the agents' tools and arguments."""
    everybody = list(everybody)
    arguments = {tool: query_argument(everybody, tool) for tool in tools}
    called = {step.action for episode in everybody for step in episode.steps} - MESSAGES - ENDINGS
    looks_up = any("lookup" in name.lower().replace("_", "").replace("-", "").replace(" ", "") for name in called)
    for run, episode in enumerate(episodes):
        group = episode.question or f"run {run}"
        queries = [_query(step, arguments) for step in episode.steps]
        yield [
            Spoken(
                group,
                _plain(step.thought),
                Habit(
                    episode.question, tuple(each for each in queries[:number] if each is not None), looks_up=looks_up
                ),
                queries[number],
                frozenset(each for each in queries[number:] if each is not None),
            )
            for number, step in enumerate(episode.steps)
        ]


def directives(step: Spoken, cues: CueSet) -> Iterator[Directive]:
    """The directives of a step that nothing speaks against."""
    own = detectors(cues)
    english, eastern = DirectiveReader(own["en"], grammar("en"), WEAK), ClauseReader(own, WEAK)
    weights = {cue.name: cue.weight for cue in cues.cues}
    readings = (*english.feed(step.text), *english.finish())
    found = [reading.evidence for reading in readings if reading.finished]
    found.extend(each.evidence for each in (*eastern.feed(step.text), *eastern.finish()))
    for each in found:
        alone = 1 - (1 - weights[each.cue]) * (1 - weights[each.verb])
        if each.probability > alone - 1e-9:
            yield Directive(each.cue, each.verb, step.query is not None, step.group)


def guesses(step: Spoken, cues: CueSet, *, every: bool = False) -> list[Guess]:
    """The guesses of a step at the default settings, or ``every`` candidate of its directives."""
    settings = IntentSettings()
    guesser = Guesser(
        cues,
        step.habit,
        threshold=settings.threshold,
        min_probability=0.0 if every else settings.min_probability,
        max_guesses=_EVERY if every else settings.max_guesses,
    )
    return [*guesser.feed(step.text), *guesser.finish()]


def candidates(step: Spoken, cues: CueSet) -> Iterator[Candidate]:
    """Every candidate of a step."""
    for guess in guesses(step, cues, every=True):
        yield Candidate(guess.kind, guess.query in step.later, step.group)


def _query(step: RecordedStep, arguments: dict[str, str | None]) -> str | None:
    if step.action not in arguments:
        return None
    return spoken_query(arguments_of(step), arguments[step.action]) or ""


def _plain(text: str) -> str:
    splitter = ThinkTagSplitter()
    return "".join(span.text for span in (*splitter.feed(text), *splitter.finish()))
