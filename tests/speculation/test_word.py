"""A call waits for a search elsewhere as long as there is word of it."""

import asyncio
import threading
import time
from math import inf

import pytest

from langgraph_prefetch.jobs import Word
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.values import Output

LONG, FOUND = 300.0, Output("found")


def flight(word: Word | None) -> Flight:
    made = Flight(lambda: 0.0)
    made.start()
    if word is not None:
        made.watch(word)
    return made


def waited(made: Flight, form: str, seconds: float = LONG, since: float | None = None) -> Output | None:
    return made.wait(seconds, since) if form == "thread" else asyncio.run(made.await_(seconds, since))


@pytest.mark.parametrize(
    ("heard_at", "since", "silent_at"), [(None, 5.0, inf), (4.0, 5.0, 5.5), (5.0, 5.0, 5.75), (9.0, 5.0, 9.75)]
)
def test_when_it_is_silent(heard_at: float | None, since: float, silent_at: float) -> None:
    """One look after the call came, or after the pause after the last answer; never where a cache does not tell."""
    assert Word(heard_at, pause_seconds=0.25, answer_seconds=0.5).silent_at(since) == silent_at


@pytest.mark.parametrize("form", ["thread", "loop"])
def test_no_word(form: str) -> None:
    """The cache is asked as the call comes; it says nothing, and nobody waits on."""
    asked: list[int] = []
    made = flight(Word(heard_at=0.0, answer_seconds=0.01, ask=lambda: asked.append(1)))
    assert waited(made, form) is None
    assert (made.silent, asked) == (True, [1])


@pytest.mark.parametrize("form", ["thread", "loop"])
def test_word_until_the_end(form: str) -> None:
    """As long as there is word it is waited for, and its end ends the wait."""
    word = Word(heard_at=0.0, answer_seconds=LONG)
    made = flight(word)
    word.ask = threading.Timer(0.01, made.land, [FOUND]).start
    assert waited(made, form) == FOUND
    assert not made.silent


@pytest.mark.parametrize("form", ["thread", "loop"])
def test_word_that_comes_when_it_is_asked(form: str) -> None:
    """What is silence depends on the latest word, not on what was known when the call came."""
    word = Word(heard_at=0.0, answer_seconds=0.05)
    made = flight(word)

    def tell() -> None:
        word.heard_at = time.monotonic() + LONG
        threading.Timer(0.2, made.land, [FOUND]).start()

    word.ask = tell
    assert waited(made, form) == FOUND


@pytest.mark.parametrize("form", ["thread", "loop"])
@pytest.mark.parametrize("word", [None, Word(), Word(heard_at=0.0, answer_seconds=LONG)], ids=["none", "mute", "told"])
def test_patience_ends_all_the_same(form: str, word: Word | None) -> None:
    """However much word there is, a call waits no longer than it was to; that is not silence."""
    made = flight(word)
    assert waited(made, form, seconds=0.01) is None
    assert not made.silent


@pytest.mark.parametrize("form", ["thread", "loop"])
def test_a_wait_that_goes_on_counts_from_its_beginning(form: str) -> None:
    """A call that waited for it to begin, and now waits for its end, has one look's time and not two."""
    word = Word(heard_at=0.0, answer_seconds=60.0)
    made = flight(word)
    assert waited(made, form, since=time.monotonic() - 60.0) is None
    assert made.silent
