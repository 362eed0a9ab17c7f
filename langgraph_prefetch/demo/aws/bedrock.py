"""The demo's model as Bedrock serves it: a local server that streams reasoning, and the client for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.demo.agent import FIRST_TOKEN_SECONDS, quoted
from langgraph_prefetch.demo.aws._extras import ChatBedrockConverse
from langgraph_prefetch.demo.questions import Question
from langgraph_prefetch.testing.local_aws import REGION
from langgraph_prefetch.testing.wire import LocalBedrock, Request, ScriptedCall, Turn, words

MODEL = "anthropic.claude-sonnet-4-local"
"""Stands for one that streams its calls; the client reads from the id whether a model does."""
PIECES = 8


def server(questions: Sequence[Question], tokens_per_second: float) -> LocalBedrock:
    """A Bedrock that thinks as the demo's questions say; start it as a context manager."""
    by_text = {question.text: question for question in questions}
    return LocalBedrock(
        lambda request: turn_of(by_text, request),
        1 / tokens_per_second,
        seconds_to_first_token=FIRST_TOKEN_SECONDS,
        keep_alive=True,
    )


def model(url: str) -> BaseChatModel:
    """The client, as an application would make it but for the address and the keys."""
    keys = {"aws_access_key_id": "local", "aws_secret_access_key": "local"}
    made: BaseChatModel = ChatBedrockConverse(
        model_id=MODEL, region_name=REGION, endpoint_url=url, disable_streaming=False, **keys
    )
    return made


def turn_of(questions: Mapping[str, Question], request: Request) -> Turn:
    """What the model says next: thoughts as reasoning, then calls or the answer."""
    question = questions[request.prompt]
    if request.turn < len(question.steps):
        step = question.steps[request.turn]
        calls = tuple(ScriptedCall.of("search", {"query": query}, pieces=PIECES) for query in step.queries)
        return Turn(reasoning=words(step.thought), calls=calls)
    return Turn(text=words(f"{question.conclusion}\n\n{quoted(list(found_in(request.body)))}"))


def found_in(body: Mapping[str, Any]) -> Iterator[str]:
    """The texts of all tool results of a conversation."""
    for message in body["messages"]:
        for block in message["content"]:
            if "toolResult" in block:
                yield "".join(each.get("text", "") for each in block["toolResult"]["content"])
