"""Documents and plans that an ingestion cannot use."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class PlanError(ConfigurationError):
    """A plan that says nothing that could be run, or that lacks what an operator is to do."""


class UnreadableDocumentError(PrefetchError):
    """A document cannot be decoded or parsed, or says nothing; an ingestion skips it, with this as the reason."""


class IngestError(PrefetchError):
    """An ingestion had to stop. What it had written is whole, and stays; run again, it goes on from there."""

    def __init__(self, stage: str, reason: str) -> None:
        self.stage, self.reason = stage, reason
        super().__init__(f"ingestion stopped in {stage}: {reason}")


class DocumentOrderError(IngestError):
    """A source's documents came in several places of a stream, so that a rerun could not tell if they have changed."""

    def __init__(self, source: str) -> None:
        self.source = source
        super().__init__(
            "load",
            f"documents of {source!r} came before and after those of others: hand in a list, which is put in order, or "
            "give each source's documents one after the other",
        )


class OperatorTraceError(PrefetchError):
    """A trace of operators cannot be opened, or a line of it is no step."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")
