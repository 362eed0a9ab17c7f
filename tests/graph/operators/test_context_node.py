"""`reduce_context` as a node and as a hook before the model."""

import operator
import warnings
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import create_react_agent

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.graph.operators.context import NOTHING_NEW, ReduceContextNode, reduced_messages, searches_in
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn


def doc(name: str) -> Document:
    return Document(f"about {name}", id=name)


def found(*names: str, call_id: str = "1", **more: Any) -> ToolMessage:
    return ToolMessage("as the tool says it", tool_call_id=call_id, artifact=[doc(name) for name in names], **more)


class Reading(BaseCallbackHandler):
    """Keeps what each model call was given to read."""

    def __init__(self) -> None:
        self.read: list[list[BaseMessage]] = []

    def on_chat_model_start(self, serialized: Any, messages: list[list[BaseMessage]], **_: Any) -> None:
        self.read += messages


class State(MessagesState):
    context: list[Document]
    said: str


def drawn(node: ReduceContextNode, state: Any = State) -> Any:
    graph = StateGraph(state)
    graph.add_node("reduce_context", node)
    graph.add_edge(START, "reduce_context")
    return graph.compile()


CONVERSATION: list[BaseMessage] = [
    HumanMessage("before"),
    found("old", call_id="0"),
    HumanMessage("now"),
    AIMessage(""),
    found("a", "b", call_id="1"),
    ToolMessage("broken", tool_call_id="2", artifact=[doc("no")], status="error"),
    ToolMessage("no documents", tool_call_id="3", artifact={"rows": 3}),
    found("b", "c", call_id="4"),
]


async def test_in_a_graph() -> None:
    """It gathers this turn's documents, of searches that worked, under the key it was given; sync and async."""
    graph = drawn(ReduceContextNode(max_tokens=100, text_into="said"))
    for result in (graph.invoke({"messages": CONVERSATION}), await graph.ainvoke({"messages": CONVERSATION})):
        assert [document.id for document in result["context"]] == ["a", "b", "c"]
        assert result["said"] == "about a\n\nabout b\n\nabout c"
        assert [message.content for message in result["messages"]] == [message.content for message in CONVERSATION]


def test_searches_fanned_out() -> None:
    """Searches that ran side by side leave lists; the context does not depend on which came first."""

    class Fanned(TypedDict):
        searches: Annotated[list[list[Document]], operator.add]
        context: list[Document]

    graph = drawn(ReduceContextNode(max_tokens=100, read="searches"), Fanned)
    one, other = [doc("a"), doc("b")], [doc("c"), doc("a")]
    contexts = [graph.invoke({"searches": order})["context"] for order in ([one, other], [other, one])]
    assert contexts[0] == contexts[1]
    assert [document.id for document in contexts[0]] == ["a", "c", "b"]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ([doc("a"), doc("b")], [["a", "b"]]),
        ([(doc("a"), 0.9), (doc("b"), 0.1)], [["a", "b"]]),
        ([[doc("a")], [(doc("b"), 1)], []], [["a"], ["b"]]),
        ((doc("a"),), [["a"]]),
        (CONVERSATION, [["a", "b"], ["b", "c"]]),
        ([], []),
        ("text", []),
        (None, []),
        ([1, "x", None], []),
    ],
)
def test_what_counts_as_searches(value: Any, names: list[list[str]]) -> None:
    """Messages, documents, documents with scores and lists of such; anything else holds none."""
    assert [[document.id for document in search] for search in searches_in(value)] == names


def test_messages_are_reduced_in_place() -> None:
    """Each passage stands once, where it was found first; each call keeps an answer; all else stays."""
    messages = [*CONVERSATION, found("a", call_id="5")]
    reduced = reduced_messages(messages, [doc("a"), doc("b"), doc("c")])
    contents = [message.content for message in reduced]
    assert contents[4:] == ["about a\n\nabout b", "broken", "no documents", "about c", NOTHING_NEW]
    assert reduced[:4] == messages[:4]
    assert [message.id for message in reduced] == [message.id for message in messages]
    assert messages[4].content == "as the tool says it"


def test_a_shortened_passage_is_found_again() -> None:
    """Also without an id, by its beginning."""
    message = ToolMessage("x", tool_call_id="1", artifact=[Document("one two three four five six")])
    node = ReduceContextNode(max_tokens=3, messages_into="messages", write=None, cut=True)
    (reduced,) = node({"messages": [message]})["messages"]
    assert reduced.content == "one two"


def test_as_the_hook_of_an_agent() -> None:
    """The model reads the reduced messages; the conversation that is kept has the tool's own."""

    @tool(response_format="content_and_artifact")
    def search(query: str) -> tuple[str, list[Document]]:
        """Search."""
        return "as the tool says it", [doc(query), doc("shared")]

    calls = [Call("search", {"query": "a"}), Call("search", {"query": "b"})]
    model = ScriptedChatModel(script=[Turn(calls=calls), Turn(text="done")])
    hook = ReduceContextNode(max_tokens=100, write=None, messages_into="llm_input_messages")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agent = create_react_agent(model, [search], pre_model_hook=hook)
    reading = Reading()
    result = agent.invoke({"messages": [("user", "go")]}, {"callbacks": [reading]})
    kept = [message.content for message in result["messages"] if isinstance(message, ToolMessage)]
    assert kept == ["as the tool says it"] * 2
    read = [message.content for message in reading.read[-1] if isinstance(message, ToolMessage)]
    assert read == ["about a\n\nabout shared", "about b"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": 1, "read": ()}, "read names no key"),
        ({"max_tokens": 1, "write": None}, "writes nothing"),
    ],
)
def test_wrong_use(options: dict[str, Any], says: str) -> None:
    """A node that could do nothing is an error when it is made."""
    with pytest.raises(ConfigurationError, match=says):
        ReduceContextNode(**options)
