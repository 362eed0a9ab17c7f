"""Evaluations: files they are made of, and runs that cannot go on."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class EvaluationFileError(PrefetchError):
    """A suite, a set of questions or rows of an evaluation that cannot be read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class OtherEvaluationError(ConfigurationError):
    """The folder holds another evaluation than the one that is to be resumed, or one that nobody wants to resume."""
