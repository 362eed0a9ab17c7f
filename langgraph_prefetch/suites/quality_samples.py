"""From rows of runs to what judges see: samples, pairs of them, and controls that must be found worse. Pure."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from langgraph_prefetch.evaluation.judging.values import Sample
from langgraph_prefetch.evaluation.rows import RunRow

CORRUPTED = "corrupted"


def sample_of(row: RunRow) -> Sample:
    """What a judge sees of a run. Its contexts are what its searches gave, each passage once."""
    found = dict.fromkeys(passage for search in row.searches for passage in search.passages if passage.strip())
    return Sample(
        question_id=row.question_id,
        question=row.question,
        answer=row.answer,
        arm=row.arm,
        run=f"batch {row.batch}, repeat {row.repeat}{', warm' if row.warm else ''}",
        reference=row.reference,
        contexts=tuple(found),
        language=row.language,
        kind=row.kind,
        error=row.error,
    )


def pairs_of(samples: Sequence[Sample], first: str, second: str) -> list[tuple[Sample, Sample]]:
    """Each sample of the first arm with that of the second: failed ones too, so that they are counted."""
    others = {(sample.question_id, sample.run): sample for sample in samples if sample.arm == second}
    firsts = [sample for sample in samples if sample.arm == first]
    return [(one, others[key]) for one in firsts if (key := (one.question_id, one.run)) in others]


def one_each(samples: Iterable[Sample], arm: str, most: int, seed: int) -> list[Sample]:
    """Of an arm one answered sample of each question, at most ``most`` of them, chosen by ``seed``."""
    found: dict[str, Sample] = {}
    for sample in samples:
        if sample.arm == arm and sample.error is None and sample.answer.strip():
            found.setdefault(sample.question_id, sample)
    chosen = random.Random(seed).sample(sorted(found), min(most, len(found)))  # noqa: S311 - not for secrets
    return [found[name] for name in sorted(chosen)]


def with_others_answers(samples: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Each sample beside itself with the answer to another question, of its own language where there is one."""

    def fits(sample: Sample, other: Sample) -> bool:
        return other.answer.strip() != sample.answer.strip()

    exchanged = _exchanged(samples, fits)
    return [(sample, replace(sample, arm=CORRUPTED, answer=other.answer)) for sample, other in exchanged]


def with_others_contexts(samples: Sequence[Sample]) -> list[tuple[Sample, Sample]]:
    """Each sample that has contexts beside itself with those of another question, none of them its own."""

    def fits(sample: Sample, other: Sample) -> bool:
        return not {*other.contexts} & {*sample.contexts}

    exchanged = _exchanged([sample for sample in samples if sample.contexts], fits)
    return [(sample, replace(sample, arm=CORRUPTED, contexts=other.contexts)) for sample, other in exchanged]


def _exchanged(samples: Sequence[Sample], fits: Callable[[Sample, Sample], bool]) -> list[tuple[Sample, Sample]]:
    """Each sample with the first that fits, from half-way round the circle on; those of its own language first."""
    found = []
    for place, sample in enumerate(samples):
        start = place + max(1, len(samples) // 2)
        circle = [samples[(start + step) % len(samples)] for step in range(len(samples))]
        others = [other for other in circle if other.question_id != sample.question_id and fits(sample, other)]
        own = [other for other in others if other.language == sample.language]
        if others:
            found.append((sample, (own or others)[0]))
    return found
