"""What a suite is given and what it gives back; `langgraph-prefetch eval` knows no more of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from langgraph_prefetch.evaluation.reporting.values import SuiteReport

ROWS_FILE = "rows.jsonl"
"""In the folder of a run: a line for each run of an agent."""
BENCH_FILE = "bench.json"
"""In the folder of a run: what its runs were made on. A resumed run has to find the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What a run may cost at most, or is expected to; None: no limit, or not known.

    Attributes:
        calls: of judges.
        money: in the currency of the price file.
    """

    calls: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What a suite would do, counted without doing it."""

    runs: int
    judge_calls: int
    spending: Spending
    seconds: float | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteContext:
    """Everything a suite may depend on.

    Attributes:
        settings: the tables of the suite's file, with its ``[smoke]`` table laid over them in a smoke run.
        data: the folder of the suite's file, where questions and prices lie.
        out: a folder of this run's own; rows, transcripts and reports go there, and a resumed run reads them back.
        seed: of every random choice.
        smoke: small sizes, scripted models, minutes at most.
        resume: take what stands in ``out`` as done.
        model: of the agent, as LangChain names it; None for the scripted one.
        judges: models that judge, as LangChain names them; empty for the scripted one.
        budget: what may be spent; the suite stops there with what it has, and says so.
        make_agent: makes the user's own compiled graph; None for the suite's.
        tools: the search tools of that graph.
        questions: a file of questions to ask instead of the suite's own.
        inputs: files given in place of the suite's own, by what they are: ``recordings`` (for the intent suite),
            ``rows`` (of an earlier run, for ``cost`` and ``quality``), ``prices`` (one file); what a suite
            does not read it ignores.
        target: where searches are executed and results kept: ``local`` or ``aws``.
        say: takes a line for the person who waits.
    """

    settings: Mapping[str, Any]
    data: Path
    out: Path
    seed: int
    smoke: bool = False
    resume: bool = False
    model: str | None = None
    judges: tuple[str, ...] = ()
    budget: Spending = Spending()
    make_agent: Callable[[], Any] | None = None
    tools: Sequence[str] = ("search",)
    questions: Path | None = None
    inputs: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    target: str = "local"
    say: Callable[[str], None] = lambda line: None


class Suite(Protocol):
    """A module of this room: ``speed``, ``study``, ``quality``, ``cost`` or ``intent``."""

    def plan(self, context: SuiteContext) -> Planned:
        """Count what ``run`` would do; nothing is called."""
        ...

    async def run(self, context: SuiteContext) -> SuiteReport:
        """Do it."""
        ...
