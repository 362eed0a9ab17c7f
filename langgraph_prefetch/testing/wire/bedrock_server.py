"""Bedrock on loopback: models, agents, knowledge bases and embeddings behind one address."""

from __future__ import annotations

import json
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langgraph_prefetch.testing.wire import bedrock_agents, event_stream
from langgraph_prefetch.testing.wire.agent_script import (
    AgentFailure,
    AgentRequest,
    AgentScript,
    AgentTurn,
    CutHere,
    Meanwhile,
    agent_turn_of,
)
from langgraph_prefetch.testing.wire.bedrock_converse import BedrockWire
from langgraph_prefetch.testing.wire.bedrock_knowledge import (
    Embed,
    Passage,
    Search,
    by_words,
    embedded,
    hashed_words,
    retrieve,
)
from langgraph_prefetch.testing.wire.dialect import Frame, Problem, Reply
from langgraph_prefetch.testing.wire.openai_model import OpenAIModel
from langgraph_prefetch.testing.wire.plumbing import Handler
from langgraph_prefetch.testing.wire.script import Request, Script, ScriptExhaustedError, Throttled, Turn

MAX_SESSIONS = 10_000


class LocalBedrock(BedrockWire):
    """Answers ``Converse``, ``ConverseStream``, ``InvokeAgent``, ``InvokeInlineAgent``, ``Retrieve`` and embeddings.

    Any boto3 client of ``bedrock-runtime`` and ``bedrock-agent-runtime`` works with ``endpoint_url=server.url``.

    Args:
        script: what models say: turns, a function from a request to a turn, or an
            :class:`~langgraph_prefetch.testing.wire.openai_model.OpenAIModel`, whose stream is passed on as it comes.
        seconds_per_token: pause before each streamed token of a model.
        agents: what agents do: turns by the session's requests, or a function from a request to a turn.
        knowledge: what knowledge bases hold (searched by words), or a function that searches.
        embed: from a text and a number of dimensions to a vector.
        sleep: makes the pauses.
        options: as of :class:`~langgraph_prefetch.testing.wire.server.WireServer`.
    """

    def __init__(
        self,
        script: Script | OpenAIModel = (),
        seconds_per_token: float = 0.0,
        *,
        agents: AgentScript = (),
        knowledge: Sequence[Passage | str] | Search = (),
        embed: Embed = hashed_words,
        sleep: Callable[[float], None] = time.sleep,
        **options: Any,
    ) -> None:
        self.model = script if isinstance(script, OpenAIModel) else None
        super().__init__(script, seconds_per_token, sleep=sleep, **options)
        self.agents = agents
        self._search = knowledge if callable(knowledge) else by_words(knowledge)
        self._embed = embed
        self._turns: OrderedDict[str, int] = OrderedDict()
        self._agents_throttled: Counter[tuple[str, int]] = Counter()
        self._agent_log: deque[AgentRequest] = deque(maxlen=self._log.maxlen)
        self._queries: deque[str] = deque(maxlen=self._log.maxlen)

    @property
    def agent_requests(self) -> tuple[AgentRequest, ...]:
        """The latest requests to agents, oldest first."""
        with self._lock:
            return tuple(self._agent_log)

    @property
    def queries(self) -> tuple[str, ...]:
        """What knowledge bases were asked, by callers or by agents that a model drives, oldest first."""
        with self._lock:
            return tuple(self._queries)

    def search(self, base_id: str, query: str) -> Sequence[tuple[Passage, float]]:
        """Search a knowledge base, as ``Retrieve`` does."""
        with self._lock:
            self._queries.append(query)
        return self._search(base_id, query)

    def elsewhere(self, path: str, body: Any) -> Reply | None:
        """``Retrieve`` and embeddings."""
        try:
            return retrieve(path, body, self.search) or embedded(path, body, self._embed)
        except Exception as error:  # noqa: BLE001 - the search is the caller's code, and runs on our thread
            return self._failed(error)

    def _answer(self, path: str, body: dict[str, Any], out: Handler) -> None:
        try:
            with self._lock:
                request = bedrock_agents.read(path, body, self._turns)
                if request is not None:
                    self._agent_log.append(request)
            turn = agent_turn_of(self.agents, request) if request is not None else None
        except ScriptExhaustedError as error:
            out.reply(self.dialect.problem(Problem.BAD_REQUEST, str(error)))
        except Exception as error:  # noqa: BLE001 - the script is the caller's code, and runs on our thread
            out.reply(self._failed(error))
        else:
            if request is None or turn is None:
                super()._answer(path, body, out)
            elif isinstance(turn.fault, Throttled) and self._throttles_agent(turn.fault, request):
                out.reply(self.dialect.problem(Problem.THROTTLED, "too many requests"))
            else:
                self._count(request)
                self._act(turn, request, out)

    def _act(self, turn: AgentTurn, request: AgentRequest, out: Handler) -> None:
        out.start_stream(bedrock_agents.stream_headers(request))
        cut = False
        for step, events in bedrock_agents.frames(turn, request):
            if isinstance(step, Meanwhile):
                step.then()
            for event in events:
                out.chunk(event)
            cut = isinstance(step, CutHere)
            if cut or isinstance(step, AgentFailure):
                break
        out.end_stream(cut=cut)

    def _stream(self, turn: Turn, request: Request, out: Handler) -> None:
        if self.model is None:
            super()._stream(turn, request, out)
            return
        out.start_stream(self.dialect.stream_headers)
        for frame in self._live(self.model, request):
            out.chunk(frame.data)
        out.end_stream(cut=False)

    def _live(self, model: OpenAIModel, request: Request) -> Iterator[Frame]:
        try:
            yield from model.frames(request)
        except Exception as error:  # noqa: BLE001 - a model that breaks off is told as Bedrock tells it
            self._failed(error)
            yield Frame(event_stream.exception("modelStreamErrorException", "the model broke off"))

    def _turn(self, request: Request) -> Turn:
        if self.model is None or not request.streamed:
            return super()._turn(request)
        with self._lock:
            self._log.append(request)
        return Turn()  # told as it comes

    def _failed(self, error: Exception) -> Reply:
        with self._lock:
            self._failures.append(error)
        return Reply(
            500, json.dumps({"message": repr(error)}).encode(), {"x-amzn-errortype": "InternalServerException"}
        )

    def _throttles_agent(self, fault: Throttled, request: AgentRequest) -> bool:
        with self._lock:
            self._agents_throttled[request.session_id, request.turn] += 1
            times = self._agents_throttled[request.session_id, request.turn]
        return fault.times is None or times <= fault.times

    def _count(self, request: AgentRequest) -> None:
        with self._lock:
            self._turns[request.session_id] = request.turn + 1
            while len(self._turns) > MAX_SESSIONS:
                self._turns.popitem(last=False)
