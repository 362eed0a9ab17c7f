"""The demo across processes: the same answers, searches on workers, and nothing left behind."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.demo.aws import bedrock, searching
from langgraph_prefetch.demo.aws.command import main
from langgraph_prefetch.demo.questions import QUESTIONS
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.testing.wire import Request
from tests.aws.conftest import installed

MARK = "TEST_MARK_OF_DEMO"


def request(turn: int, *found: str) -> Request:
    content = [{"toolResult": {"toolUseId": "x", "content": [{"text": text}]}} for text in found]
    body = {"messages": [{"role": "user", "content": content}]}
    asked: dict[str, Any] = {"prompt": QUESTIONS[0].text, "messages": 1, "tools": ("search",)}
    return Request(path="", body=body, model="m", streamed=True, turn=turn, **asked)


def test_the_model_thinks_then_calls_then_answers_from_what_was_found() -> None:
    """As the demo's own model, with its thoughts as reasoning; another passage makes another answer."""
    questions = {QUESTIONS[0].text: QUESTIONS[0]}
    first = bedrock.turn_of(questions, request(0))
    assert "".join(first.reasoning) == QUESTIONS[0].steps[0].thought
    assert [json.loads(call.json) for call in first.calls] == [{"query": QUESTIONS[0].steps[0].queries[0]}]
    last = len(QUESTIONS[0].steps)
    turns = [bedrock.turn_of(questions, request(last, text)) for text in ("one passage", "another passage")]
    told = ["".join(turn.text) for turn in turns]
    assert told[0] != told[1]
    assert "another passage" in told[1]


def test_a_worker_without_its_environment_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named what is missing."""
    monkeypatch.delenv(searching.DATABASE, raising=False)
    with pytest.raises(ConfigurationError, match=searching.DATABASE):
        searching.search  # noqa: B018 - the look itself is what is tested


def test_wrong_use_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is started, with exit code 2."""
    assert main(["--server", "nowhere", "--questions", "0"]) == 2
    assert capsys.readouterr().err == "langgraph-prefetch: --questions must be from 1 to 8, not 0\n"


@pytest.fixture
def mark() -> str:
    """In the environment of the demo, and so of everything that it starts."""
    return uuid.uuid4().hex


def left(mark: str) -> list[str]:
    """Processes with that mark, whoever their parent is by now."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


def start(mark: str, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "langgraph_prefetch.demo.aws", "--server", installed("ministack")]
    environment = {**os.environ, MARK: mark}
    return subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_whole_run(mark: str, tmp_path: Path) -> None:
    """Equal answers, something served by a worker, empty queues, every process gone."""
    out = tmp_path / "out.json"
    with start(mark, "--questions", "2", "--tokens-per-second", "100", "--json", str(out)) as process:
        said = process.communicate(timeout=280)[0]
    assert process.returncode == 0, said
    figures = json.loads(out.read_text(encoding="utf-8"))
    assert (figures["same_answers"], figures["same_passages"], figures["wrong"]) == (2, 2, 0)
    assert figures["served"] > 0
    assert "messages left in the queues: 0." in said
    worked = [line for line in said.splitlines() if line.startswith("Worker ")]
    assert sum("served" in line for line in worked) >= 1, said
    assert left(mark) == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_interrupted_run_leaves_nothing(mark: str) -> None:
    """Ctrl-C while agents work: the shell's exit code for it, no trace, and every process gone."""
    with start(mark) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("question"):
                break
        assert len(left(mark)) >= 5  # itself, two workers, the database, the queue
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        rest = process.communicate(timeout=120)[0]
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    assert left(mark) == []
