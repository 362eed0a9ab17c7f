"""The values a script is written in."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.testing.wire import Request, ScriptedCall, ScriptExhaustedError, Stop, Turn, words
from langgraph_prefetch.testing.wire.script import prompt_of, turn_of


def request(turn: int = 0) -> Request:
    return Request(path="/", body={}, model="m", streamed=False, turn=turn, prompt="q", messages=1, tools=())


@given(st.dictionaries(st.text(), st.text()), st.integers(1, 40))
def test_call_keeps_its_arguments_however_cut(arguments: dict[str, str], pieces: int) -> None:
    """The fragments of a call join to JSON of its arguments, in at most as many pieces as asked for."""
    call = ScriptedCall.of("search", arguments, pieces=pieces)
    assert json.loads(call.json) == arguments
    assert 1 <= len(call.fragments) <= pieces
    assert all(call.fragments)


def test_no_pieces_is_an_error() -> None:
    """A call must be sent in at least one piece; the message names the value."""
    with pytest.raises(ValueError, match="got 0"):
        ScriptedCall.of("search", {}, pieces=0)


@given(st.text(st.characters(blacklist_characters="\0")))
def test_words_join_to_the_text(text: str) -> None:
    """Cutting text into tokens loses nothing."""
    assert "".join(words(text)) == text
    assert all(words(text))


def test_words_cut_after_spaces() -> None:
    """Tokens look like tokens: a word with the space behind it."""
    assert words("I need it") == ("I ", "need ", "it")


@pytest.mark.parametrize(
    ("turn", "stop"),
    [
        (Turn(text=("a",)), Stop.END),
        (Turn(calls=(ScriptedCall("search"),)), Stop.TOOLS),
        (Turn(calls=(ScriptedCall("search"),), stop=Stop.LENGTH), Stop.LENGTH),
    ],
)
def test_stop_reason_follows_the_content_unless_scripted(turn: Turn, stop: Stop) -> None:
    """Scripts name a stop reason only where it is unusual."""
    assert turn.stopped is stop


def test_turn_is_chosen_by_the_request_alone() -> None:
    """Asking twice gives the same turn, so concurrent conversations share a server."""
    script = [Turn(text=("a",)), Turn(text=("b",))]
    assert [turn_of(script, request(at)) for at in (1, 0, 1)] == [script[1], script[0], script[1]]


def test_end_of_script_is_said_plainly() -> None:
    """A conversation longer than its script says how long both are."""
    with pytest.raises(ScriptExhaustedError, match="has 1 turns, the request asks for turn 3"):
        turn_of([Turn()], request(2))


def test_script_may_be_a_function() -> None:
    """A function chooses the turn from anything in the request."""
    assert turn_of(lambda asked: Turn(text=(asked.prompt,)), request()).text == ("q",)


@pytest.mark.parametrize(
    ("messages", "prompt"),
    [
        ([], ""),
        ([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}], "a"),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}], "ab"),
        ([{"role": "user", "content": "a"}, {"role": "user", "content": [{"toolResult": {}}]}], "a"),
        ([{"role": "assistant", "content": None}], ""),
    ],
)
def test_prompt_is_the_last_text_of_the_user(messages: list[dict[str, object]], prompt: str) -> None:
    """Tool results are user messages too in some dialects; they are not the prompt."""
    assert prompt_of(messages) == prompt
