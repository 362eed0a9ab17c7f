"""Cost is linear in the text and memory is bounded, whatever the text is."""

import sys
import time

import pytest

from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.values import TextDelta

TEXTS = {
    "prose": "Some thought, and then I need to search for Lake Baikal because it is deep. ",
    "letters": "a",
    "spaces": " ",
    "stops": ".",
    "angles": "<",
    "quotes": '"',
    "ticks": "`",
    "brackets": "(",
    "list": "I need to search for A, ",
    "clauses": "我需要搜索",
    "tags": "<search>",
}


def work(text: str) -> int:
    """Python function calls and returns while ``text`` is read character by character: a clock without noise."""
    reader = IntentReader(IntentSettings(), IntentContext())
    count = 0

    def tick(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        for character in text:
            reader.feed(TextDelta(character))
        reader.finish()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("unit", TEXTS.values(), ids=TEXTS.keys())
def test_ten_times_the_text_is_ten_times_the_work(unit: str) -> None:
    """Work grows with the length, not with its square."""
    short, long = ((unit * (size // len(unit) + 1))[:size] for size in (2_000, 20_000))
    assert work(long) <= 12 * work(short)


@pytest.mark.parametrize("unit", TEXTS.values(), ids=TEXTS.keys())
def test_one_huge_token(unit: str) -> None:
    """A token of a megabyte is read in seconds: no rescan, no regular expression that explodes."""
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    reader = IntentReader(IntentSettings(), IntentContext())
    started = time.perf_counter()
    reader.feed(TextDelta(text))
    reader.finish()
    assert time.perf_counter() - started < 30


def test_buffers_are_bounded() -> None:
    """After a long message a reader holds no more than after a short one."""
    reader = IntentReader(IntentSettings(), IntentContext())
    for _ in range(20_000):
        reader.feed(TextDelta("no stop anywhere "))
    assert reader.length == 20_000 * len("no stop anywhere ")
    assert _held(reader) < 20_000


def _held(value: object) -> int:
    """Characters reachable from the slots of a reader."""
    if isinstance(value, str):
        return len(value)
    slots = getattr(type(value), "__slots__", ())
    return sum(_held(getattr(value, slot)) for slot in slots if type(value).__module__.startswith("langgraph_prefetch"))
