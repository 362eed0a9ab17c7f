"""What a scripted Bedrock agent does in one turn: frozen values, in the order in which its stream tells them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph_prefetch.testing.wire.script import ScriptExhaustedError, Throttled


@dataclass(frozen=True, slots=True)
class Rationale:
    """The agent says, in a trace, why it does what it does next; ``reasoning``: what its model thought before."""

    text: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Lookup:
    """The service itself searches a knowledge base; ``passages`` are what it finds."""

    query: str
    passages: tuple[str, ...] = ()
    knowledge_base_id: str = "KNOWLEDGE1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One call of an action group: of a function, or, with ``path``, of an API.

    ``kind`` is ``RESULT``, ``USER_CONFIRMATION`` or ``USER_CONFIRMATION_AND_RESULT``. The arguments of an API's
    call go into its request body.
    """

    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    group: str = "tools"
    path: str = ""
    method: str = "GET"
    kind: str = "RESULT"
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ActionRun:
    """The service itself runs an action (in its Lambda function), which gives ``output``."""

    action: Action
    output: str = ""


@dataclass(frozen=True, slots=True)
class ReturnControl:
    """The caller is to run these actions, and the stream ends. ``announced``: a trace tells of them before."""

    actions: tuple[Action, ...]
    invocation_id: str = "invocation-1"
    announced: bool = True


@dataclass(frozen=True, slots=True)
class AnswerChunks:
    """Pieces of the answer, each in an event of its own; the service usually sends one."""

    pieces: tuple[bytes, ...]

    @classmethod
    def of(cls, *texts: str) -> AnswerChunks:
        """Pieces of text."""
        return cls(tuple(text.encode() for text in texts))


@dataclass(frozen=True, slots=True)
class AgentFailure:
    """An exception in the stream, such as ``throttlingException`` or ``dependencyFailedException``; it ends there."""

    kind: str
    message: str = "scripted"


@dataclass(frozen=True, slots=True)
class RawEvent:
    """Any event: one of a later version of the service, or one that makes no sense."""

    kind: str
    payload: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class RawTrace:
    """Any trace: ``{"preProcessingTrace": …}``, say."""

    trace: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Meanwhile:
    """``then`` is called between two events: to sleep, or to wait for something."""

    then: Callable[[], object]


@dataclass(frozen=True, slots=True)
class CutHere:
    """The connection is closed, without the stream's end."""


AgentStep = (
    Rationale
    | Lookup
    | ActionRun
    | ReturnControl
    | AnswerChunks
    | AgentFailure
    | RawEvent
    | RawTrace
    | Meanwhile
    | CutHere
)


@dataclass(frozen=True, slots=True, init=False)
class AgentTurn:
    """The answer to one ``InvokeAgent``: ``AgentTurn(Rationale(…), ReturnControl((…,)))``.

    ``fault``: the first requests are refused before the stream.
    """

    steps: tuple[AgentStep, ...]
    fault: Throttled | None

    def __init__(self, *steps: AgentStep, fault: Throttled | None = None) -> None:
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "fault", fault)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """One ``InvokeAgent`` or ``InvokeInlineAgent`` as the server understood it.

    ``turn`` counts the earlier requests of the session; ``results`` are those of a returned control.
    """

    path: str
    body: Mapping[str, Any] = field(hash=False)
    agent_id: str
    session_id: str
    inline: bool
    turn: int
    prompt: str
    traced: bool
    results: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    attributes: Mapping[str, str] = field(default_factory=dict, hash=False)


AgentScript = Sequence[AgentTurn] | Callable[[AgentRequest], AgentTurn]


def agent_turn_of(script: AgentScript, request: AgentRequest) -> AgentTurn:
    """The turn that answers ``request``; raises :class:`ScriptExhaustedError` past the end of a list."""
    if callable(script):
        return script(request)
    if request.turn >= len(script):
        raise ScriptExhaustedError(f"the script has {len(script)} turns, the session asks for turn {request.turn + 1}")
    return script[request.turn]
