"""What the events of an agent's stream say, as far as it matters here. Pure; what is unknown says nothing."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.aws.bedrock_agents.invocations import read_control, read_traced
from langgraph_prefetch.aws.bedrock_agents.values import Invocation, ReturnedControl

CODE_INTERPRETER, COLLABORATOR = "code interpreter", "collaborator"


@dataclass(frozen=True, slots=True)
class Thought:
    """The agent said, in a step of its orchestration, why it does what comes next."""

    step: Hashable
    text: str


@dataclass(frozen=True, slots=True)
class Announced:
    """The agent will leave this action to its caller."""

    step: Hashable
    invocation: Invocation


@dataclass(frozen=True, slots=True)
class ServiceRuns:
    """The service itself runs this; an action may change what searches find. A knowledge base is only read."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StepEnds:
    """The step has its result."""

    step: Hashable


@dataclass(frozen=True, slots=True)
class Control:
    """The agent leaves actions to its caller."""

    control: ReturnedControl


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the answer."""

    data: bytes = field(repr=False)
    citations: tuple[Mapping[str, Any], ...] = field(default=(), hash=False, repr=False)


@dataclass(frozen=True, slots=True)
class Files:
    """Files that the agent made."""

    files: tuple[Mapping[str, Any], ...] = field(hash=False, repr=False)


Said = Thought | Announced | ServiceRuns | StepEnds | Control | Piece | Files


def read(event: Mapping[str, Any]) -> Iterator[Said]:
    """What one event of ``completion`` says."""
    if "trace" in event:
        yield from _traced(event["trace"])
    if "chunk" in event:
        chunk = event["chunk"]
        yield Piece(chunk.get("bytes", b""), tuple((chunk.get("attribution") or {}).get("citations") or ()))
    if "returnControl" in event:
        yield Control(read_control(event["returnControl"]))
    if "files" in event:
        yield Files(tuple(event["files"].get("files") or ()))


def _traced(part: Mapping[str, Any]) -> Iterator[Said]:
    # Of all traces only orchestration's holds what the agent thinks. Its modelInvocationInput is the prompt.
    trace = (part.get("trace") or {}).get("orchestrationTrace") or {}
    who = (part.get("agentId"), part.get("collaboratorName"))
    output = trace.get("modelInvocationOutput") or {}
    reasoning = ((output.get("reasoningContent") or {}).get("reasoningText") or {}).get("text")
    if reasoning:
        yield Thought((who, output.get("traceId")), reasoning)
    rationale = trace.get("rationale") or {}
    if rationale.get("text"):
        yield Thought((who, rationale.get("traceId")), rationale["text"])
    if "invocationInput" in trace:
        yield from _invoked(trace["invocationInput"], who)
    if "observation" in trace:
        yield StepEnds((who, trace["observation"].get("traceId")))


def _invoked(told: Mapping[str, Any], who: Hashable) -> Iterator[Said]:
    action = told.get("actionGroupInvocationInput")
    if action is not None:
        invocation = read_traced(action)
        if action.get("executionType") == "RETURN_CONTROL":
            yield Announced((who, told.get("traceId")), invocation)
        else:
            yield ServiceRuns(invocation.names)
    if "codeInterpreterInvocationInput" in told:
        yield ServiceRuns((CODE_INTERPRETER,))
    if "agentCollaboratorInvocationInput" in told:
        yield ServiceRuns((COLLABORATOR,))
