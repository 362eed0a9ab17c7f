"""A Bedrock agent as a Runnable and as a graph's node, with its searches started early."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import reduce
from operator import add
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda

from langgraph_prefetch.aws.bedrock_agents.bridge import Bridge
from langgraph_prefetch.aws.bedrock_agents.listening import ActionResults, BedrockAgentListener, checked
from langgraph_prefetch.aws.bedrock_agents.reading import Files, Piece
from langgraph_prefetch.aws.bedrock_agents.values import AgentQuestion, AgentReply
from langgraph_prefetch.aws.bedrock_agents.wording import AgentInput, message_of, messages_in, question_of
from langgraph_prefetch.aws.bedrock_pools import pool
from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import AgentRoundsError, AgentTimeoutError, ConfigurationError
from langgraph_prefetch.ports import ServiceAgent

Answers = Callable[[BedrockAgentListener], ActionResults]

MAX_ROUNDS = 10
MAX_TURNS = 32

_MADE_HERE = ("sessionId", "inputText", "enableTrace", "sessionState", "inlineSessionState")


class BedrockAgent(Runnable[AgentInput, AgentReply]):
    """``InvokeAgent`` or ``InvokeInlineAgent``, heard while it streams; actions it leaves to the caller are answered.

    The input is the user's words, an :class:`~langgraph_prefetch.aws.bedrock_agents.values.AgentQuestion`, a mapping
    with its fields, or messages, of which the last is the question. Without a session of its own a question belongs to
    that of the configuration's ``thread_id``, or else to a new one.

    Args:
        client: a boto3 client of ``bedrock-agent-runtime``.
        agent: ``prefetcher.service_agent(tools)``.
        agent_id, agent_alias_id: of an agent that exists.
        inline: of an inline agent, what ``InvokeInlineAgent`` takes: ``foundationModel``, ``instruction``, …
        request: more parameters for every request: ``streamingConfigurations``, ``memoryId``, …
        max_rounds: so many times the agent may leave actions to its caller in one turn.
        threads: turns at once under ``ainvoke`` and ``astream``; boto3 blocks, and each turn holds a thread.

    Raises:
        ConfigurationError: neither or both kinds of agent, or a client of another service.
    """

    def __init__(
        self,
        client: Any,
        agent: ServiceAgent,
        *,
        agent_id: str | None = None,
        agent_alias_id: str | None = None,
        inline: Mapping[str, Any] | None = None,
        request: Mapping[str, Any] | None = None,
        max_rounds: int = MAX_ROUNDS,
        threads: int = MAX_TURNS,
    ) -> None:
        if (inline is None) == (agent_id is None) or (agent_id is None) != (agent_alias_id is None):
            raise ConfigurationError("name an agent by agent_id= and agent_alias_id=, or describe one by inline={…}")
        if not hasattr(client, "invoke_agent" if inline is None else "invoke_inline_agent"):
            raise ConfigurationError(
                f"client takes boto3.client('bedrock-agent-runtime', …), not {type(client).__name__}"
            )
        require_at_least("max_rounds", max_rounds, 1)
        require_at_least("threads", threads, 1)
        named = {"agentId": agent_id, "agentAliasId": agent_alias_id} if inline is None else dict(inline)
        self._request = {**named, **(request or {})}
        if taken := [name for name in _MADE_HERE if name in self._request]:
            raise ConfigurationError(f"{taken[0]} is set by each question, not for all of them")
        self._send = client.invoke_agent if inline is None else client.invoke_inline_agent
        self._state = "sessionState" if inline is None else "inlineSessionState"
        self._agent, self._max_rounds = checked(agent), max_rounds
        self._threads = pool("bedrock-agent", threads)

    def invoke(self, input: AgentInput, config: RunnableConfig | None = None, **kwargs: Any) -> AgentReply:  # noqa: A002
        """The whole reply. Raises what Bedrock and the tools raise.

        Raises:
            AgentTimeoutError: the question's ``seconds`` are over.
            AgentRoundsError: the agent leaves actions to its caller again and again.
        """
        return self._call_with_config(self._reply, input, config)

    async def ainvoke(self, input: AgentInput, config: RunnableConfig | None = None, **kwargs: Any) -> AgentReply:  # noqa: A002
        """:meth:`invoke` on the event loop."""
        return await self._acall_with_config(self._areply, input, config)

    def stream(self, input: AgentInput, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[AgentReply]:  # noqa: A002
        """The reply in pieces, which add up to what :meth:`invoke` gives."""
        yield from self._transform_stream_with_config(iter([input]), self._transform, config)

    async def astream(
        self,
        input: AgentInput,  # noqa: A002 - the host's name
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[AgentReply]:
        """:meth:`stream` on the event loop."""

        async def inputs() -> AsyncIterator[AgentInput]:
            yield input

        async for piece in self._atransform_stream_with_config(inputs(), self._atransform, config):
            yield piece

    def node(self, messages_key: str = "messages") -> Runnable[Any, dict[str, Any]]:
        """A graph's node: reads the latest message of the state, and adds the answer as an ``AIMessage``.

        The message's ``response_metadata["bedrock_agent"]`` is the :class:`AgentReply`'s session and calls; a control
        that is the caller's stands there as ``return_control``, as Bedrock sent it.
        """

        def run(state: Any, config: RunnableConfig) -> dict[str, Any]:
            return {messages_key: [message_of(self.invoke(messages_in(state, messages_key), config))]}

        async def arun(state: Any, config: RunnableConfig) -> dict[str, Any]:
            return {messages_key: [message_of(await self.ainvoke(messages_in(state, messages_key), config))]}

        return RunnableLambda(run, arun, name="bedrock_agent")

    def _reply(self, asked: AgentInput, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> AgentReply:
        return reduce(add, self._pieces(question_of(asked, config), config, BedrockAgentListener.answer))

    async def _areply(
        self, asked: AgentInput, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig
    ) -> AgentReply:
        pieces = [piece async for piece in self._apieces(asked, config)]
        return reduce(add, pieces)

    def _transform(
        self, inputs: Iterator[AgentInput], run_manager: CallbackManagerForChainRun, config: RunnableConfig
    ) -> Iterator[AgentReply]:
        for asked in inputs:
            yield from self._pieces(question_of(asked, config), config, BedrockAgentListener.answer)

    async def _atransform(
        self, inputs: AsyncIterator[AgentInput], run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig
    ) -> AsyncIterator[AgentReply]:
        async for asked in inputs:
            async for piece in self._apieces(asked, config):
                yield piece

    async def _apieces(self, asked: AgentInput, config: RunnableConfig) -> AsyncIterator[AgentReply]:
        bridge, question = Bridge(), question_of(asked, config)

        def answers(listener: BedrockAgentListener) -> ActionResults:
            return bridge.wait_for(listener.aanswer())

        pieces = bridge.over(self._threads, lambda: self._pieces(question, config, answers, bridge))
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()  # type: ignore[attr-defined]

    def _pieces(
        self, question: AgentQuestion, config: RunnableConfig, answers: Answers, bridge: Bridge | None = None
    ) -> Iterator[AgentReply]:
        """One turn: requests until the agent has answered, or leaves to the caller what is not answered here."""
        until = None if question.seconds is None else time.monotonic() + question.seconds
        state: dict[str, Any] = {}
        if question.invocation_id is not None:
            given = list(question.results)
            state = {"invocationId": question.invocation_id, "returnControlInvocationResults": given}
        loop = None if bridge is None else bridge.loop
        with BedrockAgentListener(self._agent, question, config, loop) as listener:
            for number in range(self._max_rounds + 1):
                yield from self._round(listener, question, state, until, first=number == 0)
                control = listener.control
                if control is None:
                    return
                if not listener.can_answer:
                    yield AgentReply(session_id=question.session_id, return_control=control)
                    return
                if number == self._max_rounds:
                    break
                answered = answers(listener)
                state = answered.session_state
                yield AgentReply(session_id=question.session_id, calls=answered.calls, call_seconds=answered.seconds)
        raise AgentRoundsError(self._max_rounds)

    def _round(
        self,
        listener: BedrockAgentListener,
        question: AgentQuestion,
        state: Mapping[str, Any],
        until: float | None,
        *,
        first: bool,
    ) -> Iterator[AgentReply]:
        began = time.perf_counter()
        _in_time(until, question)
        response = self._send(**self._worded(question, state, first=first))
        completion = response["completion"]
        session_id = response.get("sessionId") or question.session_id
        listener.control = None
        try:
            for event in completion:
                for said in listener.hear(event):
                    if isinstance(said, Piece):
                        yield AgentReply(session_id=session_id, data=said.data, citations=said.citations)
                    elif isinstance(said, Files):
                        yield AgentReply(session_id=session_id, files=said.files)
                _in_time(until, question)
        finally:
            completion.close()  # left early, Bedrock is told at once
        yield AgentReply(session_id=session_id, agent_seconds=time.perf_counter() - began)

    def _worded(self, question: AgentQuestion, state: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
        told: dict[str, Any] = dict(state)
        if question.session_attributes:
            told["sessionAttributes"] = dict(question.session_attributes)
        if question.prompt_session_attributes:
            told["promptSessionAttributes"] = dict(question.prompt_session_attributes)
        request = {**self._request, "sessionId": question.session_id, "enableTrace": True}
        if first and question.text:
            request["inputText"] = question.text
        return {**request, self._state: told} if told else request


def _in_time(until: float | None, question: AgentQuestion) -> None:
    if until is not None and question.seconds is not None and time.monotonic() > until:
        raise AgentTimeoutError(question.seconds)
