"""Components that start when they are let, and a server whose start takes real work."""

from __future__ import annotations

import socket
import sys
import threading

SERVER = """
import http.server, os, sys, time
time.sleep(float(sys.argv[2]))  # a model that is loaded
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(str(os.getpid()).encode())
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""

TELLING = """
import os, socket, sys, threading
def tell(said):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.sendto(said, os.environ["NOTIFY_SOCKET"])
for said in sys.argv[1:]:
    tell(said.encode())
threading.Event().wait()
"""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def server_command(port: int, seconds: float = 0.0) -> list[str]:
    return [sys.executable, "-S", "-c", SERVER, str(port), str(seconds)]


def telling_command(*said: str) -> list[str]:
    """One that says this at its start, serves nothing, and stays."""
    return [sys.executable, "-S", "-c", TELLING, *said]


class Startable:
    """Starts together with others at a barrier, or at once."""

    def __init__(self, barrier: threading.Barrier | None = None) -> None:
        self.barrier, self.failing = barrier, False
        self.started = self.stopped = 0
        self.warm_now = False

    def is_warm(self) -> bool:
        return self.warm_now

    def warm(self) -> None:
        if self.barrier is not None:
            self.barrier.wait(30)
        if self.failing:
            raise RuntimeError("no room")
        self.started += 1
        self.warm_now = True

    def cool(self) -> None:
        self.stopped += 1
        self.warm_now = False
