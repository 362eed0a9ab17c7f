"""P(search) of recorded thoughts, with what the steps then did."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from langgraph_prefetch.evaluation.fit_reading import Spoken, spoken
from langgraph_prefetch.evaluation.readings.language import first_known
from langgraph_prefetch.evaluation.traces import Episode, Recording
from langgraph_prefetch.intent.clauses import ClauseReader
from langgraph_prefetch.intent.cues import CueSet, grammar
from langgraph_prefetch.intent.detector import detectors
from langgraph_prefetch.intent.directives import DirectiveReader

MAX_MODEL_CHARS = 28


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What the reader said of one thought, and what came.

    Attributes:
        file: the recording's name, without its folders.
        model: who wrote the thought, empty where the recording does not say.
        language: such as ``ko``; ``unknown`` where neither recording nor script tell.
        probability: the highest P(search) of its clauses; 0 where none is a directive.
        searched: whether the step made a search call.
        question: of its run.
    """

    file: str
    model: str
    language: str
    probability: float
    searched: bool
    question: str

    @property
    def group(self) -> str:
        """File, model and language as one label."""
        return " · ".join(part for part in (self.file, self.model, self.language) if part)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A recording as the reader hears it: each episode with its steps."""

    file: str
    runs: tuple[tuple[Episode, tuple[Spoken, ...]], ...]

    @property
    def steps(self) -> Iterator[Spoken]:
        """All steps, in order."""
        return (step for _, steps in self.runs for step in steps)

    @property
    def languages(self) -> frozenset[str]:
        """Those of its thoughts."""
        return frozenset(language(episode, step) for episode, steps in self.runs for step in steps)


def hear(recordings: Sequence[Recording], tools: Collection[str]) -> tuple[Heard, ...]:
    """Recordings by name: the file's alone, and with its folders where two files have one."""
    stems = [Path(each.file).stem for each in recordings]
    names = [stem if stems.count(stem) == 1 else each.file for stem, each in zip(stems, recordings, strict=True)]
    return tuple(
        Heard(
            file=name,
            runs=tuple(
                (episode, tuple(steps))
                for episode, steps in zip(each.episodes, spoken(each.episodes, tools, each.episodes), strict=True)
            ),
        )
        for name, each in zip(names, recordings, strict=True)
    )


def forecasts(heard: Heard, cues: CueSet, threshold: float) -> Iterator[Forecast]:
    """One forecast a step.

    Args:
        heard: the recording.
        cues: the language of intent.
        threshold: from which a clause opens a directive in a live agent. A reader that opens at less reads on from
            other places, so each thought is read at both, and the higher P(search) counts: it is at least ``threshold``
            exactly where the live reader fires.
    """
    for episode, steps in heard.runs:
        for step in steps:
            yield Forecast(
                file=heard.file,
                model=_short(episode.model),
                language=language(episode, step),
                probability=max(p_search(step.text, cues, at) for at in (0.0, threshold)),
                searched=step.query is not None,
                question=step.group,
            )


def p_search(text: str, cues: CueSet, threshold: float) -> float:
    """The highest P(search) among the directives of ``text`` that reach ``threshold``; 0 without any."""
    own = detectors(cues)
    english = DirectiveReader(own["en"], grammar("en"), threshold)
    eastern = ClauseReader(own, threshold)
    found = [each.evidence for each in (*english.feed(text), *english.finish())]
    found.extend(each.evidence for each in (*eastern.feed(text), *eastern.finish()))
    return max((each.probability for each in found), default=0.0)


def language(episode: Episode, step: Spoken) -> str:
    """As the recording says, else by the script of the thought, else of the question."""
    return episode.language or first_known((step.text, episode.question))


def _short(model: str) -> str:
    """A model's name without what is said about it."""
    name = model.partition("(")[0].strip() or model
    return name if len(name) <= MAX_MODEL_CHARS else name[: MAX_MODEL_CHARS - 1].rstrip() + "…"
