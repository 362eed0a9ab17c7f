"""The agent of the demo: `create_agent` with one search tool, and a model that is scripted or your own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, tool

from langgraph_prefetch.demo.questions import Question
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.testing.latency import with_latency
from langgraph_prefetch.testing.models import Call, Script, ScriptedChatModel, Turn

PASSAGES = 3
FIRST_TOKEN_SECONDS = 0.3
QUOTED_WORDS = 14
PROMPT = (
    "You answer questions about Python's standard library from its documentation. Before each search, say in a "
    "sentence or two what you need and what you will search for. Answer briefly once you have found it."
)


def search_tool(store: PgVectorStore, latency_seconds: float) -> BaseTool:
    """The tool ``search``, which takes ``latency_seconds`` longer than the store does."""

    @tool
    def search(query: str) -> str:
        """Search the documentation of Python's standard library."""
        return as_text(store.similarity_search(query, k=PASSAGES))

    return with_latency(search, latency_seconds) if latency_seconds else search


def as_text(passages: Sequence[Document]) -> str:
    """What the model gets to read: the passages, with an empty line between them."""
    return "\n\n".join(passage.page_content for passage in passages)


def make_agent(model: BaseChatModel, search: BaseTool) -> Any:
    """A ReAct agent as anybody would write it."""
    return create_agent(model, tools=[search], system_prompt=PROMPT)


def scripted_model(questions: Sequence[Question], tokens_per_second: float) -> ScriptedChatModel:
    """A model that thinks as written and answers from what its searches found."""
    return ScriptedChatModel(
        script=script_of({question.text: question for question in questions}),
        seconds_to_first_token=FIRST_TOKEN_SECONDS,
        seconds_per_token=1 / tokens_per_second,
        argument_pieces=8,
    )


def script_of(questions: Mapping[str, Question]) -> Script:
    """The script of several questions. The latest human message says which."""

    def script(messages: Sequence[BaseMessage]) -> Turn:
        asked = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        question = questions[str(messages[asked].text)]
        said = sum(message.type == "ai" for message in messages[asked:])
        if said < len(question.steps):
            step = question.steps[said]
            return Turn(text=cut(step.thought), calls=[Call("search", {"query": query}) for query in step.queries])
        found = [str(message.text) for message in messages[asked:] if isinstance(message, ToolMessage)]
        return Turn(text=cut(f"{question.conclusion}\n\n{quoted(found)}"))

    return script


def quoted(found: Sequence[str]) -> str:
    """What the model answers from what its searches found."""
    # The first words of every passage found: another passage anywhere makes another answer.
    return "\n".join(f"- {' '.join(line.split()[:QUOTED_WORDS])}" for text in found for line in text.split("\n\n")[:1])
