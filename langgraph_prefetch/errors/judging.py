"""Judges of answers, and the files that keep their verdicts."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class NoJudgeError(ConfigurationError):
    """Answers are to be judged, and there is no judge."""

    def __init__(self) -> None:
        super().__init__("missing judge: name a model with --judge PROVIDER:MODEL, or pass judges=[Judge(…)]")


class JudgeModelError(ConfigurationError):
    """A judge's model cannot be used: it cannot be made, or has no structured output."""

    def __init__(self, judge: str, model: str, reason: str = "") -> None:
        self.judge, self.model = judge, model
        why = reason or f"{model} has no structured output; take a model whose with_structured_output works"
        super().__init__(f"the judge {judge!r} cannot be used: {why}")


class NothingToJudgeError(ConfigurationError):
    """There is no sample or pair; the message says what was looked for."""


class MissingPartError(ConfigurationError):
    """A rubric or metric needs a part, such as references, that no sample has."""

    def __init__(self, metric: str, part: str, samples: int) -> None:
        self.metric, self.part, self.samples = metric, part, samples
        super().__init__(
            f"{metric} needs {part}, and none of the {samples} samples has any: add them to the questions, or leave "
            f"{metric} out"
        )


class LowCoverageError(PrefetchError):
    """Too few samples got a verdict for the rest to be silent about."""

    def __init__(self, what: str, scored: int, asked: int, minimum: float, reasons: str) -> None:
        self.scored, self.asked, self.minimum = scored, asked, minimum
        share = f"{scored / asked:.0%}" if asked else "none"
        because = f": {reasons}" if reasons else ""
        super().__init__(f"{scored} of {asked} {what} ({share}), less than the {minimum:.0%} asked for{because}")


class VerdictFileError(PrefetchError):
    """A file of verdicts cannot be read or written, or was written in a format that is newer than ours."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")
