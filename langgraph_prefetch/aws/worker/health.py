"""A worker's health over HTTP: ``/healthz``, ``/readyz``, ``/metrics``. On loopback unless it is told otherwise."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langgraph_prefetch.errors import ConfigurationError

LOOPBACK = "127.0.0.1"
_TEXT = "text/plain; version=0.0.4; charset=utf-8"


class Health:
    """The endpoint.

    Args:
        state: why the worker is not alive or not ready (``alive``, ``ready``: None where it is), and its numbers.
        metrics: the text for Prometheus.
        port: 0 for any free one.
        host: where it listens. A container's health check runs inside it, so loopback will do there.

    Attributes:
        port: where it listens.

    Raises:
        ConfigurationError: it cannot listen there.
    """

    def __init__(
        self, state: Callable[[], dict[str, object]], metrics: Callable[[], str], port: int, host: str = LOOPBACK
    ) -> None:
        class Handler(BaseHTTPRequestHandler):
            timeout = 5

            def do_GET(self) -> None:
                told = state()
                match self.path:
                    case "/healthz" | "/readyz":
                        reason = told["alive"] if self.path == "/healthz" else told["alive"] or told["ready"]
                        self._answer(503 if reason else 200, json.dumps(told), "application/json")
                    case "/metrics":
                        self._answer(200, metrics(), _TEXT)
                    case _:
                        self._answer(404, "healthz, readyz or metrics\n", _TEXT)

            def _answer(self, status: int, text: str, kind: str) -> None:
                body = text.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the host's name
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 64

        try:
            self._server = Server((host, port), Handler)
        except OSError as error:
            raise ConfigurationError(f"the health endpoint cannot listen on {host}:{port}: {error.strerror}") from error
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="langgraph-prefetch-health", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(1)
