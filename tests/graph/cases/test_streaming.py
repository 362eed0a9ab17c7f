"""Cases A: whatever shape a stream has and however it is asked for, it is read once, and nothing of it is changed."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langgraph_prefetch import Prefetcher, prefetcher_of, with_prefetch
from langgraph_prefetch.events import SpeculationStarted, StepEnded
from langgraph_prefetch.testing.models import ReasoningShape, ScriptedChatModel
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.values import Source
from tests.graph.cases.rigs import DONE, GO, created, drawn, model, of_kind, plain, raw_model, thinks, tool_texts, watch


def call_chunk(args: str, *, name: str | None = None, call_id: str | None = None, index: int = 0) -> AIMessageChunk:
    chunk = tool_call_chunk(name=name, args=args, id=call_id, index=index)
    return AIMessageChunk(content="", tool_call_chunks=[chunk])


@pytest.mark.parametrize("shape", get_args(ReasoningShape))
def test_reasoning_is_read_in_every_shape(shape: ReasoningShape) -> None:
    """A thought starts its search, whether it comes as text, in blocks, in extra fields or between tags (1, 9)."""
    search = CountingSearch()
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE, reasoning_as=shape), [search.tool]), ["search"])
    events = watch(wrapped)
    list(wrapped.stream(GO, stream_mode="messages"))
    report = prefetcher_of(wrapped).report()
    assert (report.served_reasoning, len(search), report.troubles) == (1, 1, 0)
    assert of_kind(events, SpeculationStarted)[0].source is Source.REASONING


ODD: list[Any] = [
    "",
    "abc",
    [],
    [{"type": "text", "text": "a", "index": 0}],
    [{"type": "text", "text": None}],
    [{"type": "tool_use", "name": "search", "input": {}}],
    [{"type": "no such block", "payload": object()}],
    [{}],
    ["bare"],
    [None],
    None,
    7,
]


@pytest.mark.parametrize("content", ODD, ids=repr)
def test_odd_tokens_are_no_trouble(content: Any) -> None:
    """A token or chunk of any shape is read or passed over, also where a provider breaks its type (1)."""
    prefetch = Prefetcher(["search"])
    prefetch.admit(CountingSearch().tool)
    handler, run_id = prefetch.handler(), uuid4()
    handler.on_chat_model_start({}, [[]], run_id=run_id)
    message = AIMessageChunk.model_construct(content=content, additional_kwargs={}, tool_call_chunks=[])
    handler.on_llm_new_token(content, run_id=run_id, chunk=ChatGenerationChunk.model_construct(message=message))
    handler.on_llm_new_token(content, run_id=run_id)
    assert prefetch.report().troubles == 0


def test_without_the_reasoning_field_the_call_is_read() -> None:
    """Where a client drops the reasoning, the call's own arguments are still read, early (9)."""
    search = CountingSearch()
    chunks = [call_chunk("", name="search", call_id="c"), call_chunk('{"query":'), call_chunk(' "alpha"}')]
    trailing = [AIMessageChunk(content=" ")] * 3
    wrapped = with_prefetch(created(raw_model(*chunks, *trailing), [search.tool]), ["search"])
    list(wrapped.stream(GO, stream_mode="messages"))
    assert prefetcher_of(wrapped).report().served_sealed == 1


class Unlisted(ScriptedChatModel):
    """Of a class whose streamed messages nobody compared with its plain ones."""


class Own(BaseCallbackHandler):
    """A handler that a node puts on its model by itself."""

    def __init__(self) -> None:
        self.tokens = 0

    def on_llm_new_token(self, token: Any, **_: Any) -> None:
        self.tokens += 1


