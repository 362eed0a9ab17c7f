"""The file of verdicts: written at once, read back after anything, never paid for twice."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import VerdictFileError
from langgraph_prefetch.evaluation.judging import Reason, VerdictStore
from langgraph_prefetch.evaluation.judging.replies import Answer, Ask, of_line, to_line

ROOT = Path(__file__).parents[3]


def ask(text: str = "input: {}", *, judge: str = "j", turn: int = 0, digest: str = "d") -> Ask:
    return Ask(
        judge=judge,
        prompt="answer@1",
        prompt_digest=digest,
        subject="q1/bare",
        messages=(("system", "grade"), ("human", text)),
        schema={},
        turn=turn,
    )


REPLY = Answer(payload={"reasoning": "gut", "score": 4}, text='{"reasoning": "gut", "score": 4}', money=0.25)


@given(
    st.builds(
        Answer,
        payload=st.none() | st.dictionaries(st.text(), st.text() | st.integers() | st.none()),
        reason=st.none() | st.sampled_from(Reason),
        detail=st.text(),
        text=st.text(),
        input_tokens=st.integers(min_value=0, max_value=10**9),
        money=st.none() | st.floats(min_value=0, max_value=1e6),
    ),
    st.text(),
)
def test_a_line_holds_the_whole_answer(answer: Answer, text: str) -> None:
    """Whatever a judge wrote, in whatever script, is read back as it was, and is one line."""
    line = to_line(ask(text), answer, "2026-01-01T00:00:00+00:00")
    assert "\n" not in line
    assert of_line(line) == (ask(text).key, answer)


def test_the_transcript_is_whole(tmp_path: Path) -> None:
    """Judge, prompt version and digest, every message and the reply stand in the file."""
    VerdictStore(tmp_path / "v.jsonl").put(ask("한국어 질문"), REPLY)
    held = json.loads((tmp_path / "v.jsonl").read_text(encoding="utf-8"))
    assert (held["judge"], held["prompt"], held["prompt_digest"]) == ("j", "answer@1", "d")
    assert held["messages"] == [["system", "grade"], ["human", "한국어 질문"]]
    assert held["text"] == REPLY.text


def test_what_is_asked_decides_whether_it_was_asked(tmp_path: Path) -> None:
    """Another judge, another prompt, another text or another turn is another question; the file is read on opening."""
    VerdictStore(tmp_path / "v.jsonl").put(ask(), REPLY)
    again = VerdictStore(tmp_path / "v.jsonl")
    assert again.get(ask()) == REPLY
    for other in (ask(judge="k"), ask(digest="e"), ask("input: {1}"), ask(turn=1)):
        assert again.get(other) is None


def test_a_call_that_failed_is_made_again(tmp_path: Path) -> None:
    """Nothing came, nothing was paid: it is kept to be read, and asked again. What came malformed is not."""
    store = VerdictStore(tmp_path / "v.jsonl")
    store.put(ask("a"), Answer.without(Reason.TIMED_OUT))
    store.put(ask("b"), Answer.without(Reason.MALFORMED, text="prose"))
    again = VerdictStore(tmp_path / "v.jsonl")
    assert again.get(ask("a")) is None
    assert again.get(ask("b")) is not None


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_torn_last_line_is_passed_over(tmp_path: Path, cut: int) -> None:
    """A kill in the middle of a line costs that line; what is written next stands on a line of its own."""
    path = tmp_path / "v.jsonl"
    store = VerdictStore(path)
    store.put(ask("a"), REPLY)
    store.put(ask("b"), REPLY)
    path.write_bytes(path.read_bytes()[:-cut])
    again = VerdictStore(path)
    # The line break alone may be missing: then the line is whole.
    assert (again.get(ask("b")) is None, again.broken) == ((False, 0) if cut == 1 else (True, 1))
    again.put(ask("c"), REPLY)
    third = VerdictStore(path)
    assert third.get(ask("a")) == third.get(ask("c")) == REPLY


def test_a_letter_cut_in_half_is_passed_over(tmp_path: Path) -> None:
    """A torn line may end inside a character."""
    path = tmp_path / "v.jsonl"
    VerdictStore(path).put(ask("가"), REPLY)
    path.write_bytes(path.read_bytes() + "가".encode()[:2])
    assert VerdictStore(path).broken == 1


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """Going on with a file of a later release would pay for all of it again."""
    path = tmp_path / "v.jsonl"
    path.write_text('{"format": 2, "key": "x"}\n')
    with pytest.raises(VerdictFileError, match="line 1: format 2, newer"):
        VerdictStore(path)


@pytest.mark.parametrize("line", ["[]", "{}", '{"format": 1, "key": "x", "payload": 3}', "NaN", '{"format": "1"}'])
def test_what_is_no_verdict_is_counted(tmp_path: Path, line: str) -> None:
    """Other lines harm nothing."""
    path = tmp_path / "v.jsonl"
    path.write_text(line + "\n")
    assert (len(VerdictStore(path)), VerdictStore(path).broken) == (0, 1)


def test_a_file_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    """Judging on without keeping verdicts would pay for them again."""
    store = VerdictStore(tmp_path / "v.jsonl")
    (tmp_path / "v.jsonl").mkdir()
    with pytest.raises(VerdictFileError, match=r"v\.jsonl"):
        store.put(ask(), REPLY)


def test_threads_write_whole_lines(tmp_path: Path) -> None:
    """Several at a time do not mix their lines."""
    store = VerdictStore(tmp_path / "v.jsonl")

    def write(name: int) -> None:
        for turn in range(20):
            store.put(ask(f"{name}" * 2_000, turn=turn), REPLY)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = VerdictStore(tmp_path / "v.jsonl")
    assert (len(again), again.broken) == (80, 0)


KILLED = """
import os, signal, sys
from tests.evaluation.judging.test_store import REPLY, ask
from langgraph_prefetch.evaluation.judging import VerdictStore

store = VerdictStore(sys.argv[1])
for turn in range(5):
    store.put(ask(turn=turn), REPLY)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_no_verdict(tmp_path: Path) -> None:
    """What `put` returned from is there after `kill -9`."""
    path = tmp_path / "v.jsonl"
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], cwd=ROOT, check=False, timeout=50)
    assert killed.returncode == -9
    store = VerdictStore(path)
    assert [store.get(ask(turn=turn)) for turn in range(5)] == [REPLY] * 5
