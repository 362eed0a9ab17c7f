"""Agents driven by a model: what they do is decided by any OpenAI-compatible model, not by a script."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_prefetch.testing.wire.agent_script import (
    Action,
    AgentRequest,
    AgentStep,
    AgentTurn,
    AnswerChunks,
    Lookup,
    Rationale,
    ReturnControl,
)
from langgraph_prefetch.testing.wire.bedrock_knowledge import Search
from langgraph_prefetch.testing.wire.openai_model import OpenAIModel
from langgraph_prefetch.testing.wire.script import ScriptedCall, Turn

MAX_SESSIONS = 1_000
MAX_STEPS = 10
LOOKUP = "search_knowledge_base"


class ModelAgents:
    """For ``LocalBedrock(agents=…)``: each turn is the model's.

    Functions of action groups are its tools, and each call of one is returned to the caller; knowledge bases are
    searched by the server. What the model says before it calls is told as the rationale. Sessions are remembered.

    Args:
        model: says what to do.
        agents: of agents by their ids, what ``InvokeInlineAgent`` would be told of them: ``instruction``,
            ``actionGroups`` (with ``functionSchema``), ``knowledgeBases``. Inline agents bring theirs with them.
        search: answers searches of knowledge bases: a ``LocalBedrock``'s ``search``, or ``by_words(…)``.
    """

    def __init__(
        self,
        model: OpenAIModel,
        agents: Mapping[str, Mapping[str, Any]] | None = None,
        search: Search = lambda base_id, query: (),
    ) -> None:
        self._model, self._agents, self._search = model, agents or {}, search
        self._sessions: OrderedDict[str, list[dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, request: AgentRequest) -> AgentTurn:
        """What the agent does with a request.

        Raises:
            LookupError: an agent of which nothing was told.
        """
        if not request.inline and request.agent_id not in self._agents:
            raise LookupError(f"no agent {request.agent_id!r}; there are: {', '.join(self._agents) or 'none'}")
        told = request.body if request.inline else self._agents[request.agent_id]
        functions = _functions(told)
        memory = self._memory(request, told)
        steps: list[AgentStep] = []
        for _ in range(MAX_STEPS):
            turn = self._model.say(memory, [_tool(name, each) for name, each in functions.items()])
            memory.append(_message(turn, request.turn, len(steps)))
            if not turn.calls:
                steps += [Rationale("".join(turn.reasoning)), AnswerChunks.of("".join(turn.text))]
                break
            steps.append(Rationale("".join(turn.text) or "".join(turn.reasoning)))
            lookups = [call for call in turn.calls if call.name == LOOKUP]
            if len(lookups) < len(turn.calls):
                actions = tuple(_action(call, functions) for call in turn.calls)
                steps.append(ReturnControl(actions, f"invocation-{request.turn}"))
                break
            steps += [self._looked_up(call, told, memory) for call in lookups]
        return AgentTurn(*steps)

    def _memory(self, request: AgentRequest, told: Mapping[str, Any]) -> list[dict[str, Any]]:
        with self._lock:
            memory = self._sessions.setdefault(
                request.session_id, [{"role": "system", "content": told.get("instruction", "")}]
            )
            self._sessions.move_to_end(request.session_id)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
        open_calls = memory[-1].get("tool_calls", ()) if request.results else ()
        for call, result in zip(open_calls, request.results, strict=False):
            memory.append({"role": "tool", "tool_call_id": call["id"], "content": _result(result)})
        if request.prompt:
            memory.append({"role": "user", "content": request.prompt})
        return memory

    def _looked_up(self, call: ScriptedCall, told: Mapping[str, Any], memory: list[dict[str, Any]]) -> Lookup:
        base_id = told["knowledgeBases"][0]["knowledgeBaseId"]
        query = str(_arguments(call).get("query", ""))
        passages = tuple(passage.text for passage, _ in self._search(base_id, query))
        memory.append({"role": "tool", "tool_call_id": call.call_id, "content": "\n".join(passages)})
        return Lookup(query, passages, base_id)


def _functions(told: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for group in told.get("actionGroups") or ():
        for each in (group.get("functionSchema") or {}).get("functions", ()):
            found[each["name"]] = {**each, "group": group["actionGroupName"]}
    for base in (told.get("knowledgeBases") or ())[:1]:
        query = {"type": "string", "required": True}
        found[LOOKUP] = {"description": base.get("description", ""), "parameters": {"query": query}, "group": ""}
    return found


def _tool(name: str, function: Mapping[str, Any]) -> dict[str, Any]:
    parameters = function.get("parameters") or {}
    properties = {
        each: {"type": part.get("type", "string"), "description": part.get("description", "")}
        for each, part in parameters.items()
    }
    required = [each for each, part in parameters.items() if part.get("required")]
    schema = {"type": "object", "properties": properties, "required": required}
    told = {"name": name, "description": function.get("description", ""), "parameters": schema}
    return {"type": "function", "function": told}


def _message(turn: Turn, number: int, step: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(turn.text)}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": call.call_id or f"call_{number}_{step}_{position}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.json or "{}"},
            }
            for position, call in enumerate(turn.calls)
        ]
    return message


def _action(call: ScriptedCall, functions: Mapping[str, Mapping[str, Any]]) -> Action:
    return Action(
        name=call.name, arguments=_arguments(call), group=functions.get(call.name, {}).get("group", "") or "tools"
    )


def _arguments(call: ScriptedCall) -> dict[str, Any]:
    try:
        arguments = json.loads(call.json or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


def _result(result: Mapping[str, Any]) -> str:
    told: Mapping[str, Any] = result.get("functionResult") or result.get("apiResult") or {}
    bodies: Sequence[Mapping[str, Any]] = list((told.get("responseBody") or {}).values())
    return "".join(str(body.get("body", "")) for body in bodies)