def test_a_node_that_replaces_the_handlers() -> None:
    """A node that sets callbacks on its model silences its stream, bare as wrapped: the consumer sees the same (4)."""
    search, own = CountingSearch(), Own()
    llm = model(thinks("alpha"), DONE).bind_tools([search.tool])

    def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [llm.with_config(callbacks=[own]).invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode([search.tool]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    bare: Any = graph.compile()
    wrapped = with_prefetch(bare, ["search"])
    seen = [[part.text for part, _ in each.stream(GO, stream_mode="messages")] for each in (bare, wrapped)]
    assert seen[0] == seen[1]
    assert (prefetcher_of(wrapped).report().troubles, len(search)) == (0, 2)


async def test_async_node_that_ignores_its_config() -> None:
    """From Python 3.11 on tokens reach us through the context, so a node need not pass its config on (6)."""
    stated = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]["requires-python"]
    assert stated == ">=3.11"
    search = CountingSearch()
    llm = model(thinks("alpha"), DONE).bind_tools([search.tool])

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await llm.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", think)
    graph.add_node("tools", ToolNode([search.tool]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    wrapped = with_prefetch(graph.compile(), ["search"])
    assert [part async for part in wrapped.astream(GO)]
    assert prefetcher_of(wrapped).report().served_reasoning == 1


async def _drain(graph: Any, style: str) -> None:
    match style:
        case "invoke":
            await asyncio.to_thread(graph.invoke, GO)
        case "stream":
            await asyncio.to_thread(lambda: list(graph.stream(GO, stream_mode="messages")))
        case "events v2":
            assert [event async for event in graph.astream_events(GO, version="v2")]
        case "events v3":
            await asyncio.to_thread(lambda: graph.stream_events(GO, version="v3").output)


@pytest.mark.filterwarnings("ignore:The v3 streaming protocol")
@pytest.mark.parametrize("calls_run_manager", [True, False], ids=["manager told", "manager not told"])
async def test_each_piece_is_heard_once_in_every_mode(calls_run_manager: bool) -> None:
    """Chunks, events v2 and v3's protocol tell of the same pieces: each is read once, each search begun once (7)."""
    heard = {}
    for style in ("invoke", "stream", "events v2", "events v3"):
        search = CountingSearch()
        llm = model(thinks("alpha"), DONE, calls_run_manager=calls_run_manager)
        wrapped = with_prefetch(created(llm, [search.tool]), ["search"])
        events = watch(wrapped)
        await _drain(wrapped, style)
        heard[style] = [event.pieces for event in of_kind(events, StepEnded)]
        assert (search.queries, len(of_kind(events, SpeculationStarted))) == (["alpha"], 1), style
    assert heard["invoke"] == heard["stream"] == heard["events v2"]
    # v3 tells of a call's name and arguments in events of its own, so their number may differ; the text's does not.
    assert len(heard["events v3"]) == 2
    assert heard["events v3"][1] == heard["stream"][1]


def test_a_stream_that_repeats_its_text_at_the_end() -> None:
    """A last chunk that says everything again starts nothing again (8)."""
    search = CountingSearch()
    said = ["I need ", "to search ", "for alpha. ", "Then I go on. "]
    pieces = [AIMessageChunk(content=piece) for piece in said]
    call = call_chunk('{"query": "alpha"}', name="search", call_id="c")
    wrapped = with_prefetch(
        created(raw_model(*pieces, call, AIMessageChunk(content="".join(said))), [search.tool]), ["search"]
    )
    events = watch(wrapped)
    list(wrapped.stream(GO, stream_mode="messages"))
    assert (len(of_kind(events, SpeculationStarted)), search.queries) == (1, ["alpha"])


def test_parallel_calls_that_share_an_index() -> None:
    """Two calls streamed under one index are two queries, told apart by their ids and never joined (12)."""
    search = CountingSearch()
    chunks = [call_chunk(f'{{"query": "{query}"}}', name="search", call_id=query) for query in ("alpha", "beta")]
    bare = drawn(raw_model(*chunks), [search.tool])
    expected = bare.invoke(GO)
    search.records.clear()
    wrapped = with_prefetch(drawn(raw_model(*chunks), [search.tool]), ["search"], force_streaming=True)
    events = watch(wrapped)
    result = wrapped.invoke(GO)
    assert tool_texts(result) == tool_texts(expected)
    assert set(search.queries) == {"alpha", "beta"}
    assert len(of_kind(events, SpeculationStarted)) == 2
    assert prefetcher_of(wrapped).report().troubles == 0


def test_arguments_that_never_close_start_nothing() -> None:
    """A call cut off by the token limit is not searched early; if the bare graph runs what is left, so do we (15)."""
    chunks = [call_chunk('{"query": "capital ', name="search", call_id="c"), call_chunk("of Fra")]
    chunks.append(AIMessageChunk(content="", response_metadata={"finish_reason": "length"}))
    search = CountingSearch()
    bare = created(raw_model(*chunks, then=thinks("capital of France")), [search.tool])
    list(bare.stream(GO, stream_mode="messages"))
    queries = [*search.queries]
    search.records.clear()
    wrapped = with_prefetch(bare, ["search"])
    list(wrapped.stream(GO, stream_mode="messages"))
    assert search.queries == queries
    assert queries[-1] == "capital of France"
    report = prefetcher_of(wrapped).report()
    # What the cut call read is never handed to the whole one: that was fetched by itself.
    assert (report.speculations, report.served, report.search_calls) == (1, 1, len(queries))


def test_messages_of_a_served_run_equal_the_bare_ones() -> None:
    """The last word on all of the above: the conversation is the bare one's, but for made-up ids."""
    turns = (thinks("alpha", "beta"), thinks("gamma"), DONE)
    search = CountingSearch()
    bare = created(model(*turns), [search.tool]).invoke(GO)
    wrapped = with_prefetch(created(model(*turns), [search.tool]), ["search"])
    assert plain(wrapped.invoke(GO)["messages"]) == plain(bare["messages"])
    assert prefetcher_of(wrapped).report().served == 3
