"""Real processes, with a real start."""

from __future__ import annotations

import os
import sys
import urllib.request

import pytest

from langgraph_prefetch.errors import ColdError, ConfigurationError
from langgraph_prefetch.serving.warmup import ServerProcess, Warmer, processes
from tests.serving.warmup.parts import free_port, server_command, telling_command


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_three_processes_are_ready_when_their_future_is() -> None:
    """They answer, each from a process of its own, and none is left behind."""
    ports = {name: free_port() for name in ("embedder", "grader", "reranker")}
    parts = {
        name: ServerProcess(name, server_command(port, 0.1), f"http://127.0.0.1:{port}/")
        for name, port in ports.items()
    }
    with Warmer(parts) as warmer:
        for each in warmer.warm(parts).values():
            each.result(60)
        pids = set()
        for port in ports.values():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer:
                pids.add(int(answer.read()))
        assert len(pids) == 3
        assert {each.pid for each in parts.values()} == pids
    assert not any(alive(pid) for pid in pids)
    assert [each.is_warm() for each in parts.values()] == [False] * 3


def test_one_that_died_is_started_anew() -> None:
    """It is not warm, and the next need starts it."""
    port = free_port()
    part = ServerProcess("grader", server_command(port), f"http://127.0.0.1:{port}/")
    with Warmer({"grader": part}) as warmer:
        warmer.of("grader").ready()
        first = part.pid
        assert first is not None
        os.kill(first, 9)
        os.waitpid(first, 0) if part.pid == first else None
        warmer.of("grader").ready()
        assert part.pid not in (None, first)


def test_one_that_ends_or_does_not_come_is_told_so() -> None:
    """With its status, or after its time; and it is stopped."""
    url = f"http://127.0.0.1:{free_port()}/"
    ended = ServerProcess("grader", [sys.executable, "-S", "-c", "raise SystemExit(3)"], url)
    with pytest.raises(ColdError, match="ended with status 3"):
        ended.warm()
    silent = ServerProcess(
        "grader", [sys.executable, "-S", "-c", "import time; time.sleep(60)"], url, start_seconds=0.2
    )
    with pytest.raises(ColdError, match=r"did not serve within 0\.2 s"):
        silent.warm()
    assert silent.pid is None


def test_one_that_says_so_is_warm() -> None:
    """Without an address, and started anew after its end with a socket of its own."""
    part = ServerProcess("grader", telling_command("STATUS=loading", "READY=1\nSTATUS=serving"))
    assert not part.is_warm()
    try:
        part.warm()
        first = part.pid
        assert part.is_warm()
        part.warm()
        assert part.pid == first
        assert first is not None
        os.kill(first, 9)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        assert not part.is_warm()
        part.warm()
        assert part.pid not in (None, first)
    finally:
        part.cool()
    assert not part.is_warm()


def test_its_word_counts_before_its_address_answers() -> None:
    """What comes first; and the address is what is asked afterwards."""
    part = ServerProcess("grader", telling_command("READY=1"), f"http://127.0.0.1:{free_port()}/")
    try:
        part.warm()
        assert part.pid is not None
    finally:
        part.cool()


def test_another_word_is_not_the_one() -> None:
    """Progress that it tells does not make it ready, nor does the end of what is read of it."""
    part = ServerProcess("grader", telling_command("STATUS=loading", "NOTREADY=1", "READY=10"), start_seconds=0.5)
    with pytest.raises(ColdError, match=r"did not serve within 0\.5 s"):
        part.warm()


def test_an_address_that_has_just_answered_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every call of a gate asks whether its component is warm; that must not be a request each time."""
    asked = []
    answers = ServerProcess._answers

    def counted(self: ServerProcess) -> bool:
        asked.append(self)
        return answers(self)

    monkeypatch.setattr(ServerProcess, "_answers", counted)
    monkeypatch.setattr(processes, "FRESH_SECONDS", 1e9)
    port = free_port()
    part = ServerProcess("grader", server_command(port), f"http://127.0.0.1:{port}/")
    try:
        part.warm()
        asked.clear()
        assert part.is_warm()
        assert not asked
        monkeypatch.setattr(processes, "FRESH_SECONDS", 0.0)
        part.is_warm()  # what it says depends on how soon the answer is there
        assert asked
    finally:
        part.cool()


@pytest.mark.parametrize(
    ("command", "url", "seconds"),
    [
        ([], "http://x/", 1.0),
        ("python", "http://x/", 1.0),
        (["python"], "file:///etc", 1.0),
        (["python"], "http://x/", 0.0),
    ],
)
def test_wrong_use_is_told_at_once(command: list[str], url: str, seconds: float) -> None:
    """Before anything is started."""
    with pytest.raises(ConfigurationError, match="'grader'"):
        ServerProcess("grader", command, url, start_seconds=seconds)
