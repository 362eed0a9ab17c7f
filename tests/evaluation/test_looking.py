"""A stream that is looked at now and then: nothing is lost, and all of it comes as late as the looks make it."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.looking import Looking
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import read_recording
from langgraph_prefetch.evaluation.virtual_time import run_virtually
from langgraph_prefetch.values import TextDelta
from tests.evaluation.recordings import SAID, episode, write


def heard(every: float, times: list[float]) -> list[tuple[float, str]]:
    """When each token, written at its time, was heard; the last look comes a second after the last token."""

    async def main() -> list[tuple[float, str]]:
        loop = asyncio.get_running_loop()
        found: list[tuple[float, str]] = []
        looking = Looking(lambda deltas: found.extend((loop.time(), each.text) for each in deltas), every)  # type: ignore[union-attr]
        for number, at in enumerate(times):
            await looking.wait(at - loop.time())
            looking.written(TextDelta(str(number)))
        await looking.wait(1.0)
        looking.look()
        return found

    return [(round(at, 6), text) for at, text in run_virtually(main)]


def test_every_token_is_a_look_where_nothing_is_said() -> None:
    """Without an interval a token is heard when it is written."""
    assert heard(0.0, [0.1, 0.25]) == [(0.1, "0"), (0.25, "1")]


def test_looks_come_at_the_multiples_of_the_interval() -> None:
    """Tokens wait for the next look, and one that is written between two looks for the second."""
    assert heard(0.2, [0.05, 0.15, 0.3]) == [
        (0.2, "0"),
        (0.2, "1"),
        (0.4, "2"),
    ]


def test_what_was_not_looked_at_is_read_at_the_end() -> None:
    """The end of a message is a look."""
    assert heard(10.0, [0.05]) == [(1.05, "0")]


@given(st.floats(0.01, 3.0), st.lists(st.floats(0.001, 0.5), min_size=1, max_size=20))
def test_nothing_is_lost_or_reordered_or_later_than_one_interval(every: float, gaps: list[float]) -> None:
    """Every token is heard once, in order, never before it was written, and at most one interval after."""
    times = [sum(gaps[: number + 1]) for number in range(len(gaps))]
    found = heard(every, times)
    assert [text for _, text in found] == [str(number) for number in range(len(times))]
    for at, written in zip((at for at, _ in found), times, strict=True):
        assert written - 1e-6 <= at <= written + every + 1e-6


def test_rarer_looks_hide_less_and_serve_the_same(tmp_path: Path) -> None:
    """The interval costs hidden seconds; what is served, and that it is right, does not depend on it."""
    recording = read_recording(write(tmp_path / "runs.jsonl", [episode(SAID)] * 3))
    often, seldom = (replay(recording, ReplaySettings(look_every_seconds=every)) for every in (0.0, 0.7))
    assert often.hidden_seconds > seldom.hidden_seconds > 0
    assert often.coverage == seldom.coverage == 1
    assert seldom.wrong_answers == 0


def test_an_interval_below_zero_is_an_error() -> None:
    """The message names the setting."""
    with pytest.raises(ConfigurationError, match="look_every_seconds"):
        ReplaySettings(look_every_seconds=-0.1)
