"""The agents of a suite, as they are compared: the suite's own on a store of its own, or the user's.

- ``bare``: the agent as it is;
- ``wrapped``: with prefetch;
- ``direct``: wrapped, with speculation switched off, so that a call goes the same way and searches when it comes;
- ``reasoning``: wrapped, and searches start from what the model thinks alone, never from a call as it is written.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool

from langgraph_prefetch import Budgets, with_prefetch
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.trials import SCOPE, Agent, Arm, Check, Question, claim
from langgraph_prefetch.evaluation.trials.recording import passages_of
from langgraph_prefetch.graph.survey import tool_nodes
from langgraph_prefetch.suites.contract import BENCH_FILE, SuiteContext
from langgraph_prefetch.suites.questions import questions_of
from langgraph_prefetch.suites.scopes import scopes

BARE, WRAPPED, DIRECT, REASONING = "bare", "wrapped", "direct", "reasoning"
ARMS = (BARE, WRAPPED, DIRECT)
REUSE_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What a suite runs its questions on.

    Attributes:
        questions: what is asked.
        arms: by name, see above.
        tools: those whose calls are searches.
        check: makes a search again, to see whether what a call got is what it would have got; None: cannot be done.
        model: of the agent: ``scripted``, as LangChain names it, or ``own`` for a user's agent.
        described: what all of this is, for the report.
    """

    questions: tuple[Question, ...]
    arms: Mapping[str, Arm]
    tools: tuple[str, ...]
    check: Check | None
    model: str
    described: Mapping[str, str]

    @property
    def by_id(self) -> dict[str, Question]:
        """The questions by id."""
        return {question.id: question for question in self.questions}


@asynccontextmanager
async def open_bench(context: SuiteContext) -> AsyncIterator[Bench]:
    """The user's agent, where the context has one, else the agent that the suite's file describes.

    Its ``[agent]`` has ``kind`` (``demo``, or ``files`` with ``questions`` and ``passages``), ``latency_seconds``
    added to each search, and ``tokens_per_second`` of the scripted model.

    Raises:
        ConfigurationError: an empty set of questions, a model or an agent that cannot be made, settings that make no
            sense, or a folder whose runs were made with another embedder or agent.
        EvaluationFileError: a file of the suite cannot be read.
        StoreError: the store cannot be opened or filled.
        MissingExtraError: the suite's own agent, without the extra ``demo``.
    """
    if context.make_agent is not None:
        bench = await asyncio.to_thread(user_bench, context, context.make_agent)
        await asyncio.to_thread(claim, context.out, bench.described, resume=True, name=BENCH_FILE)
        yield bench
        return
    own = await asyncio.to_thread(_own_bench)
    async with own(context) as bench:
        yield bench


def user_bench(context: SuiteContext, make: Callable[[], Any]) -> Bench:
    """A user's own agent, asked a file of questions, else those of the suite.

    Raises:
        ConfigurationError: it has no such tool, or holds prefetch already.
    """
    questions = questions_of(context)
    graph = make()
    arms = arms_of(graph, context.tools, **options_of(context))
    checks = context.settings.get("runs", {}).get("check_passages", True)
    return Bench(
        questions=questions,
        arms=arms,
        tools=tuple(context.tools),
        check=_again(graph, context.tools) if checks else None,
        model="own",
        described={
            "model": "the agent's own",
            "search": f"the agent's own: {', '.join(context.tools)}",
            "questions": counted(questions),
        },
    )


def arms_of(graph: Any, tools: Sequence[str], *, embedder: str | None = None, **options: Any) -> dict[str, Arm]:
    """The arms of one compiled graph. ``options``: of the wrapped one, beside those that keep runs apart.

    Raises:
        ConfigurationError: it is no compiled graph, has no such tool, or holds prefetch already.
    """
    kept: dict[str, Any] = {"scope": scopes(uuid.uuid4().hex), "ignore_configurable": (SCOPE, "thread_id")}
    off = Budgets(guesses_per_step=0, sealed_per_step=0, per_run=0)

    def wrapped() -> Agent:
        chosen: dict[str, Any] = {"reuse_seconds": REUSE_SECONDS, **kept, **options}
        return _listened(with_prefetch(graph, tools=tools, **chosen))

    def direct() -> Agent:
        return _listened(with_prefetch(graph, tools=tools, budgets=off, **kept))

    def reasoning() -> Agent:
        chosen: dict[str, Any] = {**kept, **options, "budgets": Budgets(sealed_per_step=0)}
        return _listened(with_prefetch(graph, tools=tools, **chosen))

    wrapped()  # what cannot be wrapped is said before anything is asked
    made: dict[str, Callable[[], Agent]] = {
        BARE: lambda: Agent(graph),
        WRAPPED: wrapped,
        DIRECT: direct,
        REASONING: reasoning,
    }
    return {name: Arm(name=name, make=make, keeps=name == WRAPPED, embedder=embedder) for name, make in made.items()}


def options_of(context: SuiteContext) -> dict[str, Any]:
    """Options of ``with_prefetch`` that the suite's file sets under ``[prefetch]``.

    Raises:
        ConfigurationError: it is no table.
    """
    found = context.settings.get("prefetch", {})
    if not isinstance(found, dict):
        raise ConfigurationError("[prefetch] of the suite's file is a table of options of with_prefetch")
    return dict(found)


def counted(questions: Sequence[Question], script: Mapping[str, object] | None = None) -> str:
    """How many questions there are, and a mark that changes with any of them or of the thoughts behind them."""
    text = repr(list(questions)) + repr(sorted((script or {}).items()))
    return f"{len(questions)} (mark {hashlib.sha256(text.encode()).hexdigest()[:12]})"


def _own_bench() -> Callable[[SuiteContext], AbstractAsyncContextManager[Bench]]:
    """Imported off the loop, and only where it is asked: a user's agent needs none of its libraries."""
    from langgraph_prefetch.suites.own_bench import open_own_bench

    return open_own_bench


def _listened(agent: Any) -> Agent:
    return Agent(agent, agent.prefetch.subscribe)


def _again(graph: Any, tools: Sequence[str]) -> Check:
    nodes = [node for _, _, node in tool_nodes(graph, skip=_Nothing)]
    found: dict[str, BaseTool] = {
        name: tool for node in nodes for name, tool in node.tools_by_name.items() if name in tools
    }

    async def check(call: ToolCall) -> tuple[str, ...]:
        made = await found[call["name"]].ainvoke(call)
        if not isinstance(made, ToolMessage):
            raise ConfigurationError("the tool gives no message when it is called by itself")
        return passages_of(made)

    return check


class _Nothing:
    """No graph is of this class."""
