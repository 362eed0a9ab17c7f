"""Callers who look alike never get each other's results; and if a key were careless, the replay would tell."""

from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch import keys
from langgraph_prefetch.evaluation.backend import RecordedCaller
from langgraph_prefetch.evaluation.callers import crowd
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording, read_recording
from langgraph_prefetch.keys import Encoded, Scope, SearchKey, SharedScope, search_key
from langgraph_prefetch.speculation import session
from tests.evaluation.recordings import write

COLLIDING = ReplaySettings(inject_collisions=True)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return read_recording(write(tmp_path / "runs.jsonl"))


@pytest.mark.parametrize("reuse", [None, 60.0])
def test_no_wrong_answer_among_lookalikes(recording: Recording, reuse: float | None) -> None:
    """In one scope, at one time, with equal queries: every caller gets its own result."""
    measured = replay(recording, ReplaySettings(inject_collisions=True, reuse_seconds=reuse))
    assert measured.search_calls == 9 * len(crowd())
    assert measured.coverage > 0.5
    assert measured.wrong_answers == 0


def test_the_hashes_of_different_callers_really_collide() -> None:
    """Equal hashes are injected, not only equal values: the keys differ, and their hashes do not."""

    def key(member: int) -> SearchKey:
        caller = RecordedCaller(crowd()[member].configurable).key(())
        return search_key("search", {"query": "Ada"}, caller, SharedScope("all"))

    all_keys = [key(member) for member in range(len(crowd()))]
    pairs = [(a, b) for a in all_keys for b in all_keys if a != b and hash(a) == hash(b)]
    assert pairs


def without_caller(tool: Hashable, arguments: Mapping[str, Any], caller: Encoded, scope: Scope) -> SearchKey:
    return search_key(tool, arguments, (), scope)


def by_hash_alone(tool: Hashable, arguments: Mapping[str, Any], caller: Encoded, scope: Scope) -> SearchKey:
    return SearchKey(hash(search_key(tool, arguments, caller, scope)), (), (), scope)


@pytest.mark.parametrize("broken", [without_caller, by_hash_alone])
def test_the_oracle_sees_a_broken_key(recording: Recording, monkeypatch: pytest.MonkeyPatch, broken: object) -> None:
    """A key that forgets the caller, or trusts hashes, gives wrong answers, and they are counted."""
    monkeypatch.setattr(session, "search_key", broken)
    assert replay(recording, COLLIDING).wrong_answers > 0


def test_the_oracle_sees_untyped_arguments(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that takes 1, True and 1.0 for one argument gives wrong answers, and they are counted."""

    def untyped(value: Any) -> Encoded:
        return tuple(sorted(value.items())) if isinstance(value, dict) else (value,)

    monkeypatch.setattr(keys, "encode_arguments", untyped)
    assert replay(recording, COLLIDING).wrong_answers > 0


def test_the_oracle_sees_results_that_outlive_a_change(recording: Recording, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that is not void after another tool ran serves what is no longer true, and it is counted."""
    monkeypatch.setattr(session.Session, "void", lambda self, reason: None)
    assert replay(recording, ReplaySettings(reuse_seconds=60)).wrong_answers > 0
