"""No test leaves this machine, and none knows a secret."""

import asyncio
import os
import socket
import threading
import time
from pathlib import Path

import pytest
from blockbuster import BlockingError

import langgraph_prefetch
from tests.offline import NetworkUsed, clean_environment, is_local

ELSEWHERE = ("192.0.2.1", 80)  # an address reserved for documentation
IN_PACKAGE = str(Path(langgraph_prefetch.__file__).with_name("example.py"))


def test_a_connection_elsewhere_is_refused() -> None:
    """Neither a connection nor a datagram nor a name look-up leaves the machine."""
    with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
        for attempt in (
            lambda: tcp.connect(ELSEWHERE),
            lambda: tcp.connect_ex(ELSEWHERE),
            lambda: udp.sendto(b"", ELSEWHERE),
            lambda: udp.sendto(b"", 0, ELSEWHERE),
            lambda: socket.getaddrinfo("example.org", 443),
            lambda: socket.create_connection(ELSEWHERE),
        ):
            with pytest.raises(NetworkUsed, match="loopback"):
                attempt()


async def test_an_asynchronous_connection_elsewhere_is_refused() -> None:
    """The event loop connects by the same socket methods."""
    with pytest.raises(NetworkUsed):
        await asyncio.open_connection(*ELSEWHERE)


def test_loopback_and_unix_sockets_work(tmp_path: Path) -> None:
    """Servers that a test starts are reached as ever."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(("localhost", server.getsockname()[1])).close()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "s"))
        server.listen()
        client.connect(str(tmp_path / "s"))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.8.8.8", True),
        ("::1", True),
        (b"localhost", True),
        ("queue.localhost", True),
        (None, True),
        ("10.0.0.1", False),
        ("example.org", False),
        ("localhost.example.org", False),
        ("fe80::1%eth0", False),
    ],
)
def test_only_loopback_is_local(host: object, local: bool) -> None:
    """A private network is not this machine either."""
    assert is_local(host) is local


def test_secrets_and_tracing_are_off() -> None:
    """A key on the developer's machine cannot be spent by a test."""
    environ = {"OPENAI_API_KEY": "x", "AWS_PROFILE": "prod", "LANGSMITH_TRACING": "true", "PATH": "/bin"}
    clean_environment(environ)
    assert environ.keys() & {"OPENAI_API_KEY", "AWS_PROFILE"} == set()
    assert (environ["LANGSMITH_TRACING"], environ["PATH"]) == ("false", "/bin")
    assert os.environ["LANGSMITH_TRACING"] == "false"
    assert not [name for name in os.environ if name.endswith("_API_KEY")]


async def test_blocking_the_loop_inside_the_package_is_caught() -> None:
    """A call that blocks the loop is an error if the package makes it."""
    blocking = compile("time.sleep(0.001)", IN_PACKAGE, "exec")
    with pytest.raises(BlockingError):
        exec(blocking)
    time.sleep(0.001)  # noqa: ASYNC251 - not the package's call
    await asyncio.to_thread(exec, blocking, {"time": time})


async def test_the_shipped_doubles_may_block() -> None:
    """A scripted model stands for somebody else's code, which may well block."""
    exec(compile("time.sleep(0.001)", str(Path(IN_PACKAGE).parent / "testing" / "example.py"), "exec"))


async def test_a_short_lock_is_no_blocking() -> None:
    """Locks guard a few instructions; whether one is contended is chance."""
    exec(compile("with lock: lock2.acquire(timeout=0.001)", IN_PACKAGE, "exec"), _two_locks())


@pytest.mark.allow_blocking("shows that the mark works")
async def test_a_marked_test_may_block() -> None:
    """The mark switches the check off for one test."""
    exec(compile("time.sleep(0.001)", IN_PACKAGE, "exec"))


def _two_locks() -> dict[str, object]:
    taken = threading.Lock()
    taken.acquire()
    return {"lock": threading.Lock(), "lock2": taken}
