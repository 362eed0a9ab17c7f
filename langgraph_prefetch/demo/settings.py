"""What a user may set, checked once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from langgraph_prefetch.demo.questions import QUESTIONS
from langgraph_prefetch.errors import ConfigurationError


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """The demo's options.

    Attributes:
        questions: how many, from the first on.
        latency_seconds: added to every search.
        tokens_per_second: of the scripted model.
        model: as LangChain names it; None for the scripted one.
    """

    questions: int = len(QUESTIONS)
    latency_seconds: float = 0.5
    tokens_per_second: float = 50.0
    model: str | None = None

    def __post_init__(self) -> None:
        if self.model == "":
            raise ConfigurationError("--model needs a name")
        if not 1 <= self.questions <= len(QUESTIONS):
            raise ConfigurationError(f"--questions must be from 1 to {len(QUESTIONS)}, not {self.questions}")
        if not (math.isfinite(self.latency_seconds) and self.latency_seconds >= 0):
            raise ConfigurationError(f"--latency must be 0 or more seconds, not {self.latency_seconds:g}")
        if not (math.isfinite(self.tokens_per_second) and self.tokens_per_second > 0):
            raise ConfigurationError(f"--tokens-per-second must be above 0, not {self.tokens_per_second:g}")
