"""How much a suite does, as its file says under ``[runs]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Sizes of a suite.

    Attributes:
        batches, repeats: how often every question is asked of every arm: ``repeats`` times in each of ``batches``.
        warm: ask everything once more, with what the first time found kept.
        concurrency: runs at once; above 1 they disturb each other's times.
        timeout_seconds: of one run.
        check_passages: make every search again after its run, to see whether it gives the same.
        pace: how long a run takes against one of the full suite, for the estimate of a dry run.
    """

    batches: int = 1
    repeats: int = 1
    warm: bool = False
    concurrency: int = 1
    timeout_seconds: float = 300.0
    check_passages: bool = True
    pace: float = 1.0

    def __post_init__(self) -> None:
        for name in ("batches", "repeats", "concurrency"):
            require_at_least(name, getattr(self, name), 1)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Sizes:
        """From the suite's file.

        Raises:
            ConfigurationError: a name that is no size, or a value out of its range.
        """
        given = settings.get("runs", {})
        known = [each.name for each in fields(cls)]
        for name in given:
            if name not in known:
                raise ConfigurationError(f"[runs] has no {name!r}.{did_you_mean(name, known)}")
        return cls(**given)
