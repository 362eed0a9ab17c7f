"""The agent that a suite's file describes, on a store of its own. Needs the extra ``demo``; a user's agent does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from langchain_core.language_models import BaseChatModel
from langchain_core.messages.tool import ToolCall

from langgraph_prefetch.demo.agent import FIRST_TOKEN_SECONDS, make_agent, script_of
from langgraph_prefetch.evaluation.named_model import named_model
from langgraph_prefetch.evaluation.trials import claim
from langgraph_prefetch.evaluation.trials.recording import passages_of
from langgraph_prefetch.suites.agents import Bench, arms_of, counted, options_of
from langgraph_prefetch.suites.aws_target import options, services
from langgraph_prefetch.suites.contract import BENCH_FILE, SuiteContext
from langgraph_prefetch.suites.own import open_store, scripted_of, search_tool
from langgraph_prefetch.suites.questions import questions_of
from langgraph_prefetch.suites.scripted import Scripted
from langgraph_prefetch.testing.models import ScriptedChatModel

SCRIPTED = "scripted"


@asynccontextmanager
async def open_own_bench(context: SuiteContext) -> AsyncIterator[Bench]:
    """What :func:`~langgraph_prefetch.suites.agents.open_bench` opens where the context has no agent of the user's."""
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
