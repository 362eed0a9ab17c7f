"""`reduce_context` as a node of a graph, or as the hook before a model call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.operators.reduction import (
    SEPARATOR,
    CountTokens,
    approximate_tokens,
    passage_key,
    reduce_context,
)

NOTHING_NEW = "(No passages beyond those above.)"


class ReduceContextNode:
    """A node that gathers what the searches of this turn found into one context within a token budget.

    It reads the artifacts of the tool messages since the user's latest message (documents, as LangChain's retriever
    tools keep them), or documents that other nodes left in the state. It changes nothing but the keys it writes.

    As the ``pre_model_hook`` of an agent: ``ReduceContextNode(…, write=None, messages_into="llm_input_messages")``.

    Args:
        max_tokens: for the whole context.
        read: the state's keys to read: messages, the documents of one search, or a list of such.
        write: the key that takes the documents; None writes none.
        text_into: a key that takes them as one text.
        messages_into: a key that takes the messages, each search's in the words of what was kept: a passage stands
            where it was found first.
        count_tokens: see :func:`~langgraph_prefetch.graph.operators.reduction.reduce_context`.
        score_key: likewise.
        cut: likewise.

    Raises:
        ConfigurationError: nothing to read or write, or ``max_tokens`` below 0.
    """

    def __init__(
        self,
        *,
        max_tokens: int,
        read: str | Sequence[str] = "messages",
        write: str | None = "context",
        text_into: str | None = None,
        messages_into: str | None = None,
        count_tokens: CountTokens = approximate_tokens,
        score_key: str | None = None,
        cut: bool = False,
    ) -> None:
        require_at_least("max_tokens", max_tokens, 0)
        self._max_tokens, self._count_tokens, self._score_key, self._cut = max_tokens, count_tokens, score_key, cut
        self._read = (read,) if isinstance(read, str) else tuple(read)
        self._write, self._text_into, self._messages_into = write, text_into, messages_into
        if not self._read:
            raise ConfigurationError('read names no key of the state: read="messages"')
        if write is None and text_into is None and messages_into is None:
            raise ConfigurationError("the node writes nothing: give write=, text_into= or messages_into=")

    def __call__(self, state: Any) -> dict[str, Any]:
        """The update with the context of this state."""
        found = [_get(state, key) for key in self._read]
        searches = [search for value in found for search in searches_in(value)]
        kept = reduce_context(
            searches,
            max_tokens=self._max_tokens,
            count_tokens=self._count_tokens,
            score_key=self._score_key,
            cut=self._cut,
        )
        update: dict[str, Any] = {}
        if self._write is not None:
            update[self._write] = kept
        if self._text_into is not None:
            update[self._text_into] = SEPARATOR.join(document.page_content for document in kept)
        if self._messages_into is not None:
            update[self._messages_into] = reduced_messages([each for value in found for each in _messages(value)], kept)
        return update


def searches_in(value: Any) -> list[list[Document]]:
    """The searches in a value of a graph's state: messages, the documents of one search, or a list of such."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    if any(isinstance(each, BaseMessage) for each in value):
        return [search for message in _this_turn(_messages(value)) if (search := _documents(_artifact(message)))]
    if any(_document(each) is not None for each in value):
        return [_documents(value)]
    return [search for each in value if (search := _documents(each))]


def reduced_messages(messages: Sequence[BaseMessage], kept: Iterable[Document]) -> list[BaseMessage]:
    """The messages, where those of this turn's searches say only what was kept, each passage once.

    Every call keeps its answer, as providers demand, be it that there is nothing new. Other messages stay as they are.
    """
    left = {passage_key(document): document for document in kept}
    turn = {id(message) for message in _this_turn(messages)}
    return [_reduced(message, left) if id(message) in turn else message for message in messages]


def _reduced(message: BaseMessage, left: dict[tuple[str, str], Document]) -> BaseMessage:
    documents = _documents(_artifact(message))
    if not documents:
        return message
    said = []
    for document in documents:
        key = next((key for key in left if _is_of(left[key], document)), None)
        if key is not None:
            said.append(left.pop(key).page_content)
    return message.model_copy(update={"content": SEPARATOR.join(said) or NOTHING_NEW})


def _is_of(kept: Document, found: Document) -> bool:
    # A shortened passage without an id is told by the beginning of what was found.
    if kept.id is not None or not kept.metadata.get("truncated"):
        return passage_key(kept) == passage_key(found)
    return found.id is None and found.page_content.startswith(kept.page_content)


def _this_turn(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages after the user's latest."""
    asked = (place for place in range(len(messages), 0, -1) if isinstance(messages[place - 1], HumanMessage))
    return list(messages[next(asked, 0) :])


def _messages(value: Any) -> list[BaseMessage]:
    return [each for each in value if isinstance(each, BaseMessage)] if isinstance(value, Sequence) else []


def _artifact(message: BaseMessage) -> Any:
    return message.artifact if isinstance(message, ToolMessage) and message.status != "error" else None


def _documents(value: Any) -> list[Document]:
    if isinstance(value, Document):
        return [value]
    if not isinstance(value, Sequence) or isinstance(value, str):
        return []
    return [document for each in value if (document := _document(each)) is not None]


def _document(value: Any) -> Document | None:
    """A document, or the one in a pair of it and its score."""
    match value:
        case (Document() as document, int() | float()):
            return document
        case Document():
            return value
    return None


def _get(state: Any, key: str) -> Any:
    if isinstance(state, list):  # a graph whose whole state is its messages
        return state
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)
