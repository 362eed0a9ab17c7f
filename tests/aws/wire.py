"""A stretch of network on loopback between a client and a server, which can be made to misbehave."""

import contextlib
import socket
import struct
import threading
from enum import StrEnum
from urllib.parse import urlsplit

CHUNK = 65_536


class Mode(StrEnum):
    """What happens to what is sent.

    ``SILENT``: requests are taken and never answered. ``HALF_OPEN``: they are not even taken. ``SLOW``: answers come a
    second late. ``DRIP``: a byte at a time. ``RESET``: whoever asks is hung up on.
    """

    PASS = "pass"
    SILENT = "silent"
    HALF_OPEN = "half-open"
    SLOW = "slow"
    DRIP = "drip"
    RESET = "reset"


class Wire:
    """Passes bytes on to ``url`` until ``mode`` is set to something else."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        self._server = (str(at.hostname), int(at.port or 80))
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.mode = Mode.PASS
        self._over = threading.Event()
        self._sockets: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for each in [self._listener, *self._sockets]:
            _shut(each)
        for thread in self._threads:
            thread.join(10)

    def _accept(self) -> None:
        while not self._over.is_set():
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
            except OSError:
                return
            self._sockets += [client, server]
            for call in (self._asks, self._answers):
                thread = threading.Thread(target=call, args=(client, server), daemon=True)
                self._threads.append(thread)
                thread.start()

    def _asks(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := client.recv(CHUNK):
                if self.mode is Mode.HALF_OPEN:
                    self._over.wait()
                elif self.mode is Mode.RESET:
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    break
                elif self.mode is not Mode.SILENT:
                    server.sendall(data)
        client.close()
        _shut(server)

    def _answers(self, client: socket.socket, server: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := server.recv(CHUNK):
                if self.mode is Mode.SLOW:
                    self._over.wait(1.0)
                if self.mode is Mode.DRIP:
                    for each in data:
                        client.sendall(bytes([each]))
                        self._over.wait(0.2)
                else:
                    client.sendall(data)
        _shut(client)


def _shut(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
