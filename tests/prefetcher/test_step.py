"""What is told of a model call at its end: how much was heard, and when."""

import dataclasses

import pytest

from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.prefetcher.step import SLICES, Step
from langgraph_prefetch.values import ReasoningDelta, TextDelta, ToolCallDelta


def step(began_at: float = 100.0) -> Step:
    return Step(3, IntentReader(IntentSettings(), IntentContext()), began_at)


def test_every_piece_of_text_is_in_the_slice_of_its_time() -> None:
    """A burst at the start, silence, and a burst at the end are told apart; no piece is lost or counted twice."""
    heard = step()
    for number in range(10):
        heard.note(ReasoningDelta("thinking "), 100.0 + number * 0.01)
    for number in range(5):
        heard.note(TextDelta("said "), 124.0 - number * 0.01)
    heard.note(ToolCallDelta(name="search"), 124.0)
    ended = heard.ended("r", 124.0)
    assert ended.slices == (10, *[0] * (SLICES - 2), 5)
    assert (ended.run_id, ended.step, ended.at, ended.pieces) == ("r", 3, 124.0, 16)


def test_the_call_begins_with_its_first_piece() -> None:
    """What follows the text is told apart from it, also where a call has many pieces."""
    heard = step()
    heard.note(TextDelta("I will look it up."), 101.0)
    for at in (102.0, 103.0):
        heard.note(ToolCallDelta(arguments="{"), at)
    assert heard.ended("r", 104.0).call_at == 102.0


@pytest.mark.parametrize("ended_at", [100.0, 99.0])
def test_a_call_without_text_or_time_has_no_slices(ended_at: float) -> None:
    """A model that does not stream, or a clock too coarse for it, gives nothing to draw, and no error."""
    silent = step()
    assert (silent.ended("r", 105.0).slices, silent.ended("r", 105.0).call_at) == ((), None)
    silent.note(TextDelta("at once"), 100.0)
    assert silent.ended("r", ended_at).slices == ()


def test_the_new_fields_may_be_left_out() -> None:
    """Sinks and tests that make the event themselves need not know of them."""
    known = {field.name for field in dataclasses.fields(step().ended("r", 1.0)) if field.default is dataclasses.MISSING}
    assert known == {"run_id", "step", "at", "pieces"}
