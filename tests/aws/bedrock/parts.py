"""Clients of the local Bedrock, and tools that count and can be waited for."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import boto3
from botocore.config import Config
from langchain_core.tools import BaseTool, tool

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.aws.bedrock_agents import BedrockAgent
from langgraph_prefetch.speculation.shared import process_wide
from langgraph_prefetch.testing.wire import (
    Action,
    AgentTurn,
    AnswerChunks,
    LocalBedrock,
    Meanwhile,
    Rationale,
    ReturnControl,
)

QUESTION = "How long is the main span of the bridge over the Humber?"
THOUGHT = 'The user asks for a length. I need to search for "Humber Bridge" first. Then I can answer.'
ANSWERED = AgentTurn(AnswerChunks.of("1,410 metres."))
AGENT: Any = {"agent_id": "AGENT00001", "agent_alias_id": "ALIAS00001"}


def client(server: LocalBedrock, service: str = "bedrock-agent-runtime", **settings: Any) -> Any:
    config = Config(retries={"total_max_attempts": 1}, read_timeout=20, max_pool_connections=64).merge(
        Config(**settings)
    )
    return boto3.client(service, endpoint_url=server.url, config=config)


class Searches:
    """A search tool that notes its queries; early ones can be waited for."""

    def __init__(self, *, asynchronous: bool = False, before: Callable[[], object] = lambda: None) -> None:
        self.queries: list[str] = []
        self.ended = threading.Event()
        self.tool = self._async_tool() if asynchronous else self._tool(before)

    def _tool(self, before: Callable[[], object]) -> BaseTool:
        @tool
        def search(query: str) -> str:
            """Search the encyclopedia."""
            self.queries.append(query)
            before()
            self.ended.set()
            return f"passages about {query}"

        return search

    def _async_tool(self) -> BaseTool:
        @tool
        async def search(query: str) -> str:
            """Search the encyclopedia."""
            self.queries.append(query)
            self.ended.set()
            return f"passages about {query}"

        return search

    def wait(self) -> None:
        """Until a search has ended, and its result is there."""
        assert self.ended.wait(20)
        executor = process_wide().executor
        while executor.running:
            time.sleep(0.002)
        # The place is free some turns of the executor's loop before the result is there.
        asyncio.run_coroutine_threadsafe(_turns(10), executor._host.loop).result(20)


def asks(query: str = "Humber Bridge", **options: Any) -> Action:
    return Action(name="search", arguments={"query": query}, **options)


def thinks_and_asks(searches: Searches, thought: str = THOUGHT, query: str = "Humber Bridge") -> AgentTurn:
    """The agent thinks, its search is given the time that it takes, and the agent asks for it."""
    return AgentTurn(Rationale(thought), Meanwhile(searches.wait), only_asks(query))


def only_asks(query: str = "Humber Bridge") -> ReturnControl:
    """Nothing tells of the call before it comes."""
    return ReturnControl((asks(query),), announced=False)


def agent_of(
    server: LocalBedrock, prefetch: Prefetcher, *tools: BaseTool, boto: Any = None, **options: Any
) -> BedrockAgent:
    return BedrockAgent(boto or client(server), prefetch.service_agent(tools), **{**AGENT, **options})


def results(request: Any) -> list[dict[str, Any]]:
    """What a request gives back, as functions' results."""
    return [dict(each["functionResult"]) for each in request.results]


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def until(queries: list[str]) -> None:
    """Until something was searched."""
    while not queries:
        time.sleep(0.002)
