"""The scripted servers themselves: faults, pace, log and life cycle, the same for every provider."""

import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from langgraph_prefetch.testing.wire import Cut, ErrorEvent, OpenAIWire, Request, ScriptedCall, Throttled, Turn, words
from langgraph_prefetch.testing.wire.server import WireServer
from tests.wire.talking import WIRES, ask, post

Wire = type[WireServer]
TURN = Turn(reasoning=("hm ", "so "), text=words("one two three four"), calls=(ScriptedCall("search", ("{", "}")),))

each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.__name__)
each_style = pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])


@each_wire
def test_frames_carry_each_token_once(wire: Wire) -> None:
    """Pace, faults and usage count tokens, so a stream has exactly one frame per scripted token."""
    asked = Request(path="/deployments/d/", body={}, model="m", streamed=True, turn=0, prompt="", messages=1, tools=())
    frames = list(wire.dialect.frames(TURN, asked))
    assert sum(frame.is_token for frame in frames) == TURN.tokens == 8


@each_wire
@each_style
def test_pace_is_the_same_streamed_or_whole(wire: Wire, streamed: bool) -> None:
    """A whole answer waits as long as its stream takes, so that comparing the two is fair."""
    pauses: list[float] = []
    with wire([TURN], 0.25, seconds_to_first_token=3.0, sleep=pauses.append) as server:
        assert ask(server, streamed=streamed).status == 200
    assert sum(pauses) == 3.0 + 0.25 * TURN.tokens
    assert len(pauses) == (TURN.tokens if streamed else 1)


@each_wire
def test_tokens_arrive_while_the_model_is_still_writing(wire: Wire) -> None:
    """A stream is a stream: the first token can be read although the second is held back."""
    first, second = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        if first.is_set():
            assert second.wait(5)
        first.set()

    with wire([Turn(text=("alpha", "omega"))], 1.0, sleep=sleep) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
        body: dict[str, Any] = {"model": "m", "stream": True, "messages": [{"role": "user", "content": []}]}
        path = {"OpenAIWire": "/v1/chat/completions", "AnthropicWire": "/v1/messages"}.get(
            wire.__name__, "/model/m/converse-stream"
        )
        connection.request("POST", path, json.dumps(body))
        answer = connection.getresponse()
        seen = b""
        while b"alpha" not in seen:
            seen += answer.read1()
        assert b"omega" not in seen
        second.set()
        assert b"omega" in answer.read()
        connection.close()


@each_wire
@each_style
def test_throttled_before_any_token(wire: Wire, streamed: bool) -> None:
    """The first requests are refused with 429, then the turn is answered."""
    with wire([Turn(text=("x",), fault=Throttled(times=2))]) as server:
        assert [ask(server, streamed=streamed).status for _ in range(3)] == [429, 429, 200]
    with wire([Turn(fault=Throttled())]) as server:
        assert [ask(server, streamed=streamed).status for _ in range(3)] == [429, 429, 429]


@each_wire
@each_style
def test_cut_connection(wire: Wire, streamed: bool) -> None:
    """The connection ends inside the answer, after the tokens asked for."""
    with wire([Turn(text=("alpha", "beta", "gamma"), fault=Cut(tokens=2))]) as server:
        heard = ask(server, streamed=streamed)
    assert heard.status == 200
    assert heard.cut
    if streamed:
        assert b"beta" in heard.body
        assert b"gamma" not in heard.body


@each_wire
def test_error_event_in_the_stream(wire: Wire) -> None:
    """The stream opens well and ends with the provider's error; a whole request fails with its status instead."""
    with wire([Turn(text=("alpha", "beta"), fault=ErrorEvent(tokens=1))]) as server:
        streamed, whole = ask(server, streamed=True), ask(server, streamed=False)
    assert (streamed.status, streamed.cut) == (200, False)
    assert b"alpha" in streamed.body
    assert b"overloaded" in streamed.body
    assert b"beta" not in streamed.body
    assert whole.status in {503, 529}


@each_wire
def test_endpoint_may_refuse_streaming(wire: Wire) -> None:
    """Streamed requests fail with 400, plain ones work."""
    with wire([TURN], refuse_streaming=True) as server:
        assert ask(server, streamed=True).status == 400
        assert ask(server, streamed=False).status == 200


