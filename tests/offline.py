"""Tests talk to this machine only, and know no secrets."""

import ipaddress
import os
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest import mock

_SETTINGS = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "AWS_EC2_METADATA_DISABLED": "true",
    "HF_HUB_OFFLINE": "1",
}
_SECRET_ENDINGS = ("_API_KEY", "_API_TOKEN", "_ACCESS_TOKEN", "_SECRET_KEY")
_SECRETS = {
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
}


class NetworkUsed(Exception):
    """A test reached for another machine."""


def clean_environment(environ: MutableMapping[str, str]) -> None:
    """Takes keys out and switches telemetry off, before any library has read them."""
    for name in list(environ):
        if name in _SECRETS or name.endswith(_SECRET_ENDINGS):
            del environ[name]
    environ.update(_SETTINGS)
    if "XDG_RUNTIME_DIR" not in environ:  # the embedded PostgreSQL warns without one, and warnings are errors
        path = os.path.join(tempfile.gettempdir(), f"runtime-{os.getuid()}")
        os.makedirs(path, mode=stat.S_IRWXU, exist_ok=True)
        environ["XDG_RUNTIME_DIR"] = path


def is_local(host: object) -> bool:
    """Whether a host as the socket module takes it is this machine's loopback (or a wildcard to bind to)."""
    if isinstance(host, bytes):
        host = host.decode()
    if host is None or host in ("", "localhost") or str(host).endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_unless_local(host: object) -> None:
    if not is_local(host):
        raise NetworkUsed(f"tests may connect to loopback and unix sockets only, not to {host!r}")


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(sock: socket.socket, *args: Any) -> Any:
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            _refuse_unless_local(args[-1][0])  # the address stands last in connect(address) and sendto(data, address)
        return method(sock, *args)

    return call


@contextmanager
def loopback_only() -> Iterator[None]:
    """Refuses connections, datagrams and name look-ups that would leave this machine."""
    look_up = socket.getaddrinfo

    def getaddrinfo(host: Any, *args: Any, **options: Any) -> Any:
        _refuse_unless_local(host)
        return look_up(host, *args, **options)

    with (
        mock.patch.object(socket.socket, "connect", _guarded(socket.socket.connect)),
        mock.patch.object(socket.socket, "connect_ex", _guarded(socket.socket.connect_ex)),
        mock.patch.object(socket.socket, "sendto", _guarded(socket.socket.sendto)),
        mock.patch.object(socket, "getaddrinfo", getaddrinfo),
    ):
        yield
