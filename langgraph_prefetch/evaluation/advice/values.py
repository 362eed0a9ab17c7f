"""Evidence about a tool, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from langgraph_prefetch.evaluation.advice.figures import ModeFigures, Prices
from langgraph_prefetch.evaluation.advice.names import Suspicion
from langgraph_prefetch.evaluation.advice.readable import Readability
from langgraph_prefetch.evaluation.advice.tools import ToolFacts


class Verdict(StrEnum):
    """Whether to turn prefetch on for a tool."""

    RECOMMENDED = "recommended"
    NOT_WORTH_IT = "not worth it"
    TOO_LITTLE_DATA = "too little data"
    CANNOT_TELL = "cannot tell"


SEALED, REASONING, REUSE = "exact, sealed calls only", "exact, with reasoning", "exact, with reuse"
BOUNDED, VERIFIED, AS_IT_RAN = "bounded near misses", "verified", "as it ran"
PASTED = "with the code below"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the traces tell about one tool.

    Attributes:
        facts: its calls.
        suspicion: what its name says.
        named: the user gave their word that it only reads.
        readable: how early its queries stood in the stream; None where the traces hold no text.
        run_seconds: how long the agent takes for each call of the tool, model and tools together; None if unknown.
        modes: what each serve mode would bring, by name, in the order of :data:`SEALED` and so on.
        measured: whether anything was played; False where there are too few calls or the name acts.
    """

    facts: ToolFacts
    suspicion: Suspicion
    named: bool = False
    readable: Readability | None = None
    run_seconds: float | None = None
    modes: Mapping[str, ModeFigures] = field(default_factory=dict)
    measured: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What follows for one tool.

    Attributes:
        evidence: what it rests on.
        verdict: whether to turn prefetch on.
        reasons: why, the decisive one first.
        guess: start its searches from reasoning too; without, from closed arguments alone.
        reuse: answering equal calls of a run from the first one would bring more.
        more: modes that would hide more, at a price that the text names.
    """

    evidence: Evidence
    verdict: Verdict
    reasons: tuple[str, ...]
    guess: bool = False
    reuse: bool = False
    more: tuple[str, ...] = ()

    @property
    def tool(self) -> str:
        """Its name."""
        return self.evidence.facts.name

    @property
    def mode(self) -> str:
        """The recommended mode."""
        return REASONING if self.guess else SEALED


@dataclass(frozen=True, slots=True, kw_only=True)
class Advised:
    """All that is said of some traces.

    Attributes:
        files: each with its format, runs and skipped records.
        runs, model_calls: how many.
        timing: how many model calls were timed by recorded tokens, by recorded durations, by assumption.
        tool_timing: tool calls with a recorded duration, and all.
        assumptions: what was not recorded and had to be assumed, in words.
        prices: in which costs are weighed.
        advice: for each tool, those to turn it on for first, then the one called most.
        code: to paste; empty where nothing is recommended.
        pasted: what exactly that code would bring for each tool that it names, from one more replay.
        verified_code: the same for verified serving; empty where that would not bring more.
    """

    files: tuple[tuple[str, str, int, int], ...]
    runs: int
    model_calls: int
    timing: Mapping[str, int]
    tool_timing: tuple[int, int]
    assumptions: tuple[str, ...]
    prices: Prices
    advice: tuple[Advice, ...]
    code: str = ""
    pasted: Mapping[str, ModeFigures] = field(default_factory=dict)
    verified_code: str = ""
