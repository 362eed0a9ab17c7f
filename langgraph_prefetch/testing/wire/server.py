"""A scripted model server on loopback: the thin shell around a :class:`Dialect`."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, ClassVar, Self

from langgraph_prefetch.testing.wire.dialect import Dialect, Problem, Reply
from langgraph_prefetch.testing.wire.plumbing import Handler, HttpServer
from langgraph_prefetch.testing.wire.script import (
    Cut,
    ErrorEvent,
    Request,
    Script,
    ScriptExhaustedError,
    Throttled,
    Turn,
    turn_of,
)


class WireServer:
    """Answers a script over HTTP on ``127.0.0.1``, streamed or whole as each request asks.

    ``seconds_per_token`` pauses before each streamed token; a whole answer waits as long as its stream would take, so
    both styles cost the same. ``refuse_streaming`` answers streamed requests with HTTP 400; ``keep_alive`` leaves
    connections open. The last ``log_size`` requests are kept in :attr:`requests`. Use as a context manager;
    :attr:`url` is known on entry.

    An exception in a script function becomes an HTTP 500 and is kept in :attr:`failures`.
    """

    dialect: ClassVar[Dialect]

    def __init__(
        self,
        script: Script,
        seconds_per_token: float = 0.0,
        *,
        seconds_to_first_token: float = 0.0,
        refuse_streaming: bool = False,
        keep_alive: bool = False,
        log_size: int = 1000,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        for name, value in {
            "seconds_per_token": seconds_per_token,
            "seconds_to_first_token": seconds_to_first_token,
        }.items():
            if not value >= 0:
                raise ValueError(f"{name} must be 0 or more, got {value}")
        self.script = script
        self.seconds_per_token = seconds_per_token
        self.seconds_to_first_token = seconds_to_first_token
        self.refuse_streaming = refuse_streaming
        self.keep_alive = keep_alive
        self._sleep = sleep
        self._log: deque[Request] = deque(maxlen=log_size)
        self._throttled: Counter[int] = Counter()
        self._disconnects = 0
        self._failures: list[Exception] = []
        self._lock = threading.Lock()
        self._http: HttpServer | None = None

    @property
    def url(self) -> str:
        """Base address without a trailing slash; raises :class:`RuntimeError` outside the ``with`` block."""
        if self._http is None:
            raise RuntimeError(f"{type(self).__name__} is not running: use it in a with block")
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def requests(self) -> tuple[Request, ...]:
        """The latest requests that a route understood, oldest first."""
        with self._lock:
            return tuple(self._log)

    @property
    def disconnects(self) -> int:
        """How many answers the client stopped reading before their end."""
        with self._lock:
            return self._disconnects

    @property
    def failures(self) -> tuple[Exception, ...]:
        """Exceptions that the script or the reading of a request raised."""
        with self._lock:
            return tuple(self._failures)

    def __enter__(self) -> Self:
        self._http = HttpServer(self._answer, self._disconnected, keep_alive=self.keep_alive)
        threading.Thread(target=self._http.serve_forever, args=(0.01,), name=type(self).__name__, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._http is not None:
            self._http.close()
            self._http = None

    def elsewhere(self, path: str, body: Mapping[str, Any]) -> Reply | None:
        """The answer to a POST that the dialect has no route for; None: there is no such route."""
        return None

    def _answer(self, path: str, body: dict[str, Any], out: Handler) -> None:
        try:
            request = self.dialect.read(path, body)
            turn = None if request is None else self._turn(request)
        except ScriptExhaustedError as error:
            out.reply(self.dialect.problem(Problem.BAD_REQUEST, str(error)))
        except Exception as error:  # noqa: BLE001  the script is the caller's code, and runs on our thread
            with self._lock:
                self._failures.append(error)
            out.reply(Reply(500, repr(error).encode()))
        else:
            if request is None or turn is None:
                out.reply(self.elsewhere(path, body) or Reply(404, b"no such route"))
            elif problem := self._refusal(turn, request):
                out.reply(problem)
            elif request.streamed:
                self._stream(turn, request, out)
            else:
                self._whole(turn, request, out)

    def _turn(self, request: Request) -> Turn:
        with self._lock:
            self._log.append(request)
        return turn_of(self.script, request)

    def _refusal(self, turn: Turn, request: Request) -> Reply | None:
        if request.streamed and self.refuse_streaming:
            return self.dialect.problem(Problem.NO_STREAMING, "streaming is not supported by this endpoint")
        if isinstance(turn.fault, Throttled) and self._throttles(turn.fault, request.turn):
            return self.dialect.problem(Problem.THROTTLED, "too many requests")
        return None

    def _whole(self, turn: Turn, request: Request, out: Handler) -> None:
        self._pause(self.seconds_to_first_token + turn.tokens * self.seconds_per_token)
        if isinstance(turn.fault, ErrorEvent):
            out.reply(self.dialect.problem(Problem.OVERLOADED, "overloaded"))
        else:
            out.reply(self.dialect.whole(turn, request), cut=isinstance(turn.fault, Cut))

    def _stream(self, turn: Turn, request: Request, out: Handler) -> None:
        out.start_stream(self.dialect.stream_headers)
        limit = turn.fault.tokens if isinstance(turn.fault, Cut | ErrorEvent) else None
        sent = 0
        for frame in self.dialect.frames(turn, request):
            if sent == limit:
                break
            if frame.is_token:
                self._pause(self.seconds_per_token + (0.0 if sent else self.seconds_to_first_token))
                sent += 1
            out.chunk(frame.data)
        if isinstance(turn.fault, ErrorEvent):
            out.chunk(self.dialect.error_event("overloaded").data)
        out.end_stream(cut=isinstance(turn.fault, Cut))

    def _throttles(self, fault: Throttled, turn: int) -> bool:
        with self._lock:
            self._throttled[turn] += 1
            return fault.times is None or self._throttled[turn] <= fault.times

    def _pause(self, seconds: float) -> None:
        if seconds > 0:
            self._sleep(seconds)

    def _disconnected(self) -> None:
        with self._lock:
            self._disconnects += 1
