"""The HTTP plumbing below a scripted server: connections, whole and chunked answers."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from langgraph_prefetch.testing.wire.dialect import Reply

CLOSE_SECONDS = 1.0

Answer = Callable[[str, dict[str, Any], "Handler"], None]


class HttpServer(ThreadingHTTPServer):
    """A thread per connection; ``answer`` gets the unquoted path, the JSON body and the handler to reply by."""

    # The standard backlog of 5 makes concurrent clients wait a second for a retransmit, which would look like slowness.
    request_queue_size = 256
    daemon_threads = True

    def __init__(self, answer: Answer, on_disconnect: Callable[[], None], *, keep_alive: bool = False) -> None:
        self.answer = answer
        self.keep_alive = keep_alive
        self._on_disconnect = on_disconnect
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()
        super().__init__(("127.0.0.1", 0), Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Remember the connection for as long as it is served."""
        with self._changed:
            self._open.add(request)
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._open.discard(request)
                self._changed.notify_all()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is counted; anything else is our own fault and printed."""
        if isinstance(sys.exception(), OSError):
            self._on_disconnect()
        else:
            super().handle_error(request, client_address)

    def close(self) -> None:
        """Stop, end open connections and wait briefly for their threads."""
        self.shutdown()
        self.server_close()
        with self._changed:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue
            self._changed.wait_for(lambda: not self._open, CLOSE_SECONDS)


class Handler(BaseHTTPRequestHandler):
    """Reads one POST and offers the ways to answer it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: HttpServer

    def do_POST(self) -> None:
        """Read the body and pass it on."""
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            self.reply(Reply(400, b"the body is not JSON"))
        else:
            self.server.answer(unquote(urlsplit(self.path).path), body, self)

    def reply(self, reply: Reply, *, cut: bool = False) -> None:
        """Send a whole answer; ``cut`` closes the connection half-way through its body."""
        self._head(
            reply.status, {"content-type": "application/json", **reply.headers, "content-length": str(len(reply.body))}
        )
        self.wfile.write(reply.body[: len(reply.body) // 2] if cut else reply.body)

    def start_stream(self, headers: Mapping[str, str]) -> None:
        """Begin a chunked answer."""
        self._head(200, {**headers, "transfer-encoding": "chunked"})

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        # Clients keep connections in process-wide pools, which outlive the event loop of the test that opened them.
        self.send_response(status)
        kept = {} if self.server.keep_alive else {"connection": "close"}
        for name, value in {**headers, **kept}.items():
            self.send_header(name, value)
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        """Send one chunk at once."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def end_stream(self, *, cut: bool) -> None:
        """End the answer properly, or close the connection without the end mark."""
        if not cut:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name is the base class's
        """Nothing on stderr: requests are in the server's log."""
