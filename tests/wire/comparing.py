"""One script, asked for plainly and streamed: what differs in the two messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from langgraph_prefetch.testing.wire import OpenAIWire, Request, ScriptedCall, Stop, Turn, words
from tests.wire.clients import Client
from tests.wire.listening import Listener

METADATA = ("additional_kwargs", "response_metadata")


@tool
def search(query: str) -> str:
    """Look something up."""
    return f"result for {query}"


def _search(query: str) -> ScriptedCall:
    return ScriptedCall.of("search", {"query": query}, pieces=3)


THOUGHT = words("I should search for the Colorado orogeny. ")
TEXT = Turn(text=words("Paris is the capital. "))
EMPTY = Turn()
CALL = Turn(calls=(_search("alpha"),))
TEXT_CALL = Turn(text=words("Let me look. "), calls=(_search('naïve "quoted"\nline 東京'),))
PARALLEL = Turn(text=words("Both. "), calls=(_search("alpha"), _search("beta")))
THOUGHT_TEXT = Turn(reasoning=THOUGHT, text=words("Paris. "))
THOUGHT_CALL = Turn(reasoning=THOUGHT, text=words("Let me look. "), calls=(_search("alpha"),))
WORDLESS = Turn(signed_only=True, text=words("Let me look. "), calls=(_search("alpha"),))
REDACTED = Turn(reasoning=THOUGHT, redacted=b"\x00\xffopaque", text=words("Paris. "))
LENGTH = Turn(text=words("Paris is "), stop=Stop.LENGTH)
CUT_CALL = Turn(calls=(_search("whole"), ScriptedCall("search", ('{"query": "capital of ', "Fra"))), stop=Stop.LENGTH)

TURNS: Mapping[str, Turn] = {
    "text": TEXT,
    "empty": EMPTY,
    "call": CALL,
    "text and call": TEXT_CALL,
    "parallel calls": PARALLEL,
    "thought and text": THOUGHT_TEXT,
    "thought, text and call": THOUGHT_CALL,
    "wordless thought": WORDLESS,
    "redacted thought": REDACTED,
    "length": LENGTH,
    "cut call": CUT_CALL,
}


def script(request: Request) -> Turn:
    """Answers the turn that the prompt names."""
    return TURNS[request.prompt]


@dataclass(frozen=True)
class Outcome:
    """One turn, with or without tools bound, in one call style: both messages and how they differ."""

    turn: str
    tools: bool
    style: str
    invoked: AIMessage
    streamed: AIMessage
    heard: int

    @property
    def fields(self) -> frozenset[str]:
        """Message fields that differ, generated ids and metadata aside."""
        return _differing(_plain(self.invoked), _plain(self.streamed))

    @property
    def metadata(self) -> frozenset[str]:
        """Metadata keys that differ or exist on one side only."""
        return frozenset(
            f"{kind}.{key}"
            for kind in METADATA
            for key in _differing(getattr(self.invoked, kind), getattr(self.streamed, kind))
        )


def _plain(message: AIMessage) -> dict[str, Any]:
    return {"class": type(message).__name__, **message.model_dump(exclude={"id", *METADATA})}


def _differing(left: Mapping[str, Any], right: Mapping[str, Any]) -> frozenset[str]:
    missing = object()
    return frozenset(key for key in {*left, *right} if left.get(key, missing) != right.get(key, missing))


def _possible(turn: Turn, client: Client, *, tools: bool) -> bool:
    """A model calls offered tools only, and thinks when allowed to; only OpenAI's whole answers hold unclosed JSON."""
    if turn is CUT_CALL and client.wire is not OpenAIWire:
        return False
    return (tools or not turn.calls) and (client.thinks or not turn.thinks)


async def outcomes(client: Client) -> tuple[Outcome, ...]:
    """Compares every possible turn with this client, sync and async."""
    found = []
    with client.wire(script) as server:
        plain = client.build(server.url)
        for tools in (False, True):
            model = plain.bind_tools([search]) if tools else plain
            for name, turn in TURNS.items():
                if not _possible(turn, client, tools=tools):
                    continue
                listener = Listener()
                config: Any = {"callbacks": [listener]}
                found.append(
                    Outcome(name, tools, "invoke", model.invoke(name), model.invoke(name, config), listener.heard)
                )
                listener.heard = 0
                bare, streamed = await model.ainvoke(name), await model.ainvoke(name, config)
                found.append(Outcome(name, tools, "ainvoke", bare, streamed, listener.heard))
        assert [request.streamed for request in server.requests] == [False, True] * len(found)
        assert not server.failures
    return tuple(found)
