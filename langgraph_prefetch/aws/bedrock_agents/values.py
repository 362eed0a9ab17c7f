"""What is asked of a Bedrock agent, and what comes back. Frozen values."""

from __future__ import annotations

import uuid
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from langgraph_prefetch.ports import AnsweredCall

SESSION_ID, SESSION_ATTRIBUTES = "bedrock_session_id", "bedrock_session_attributes"
"""Under which names tools find a session in the ``configurable`` values of their configuration."""


class Fate(StrEnum):
    """How a call was answered: by what was ready, by what was under way, or by the tool itself."""

    HIT = "hit"
    LATE = "late"
    MISS = "miss"


def new_session_id() -> str:
    """A session's id that nobody can guess."""
    return uuid.uuid4().hex


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentQuestion:
    """One question to an agent.

    Attributes:
        text: the user's words; may be empty where ``results`` answer a returned control.
        session_id: which conversation it belongs to; 2 to 100 characters of ``0-9a-zA-Z._:-``.
        session_attributes, prompt_session_attributes: as Bedrock has them. Tools find the former in their
            configuration; take both from what you trust.
        invocation_id, results: answers to an earlier reply's ``return_control``.
        seconds: how long the whole turn may take; None: as long as it takes.
    """

    text: str
    session_id: str = field(default_factory=new_session_id)
    session_attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    prompt_session_attributes: Mapping[str, str] = field(default_factory=dict, hash=False)
    invocation_id: str | None = None
    results: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    seconds: float | None = None

    @property
    def configurable(self) -> dict[str, Any]:
        """What tools are told of the session, and what their results depend on."""
        return {SESSION_ID: self.session_id, SESSION_ATTRIBUTES: dict(self.session_attributes)}


def session_scope(configurable: Mapping[str, Any]) -> Hashable | None:
    """For ``Prefetcher(…, scope=session_scope, reuse_seconds=…)``: one session with one set of attributes."""
    session_id = configurable.get(SESSION_ID)
    if session_id is None:
        return None
    return (session_id, tuple(sorted(configurable.get(SESSION_ATTRIBUTES, {}).items())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One action that an agent leaves to its caller.

    Attributes:
        action_group: where the agent has it.
        function: its name; None of an API.
        api_path, http_method: of an API; None of a function.
        arguments: by name, typed as the agent's schema says.
        needs_confirmation: a person has to agree first.
        agent_id: which collaborator asks; None: the agent itself.
    """

    action_group: str
    function: str | None = None
    api_path: str | None = None
    http_method: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    needs_confirmation: bool = False
    agent_id: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which its tool may be given, the most exact first."""
        if self.function is not None:
            return (f"{self.action_group}::{self.function}", self.function)
        path = self.api_path or ""
        method = (self.http_method or "GET").upper()
        return (f"{self.action_group}::{method} {path}", f"{method} {path}", path, path.strip("/").replace("/", "_"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnedControl:
    """Actions that an agent leaves to its caller; ``event`` is as Bedrock sent it."""

    invocation_id: str
    invocations: tuple[Invocation, ...]
    event: Mapping[str, Any] = field(hash=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCall:
    """One action, answered. Times are seconds.

    Attributes:
        tool: the name under which its tool was given.
        fate: whether it was prefetched.
        lookup_seconds: from the call to a prefetched answer, or to knowing that there is none.
        seconds: of the whole call.
        lead_seconds: from the dispatch of what answered it to the call; 0 of a miss.
        hidden_seconds: retrieval time that the agent did not wait for.
    """

    tool: str
    fate: Fate
    lookup_seconds: float = 0.0
    seconds: float = 0.0
    lead_seconds: float = 0.0
    hidden_seconds: float = 0.0

    @classmethod
    def of(cls, tool: str, answered: AnsweredCall) -> AgentCall:
        """From what answered it."""
        told = answered.answered
        served = told is not None and told.source is not None
        fate = Fate.MISS
        if told is not None and served:
            fate = Fate.LATE if told.late else Fate.HIT
        return cls(
            tool=tool,
            fate=fate,
            lookup_seconds=answered.lookup_seconds,
            seconds=answered.seconds,
            lead_seconds=told.lead_seconds if told is not None and served else 0.0,
            hidden_seconds=told.hidden_seconds if told is not None and served else 0.0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentReply:
    """What an agent answered; pieces of a streamed one add up to the whole.

    Attributes:
        data: the answer's bytes, as they came.
        session_id: to go on with.
        calls: the actions that were answered here.
        return_control: actions that are the caller's: no tool was given for one, or a person has to agree.
        files, citations: as Bedrock sent them.
        agent_seconds: spent on Bedrock's streams.
        call_seconds: spent on answering actions, side by side.
    """

    session_id: str
    data: bytes = field(default=b"", repr=False)
    calls: tuple[AgentCall, ...] = ()
    return_control: ReturnedControl | None = None
    files: tuple[Mapping[str, Any], ...] = field(default=(), hash=False, repr=False)
    citations: tuple[Mapping[str, Any], ...] = field(default=(), hash=False, repr=False)
    agent_seconds: float = 0.0
    call_seconds: float = 0.0

    @property
    def text(self) -> str:
        """The answer as text; of one that is no UTF-8, what can be read."""
        return self.data.decode(errors="replace")

    def __add__(self, other: AgentReply) -> AgentReply:
        if not isinstance(other, AgentReply):
            return NotImplemented
        return AgentReply(
            session_id=other.session_id,
            data=self.data + other.data,
            calls=self.calls + other.calls,
            return_control=other.return_control or self.return_control,
            files=self.files + other.files,
            citations=self.citations + other.citations,
            agent_seconds=self.agent_seconds + other.agent_seconds,
            call_seconds=self.call_seconds + other.call_seconds,
        )
