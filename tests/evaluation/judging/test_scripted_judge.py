"""The scripted judge itself: what it goes by, whom it answers, and the wire it speaks over."""

import contextlib
import json
import math
import threading
import urllib.request
from typing import Any

import pytest
from langchain_openai import OpenAIEmbeddings

from langgraph_prefetch.testing.judge import NAMED, JudgeServer, Waiting
from langgraph_prefetch.testing.judge.asked import Asked
from langgraph_prefetch.testing.judge.claims import claims, held, is_refusal, supported, words
from langgraph_prefetch.testing.judge.sensible import judged
from langgraph_prefetch.testing.judge.server import embedded
from tests.evaluation.judging.served import chat_model


def test_claims_are_sentences_lines_and_items() -> None:
    """Whatever a reader would check one by one."""
    text = "It is long. Is it old?\n- opened in 1981\n2) painted red\n\n험버교는 길다。 오래되었다."
    assert claims(text) == [
        *("It is long.", "Is it old?", "opened in 1981", "painted red"),
        *("험버교는 길다", "오래되었다."),
    ]


def test_particles_stuck_to_a_word_do_not_hide_it() -> None:
    """Korean words are compared by pairs of characters: most of a word with another particle is still there."""
    assert held("험버교의 길이", "험버교는 길이가 길다") > 0.5
    assert held("", "anything") == 0.0
    assert words("Pi is 3.14.") == {"pi", "is", "3.14"}


def test_support_is_the_share_of_claims_that_contexts_hold() -> None:
    """Two claims, one of them in the contexts: a half. No claims: nothing is supported."""
    answer = "The bridge is 100 metres long. Elephants painted it yellow."
    assert supported(answer, ["The bridge is 100 metres long and old."]) == 0.5
    assert supported("", ["context"]) == 0.0
    assert supported(answer, []) == 0.0


@pytest.mark.parametrize("text", ["I don't know.", "Sorry, I cannot answer.", "알 수 없습니다.", "잘 모르겠습니다."])
def test_a_refusal_is_recognised(text: str) -> None:
    """In both languages of the study."""
    assert is_refusal(text)
    assert not is_refusal("It is 1,410 metres long.")


QUESTION: dict[str, Any] = {"question": {}, "noncommittal": {}}
STATEMENT = {"statements": {"type": "array"}}


@pytest.mark.parametrize(
    ("fields", "data", "reply"),
    [
        (STATEMENT, {"question": "q", "answer": "A b. C d."}, {"statements": ["A b.", "C d."]}),
        (STATEMENT, {"question": "q", "answer": "I don't know."}, {"statements": []}),
        (QUESTION, {"response": "It is old."}, {"question": "It is old.?", "noncommittal": 0}),
        ({"score": {"type": "number"}}, {"question": "a b", "answer": "a c"}, {"score": 0.5}),
        ({"score": {"type": "boolean"}}, {"question": "a b", "answer": "a b"}, {"score": True}),
        ({"what": {"type": "string"}, "n": {"type": "integer"}}, {}, {"what": "", "n": 0}),
    ],
)
def test_it_serves_the_prompts_of_others(fields: dict[str, Any], data: dict[str, Any], reply: dict[str, Any]) -> None:
    """The shapes of ragas and openevals, and an empty reply to what nobody told it of."""
    found = judged(Asked(fields=fields, data=data))
    assert {name: found[name] for name in reply} == reply


def post(server: JudgeServer, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(f"{server.url}/v1/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["choices"][0]["message"]


def test_a_schema_may_come_as_a_format_as_a_tool_or_in_the_prompt() -> None:
    """Whichever way a client asks for structured output, the reply comes back that way."""
    schema = {"properties": {"reasoning": {"type": "string"}, "score": {"type": "integer"}}}
    told = {"role": "user", "content": 'input: {"question": "a", "answer": "a"}'}
    stated = {"role": "user", "content": f"specified in JSON Schema:\n{json.dumps(schema)} {told['content']}"}
    tool = {"type": "function", "function": {"name": "grade", "parameters": schema}}
    form = {"type": "json_schema", "json_schema": {"name": "grade", "schema": schema}}
    with JudgeServer() as server:
        by_format = post(server, {"model": "m", "messages": [told], "response_format": form})
        by_tool = post(server, {"model": "m", "messages": [told], "tools": [tool]})
        by_prompt = post(server, {"model": "m", "messages": [stated]})
    assert json.loads(by_format["content"])["score"] == 5
    assert json.loads(by_tool["tool_calls"][0]["function"]["arguments"])["score"] == 5
    assert json.loads(by_prompt["content"])["score"] == 5


def test_it_embeds_by_words() -> None:
    """Through the real client: unit vectors, near where words are shared, and zeros where there are none."""
    with JudgeServer() as server:
        client = OpenAIEmbeddings(
            model="words", openai_api_base=f"{server.url}/v1", openai_api_key="none", check_embedding_ctx_length=False
        )
        near, like, far = client.embed_documents(["the old bridge", "the old tower", "green cheese"])
    assert math.isclose(_dot(near, near), 1.0, rel_tol=1e-5)
    assert _dot(near, like) > _dot(near, far)
    assert not any(embedded("..."))


def _dot(one: list[float], other: list[float]) -> float:
    return math.fsum(a * b for a, b in zip(one, other, strict=True))


def test_another_path_is_not_there() -> None:
    """A client that is pointed at the wrong address learns so."""
    with JudgeServer() as server:
        request = urllib.request.Request(f"{server.url}/v1/elsewhere", b"{}")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(request, timeout=20)


def test_a_judge_that_waits_ends_with_its_server() -> None:
    """Nothing hangs on after a test, whatever was asked of it."""
    behaviour, ended = Waiting(), threading.Event()

    def ask(server: JudgeServer) -> None:
        with contextlib.suppress(Exception):
            chat_model(server).invoke("input: {}")
        ended.set()

    with JudgeServer(behaviour) as server:
        threading.Thread(target=ask, args=(server,), daemon=True).start()
        assert behaviour.waiting.acquire(timeout=20)
        assert not ended.is_set()
    assert ended.wait(20)


def test_every_named_behaviour_can_be_made() -> None:
    """The names of a command line all lead somewhere, and twice to the same behaviour of its own."""
    assert all(callable(make()) for make in NAMED.values())
