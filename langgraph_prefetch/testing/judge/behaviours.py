"""Ways in which judges go wrong, each a script for a :class:`~langgraph_prefetch.testing.judge.server.JudgeServer`.

Those that need no embeddings work as scripts of an :class:`~langgraph_prefetch.testing.wire.AnthropicWire` as well.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Literal

from langgraph_prefetch.testing.judge.asked import Asked, asked
from langgraph_prefetch.testing.judge.sensible import BEST, judged
from langgraph_prefetch.testing.wire import ErrorEvent, Request, ScriptedCall, Throttled, Turn

Behaviour = Callable[[Request], Turn]
Fault = Literal["prose", "cut", "out of range", "wrong type", "extra field", "empty"]

_AT_LENGTH = "Let me think about this at some length before I come to what I was asked for. "


def sensible(request: Request) -> Turn:
    """Replies by the claims that contexts hold; see :func:`~langgraph_prefetch.testing.judge.sensible.judged`."""
    wanted = asked(request)
    return said(wanted, judged(wanted))


def strict(request: Request) -> Turn:
    """As :func:`sensible`, one point less generous where it can be: a second opinion."""
    wanted = asked(request)
    reply = judged(wanted)
    if isinstance(reply.get("score"), int) and not isinstance(reply["score"], bool):
        reply["score"] = max(1, reply["score"] - 1)
    return said(wanted, reply)


def first_place(request: Request) -> Turn:
    """Prefers whichever answer is shown first."""
    wanted = asked(request)
    return said(wanted, judged(wanted) | ({"better": "first"} if "better" in wanted.fields else {}))


def failing(request: Request) -> Turn:
    """An error of the provider (HTTP 503), always."""
    return Turn(text=("-",), fault=ErrorEvent(0))


def throttled(request: Request) -> Turn:
    """Too many requests (HTTP 429), always."""
    return Turn(fault=Throttled())


def refusing(request: Request) -> Turn:
    """The provider's refusal in place of a reply."""
    return Turn(refusal="I cannot help with that.")


def verbose(request: Request) -> Turn:
    """A valid reply, lost in twenty thousand characters of prose."""
    wanted = asked(request)
    return Turn(text=(_AT_LENGTH * 250, json.dumps(judged(wanted)), "\n", _AT_LENGTH * 10))


class Flipping:
    """Says what a coin says; the same question asked again gets the other side as often as not. Seeded."""

    def __init__(self, seed: int = 0) -> None:
        self._seed, self._lock = seed, threading.Lock()
        self._times: Counter[str] = Counter()

    def __call__(self, request: Request) -> Turn:
        """The reply of the side that came up."""
        with self._lock:
            self._times[request.prompt] += 1
            told = json.dumps([self._seed, self._times[request.prompt], request.prompt])
        side = hashlib.sha256(told.encode()).digest()[0] % 2
        wanted = asked(request)
        reply = judged(wanted)
        if "better" in reply:
            reply["better"] = ("first", "second")[side]
        elif "score" in reply:
            reply["score"] = (1, BEST)[side]
        return said(wanted, reply)


class Malformed:
    """A reply with a fault that a careless reader would take for a verdict."""

    def __init__(self, fault: Fault = "prose") -> None:
        self.fault = fault

    def __call__(self, request: Request) -> Turn:
        """The sensible reply, spoilt."""
        wanted = asked(request)
        reply = judged(wanted)
        if self.fault == "prose":
            return Turn(text=(f"On the whole I would say:\n```json\n{json.dumps(reply)}\n```\nThat is my view.",))
        if self.fault == "cut":
            return Turn(text=(json.dumps(reply)[:-1],))
        if self.fault == "empty":
            return Turn(text=("",))
        return said(wanted, {name: _spoilt(self.fault, value) for name, value in reply.items()} | self._extra())

    def _extra(self) -> dict[str, Any]:
        return {"confidence": 0.9} if self.fault == "extra field" else {}


class Waiting:
    """Replies sensibly after ``seconds``, or never; the server's end ends the waiting."""

    def __init__(self, seconds: float | None = None) -> None:
        self.seconds = seconds
        self.waiting = threading.Semaphore(0)  # released once for each request that has begun to wait
        self._closing = threading.Event()

    def __call__(self, request: Request) -> Turn:
        """The sensible reply, late."""
        self.waiting.release()
        self._closing.wait(self.seconds)
        return sensible(request)

    def close(self) -> None:
        """Let whatever waits go."""
        self._closing.set()


def said(wanted: Asked, reply: Mapping[str, Any]) -> Turn:
    """A reply in the form that was asked for: as text, or as the arguments of a tool."""
    if wanted.tool is None:
        return Turn(text=(json.dumps(reply, ensure_ascii=False),))
    return Turn(calls=(ScriptedCall.of(wanted.tool, reply),))


def _spoilt(fault: Fault, value: Any) -> Any:
    choice = value in ("first", "second", "tie")
    if fault == "out of range":
        return value + 10 if isinstance(value, int | float) else "neither" if choice else value
    if fault == "wrong type":
        return str(value) if isinstance(value, int | float) else [value] if choice else value
    return value


NAMED: Mapping[str, Callable[[], Behaviour]] = {
    "sensible": lambda: sensible,
    "strict": lambda: strict,
    "first-place": lambda: first_place,
    "flipping": Flipping,
    "verbose": lambda: verbose,
    "malformed": Malformed,
    "refusing": lambda: refusing,
    "failing": lambda: failing,
    "throttled": lambda: throttled,
    "silent": Waiting,
}
"""By name, for a command line."""
