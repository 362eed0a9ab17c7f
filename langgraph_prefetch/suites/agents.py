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
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import ToolMessage
from langchain_core.messages.tool import ToolCall
from langchain_core.tools import BaseTool

from langgraph_prefetch import Budgets, with_prefetch
from langgraph_prefetch.demo.agent import FIRST_TOKEN_SECONDS, make_agent, named_model, script_of
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.trials import SCOPE, Agent, Arm, Check, Question, claim
from langgraph_prefetch.evaluation.trials.recording import passages_of
from langgraph_prefetch.graph.survey import tool_nodes
from langgraph_prefetch.suites.aws_target import options, services
from langgraph_prefetch.suites.contract import BENCH_FILE, SuiteContext
from langgraph_prefetch.suites.own import open_store, questions_of, scripted_of, search_tool
from langgraph_prefetch.suites.scopes import scopes
from langgraph_prefetch.suites.scripted import Scripted
from langgraph_prefetch.testing.models import ScriptedChatModel

BARE, WRAPPED, DIRECT, REASONING = "bare", "wrapped", "direct", "reasoning"
ARMS = (BARE, WRAPPED, DIRECT)
REUSE_SECONDS = 86_400.0
SCRIPTED = "scripted"


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
    """
    if context.make_agent is not None:
        bench = await asyncio.to_thread(own_bench, context, context.make_agent)
        await asyncio.to_thread(claim, context.out, bench.described, resume=True, name=BENCH_FILE)
        yield bench
        return
    found = services() if context.target == "aws" else None
    script = await asyncio.to_thread(scripted_of, context)
    questions = await asyncio.to_thread(questions_of, context)
    model = agent_model(context, script)
    async with open_store(script.passages, None if found is None else found.database) as store:
        latency = float(context.settings["agent"]["latency_seconds"])
        search, at_once = search_tool(store, latency), search_tool(store, 0.0)
        embedder = str(getattr(store.embeddings, "identity", type(store.embeddings).__name__))

        async def check(call: ToolCall) -> tuple[str, ...]:
            return passages_of(await at_once.ainvoke(call))

        chosen = options_of(context)
        elsewhere = {} if found is None else await asyncio.to_thread(options, found, context.out, search.name)
        bench = Bench(
            questions=questions,
            arms=arms_of(make_agent(model, search), [search.name], embedder=embedder, **chosen, **elsewhere),
            tools=(search.name,),
            check=check,
            model=context.model or SCRIPTED,
            described={
                "model": context.model or _pace(context),
                "search": f"PostgreSQL with pgvector (HNSW), {len(script.passages):,} passages, {latency:g} s added",
                "embedder": embedder,
                "questions": counted(questions, script.script),
                **({} if found is None else {"target": "searches by workers, through SQS and DynamoDB"}),
            },
        )
        await asyncio.to_thread(claim, context.out, bench.described, resume=True, name=BENCH_FILE)
        yield bench


def own_bench(context: SuiteContext, make: Callable[[], Any]) -> Bench:
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


def agent_model(context: SuiteContext, script: Scripted) -> BaseChatModel:
    """The model of the suite's own agent: the named one, else the scripted one.

    Raises:
        ConfigurationError: it cannot be made.
    """
    if context.model is not None:
        return named_model(context.model)
    return ScriptedChatModel(
        script=script_of(script.script),
        seconds_to_first_token=float(context.settings["agent"].get("seconds_to_first_token", FIRST_TOKEN_SECONDS)),
        seconds_per_token=1 / float(context.settings["agent"]["tokens_per_second"]),
        argument_pieces=8,
    )


def _pace(context: SuiteContext) -> str:
    agent = context.settings["agent"]
    first = agent.get("seconds_to_first_token", FIRST_TOKEN_SECONDS)
    return f"{SCRIPTED}, {agent['tokens_per_second']:g} tokens a second after {first:g} s"


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