@each_wire
def test_turns_follow_the_conversation(wire: Wire) -> None:
    """The number of assistant messages chooses the turn; past the script's end the answer says so."""
    with wire([Turn(text=("alpha",)), Turn(text=("beta",))]) as server:
        answers = [ask(server, streamed=False, turn=turn) for turn in (1, 0, 2)]
    assert [answer.status for answer in answers] == [200, 200, 400]
    assert b"beta" in answers[0].body
    assert b"alpha" in answers[1].body
    assert b"the script has 2 turns" in answers[2].body


@each_wire
def test_log_tells_what_was_asked(wire: Wire) -> None:
    """The latest requests are kept, in order, with what tests want to know of them; older ones are dropped."""
    with wire(lambda _: TURN, log_size=2) as server:
        for turn in range(3):
            ask(server, streamed=turn == 2, turn=turn, prompt=f"p{turn}")
    assert [(r.turn, r.streamed, r.prompt, r.messages) for r in server.requests] == [
        (1, False, "p1", 3),
        (2, True, "p2", 5),
    ]
    assert {r.model for r in server.requests} <= {"m", "m:0"}


@each_wire
def test_failing_script_is_visible(wire: Wire) -> None:
    """An exception in a script function reaches the client as HTTP 500 and the test through ``failures``."""

    def script(_: Request) -> Turn:
        raise ZeroDivisionError("in the script")

    with wire(script) as server:
        heard = ask(server, streamed=True)
    assert (heard.status, heard.body) == (500, b"ZeroDivisionError('in the script')")
    assert [type(failure) for failure in server.failures] == [ZeroDivisionError]


@each_wire
def test_unknown_route_and_broken_body(wire: Wire) -> None:
    """What is not the provider's interface is refused and not logged."""
    with wire([TURN]) as server:
        assert post(server, "/nowhere", b"{}").status == 404
        assert post(server, "/v1/chat/completions", b"{no json").status == 400
        assert server.requests == ()


def test_many_conversations_at_once() -> None:
    """One server answers concurrent conversations, each by its own script, without mixing them up."""
    with OpenAIWire(lambda request: Turn(text=(request.prompt, f"/{request.turn}"))) as server:

        def talk(number: int) -> bytes:
            answer = ask(server, streamed=False, turn=number % 3, prompt=f"p{number}")
            content = json.loads(answer.body)["choices"][0]["message"]["content"]
            return str(content).encode()

        with ThreadPoolExecutor(50) as pool:
            heard = list(pool.map(talk, range(100)))
    assert heard == [f"p{number}/{number % 3}".encode() for number in range(100)]


def test_client_that_leaves_is_counted() -> None:
    """A disconnect in the middle of a stream is seen by the server, quietly."""
    left, done = threading.Event(), threading.Event()

    def sleep(_: float) -> None:
        assert left.wait(5)

    def script(_: Request) -> Turn:
        return Turn(text=("word ",) * 10_000)

    class Watched(OpenAIWire):
        def _disconnected(self) -> None:
            super()._disconnected()
            done.set()

    with Watched(script, 1.0, sleep=sleep) as server:
        connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=5)
        connection.request("POST", "/v1/chat/completions", json.dumps({"stream": True, "messages": []}))
        connection.getresponse().close()
        connection.close()
        left.set()
        assert done.wait(5)
        assert server.disconnects == 1


def test_address_exists_only_while_running() -> None:
    """Outside its ``with`` block a server says that it is not running, and its port is closed."""
    server = OpenAIWire([TURN])
    with pytest.raises(RuntimeError, match="with block"):
        _ = server.url
    with server:
        address = urlsplit(server.url).netloc
    connection = http.client.HTTPConnection(address, timeout=5)
    with pytest.raises(ConnectionRefusedError):
        connection.connect()


@pytest.mark.parametrize("name", ["seconds_per_token", "seconds_to_first_token"])
@pytest.mark.parametrize("value", [-1.0, float("nan")])
def test_pace_must_make_sense(name: str, value: float) -> None:
    """A negative or undefined pause is an error that names the argument."""
    with pytest.raises(ValueError, match=name):
        OpenAIWire([TURN], **cast("Any", {name: value}))
