"""A store in memory, an embedder of words, and agents that think before they search."""

from __future__ import annotations

import asyncio
import threading
import weakref
import zlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.tools import BaseTool, tool

from langgraph_prefetch import Budgets, NearMiss, prefetcher_of, with_prefetch
from langgraph_prefetch.events import NearChecked, NearTierChanged, SearchCallAnswered
from langgraph_prefetch.graph.front import Prefetcher
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.values import Source
from tests.graph.cases.rigs import of_kind, until, watch
from tests.near.stores import Array, hashed

PLACES = ("Ashford", "Elmbury", "Fernwick", "Gorsley", "Hartland", "Inverden")
THINGS = ("mayor", "river", "market", "bridge", "school", "castle")
TEXTS = tuple(
    f"The {thing} of {place} is described here in passage {at}"
    for at, (thing, place) in enumerate((thing, place) for thing in THINGS for place in PLACES)
)
K = 3


def vectors_of(texts: Sequence[str]) -> Array:
    """Words hashed into buckets, and a little of the text's own, so that no two texts are equally near to a third."""
    own = [np.random.default_rng(zlib.crc32(text.encode())).normal(size=256) for text in texts]
    return np.asarray(hashed(texts) + 0.02 * np.stack(own), dtype=np.float32)


class Words(Embeddings):
    """Words hashed into buckets; counts what it embeds, and fails or waits on demand."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.error: Exception | None = None
        self.gate: threading.Event | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [list(map(float, row)) for row in vectors_of(texts)]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        if self.gate is not None:
            self.gate.wait(10)
        if self.error is not None:
            raise self.error
        return self.embed_documents([text])[0]


class AsyncWords(Words):
    """Has coroutines of its own, bound to the loop they are first used on, and no plain methods."""

    def __init__(self) -> None:
        super().__init__()
        self.loops: set[Any] = set()

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError("async only")

    async def aembed_query(self, text: str) -> list[float]:
        self.loops.add(asyncio.get_running_loop())
        return super().embed_query(text)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        self.loops.add(asyncio.get_running_loop())
        return self.embed_documents(texts)


def memory(texts: Sequence[str] = TEXTS) -> MemorySource:
    """An exact store of these passages."""
    return MemorySource([f"p{at:03d}" for at in range(len(texts))], vectors_of(texts), texts=list(texts))


def rendered(documents: Sequence[Document]) -> str:
    """What the tool makes of documents."""
    return "\n".join(f"[{each.id}] {each.page_content}" for each in documents)


class Searching:
    """A search tool over a source, which counts its own runs."""

    def __init__(self, source: MemorySource, *, render: Callable[[Sequence[Document]], Any] = rendered) -> None:
        self.source, self._render = source, render
        self.queries: list[str] = []

        @tool
        def search(query: str, k: int = K) -> str:
            """Search for passages."""
            self.queries.append(query)
            return str(self.answer(query, k))

        self.tool: BaseTool = search

    def answer(self, query: str, k: int = K) -> Any:
        """What the real search returns."""
        found = self.source.neighbourhood(vectors_of([query])[0], k)
        documents = [
            Document(id=name, page_content=text, metadata=dict(metadata))
            for name, text, metadata in zip(found.ids, found.texts, found.metadatas, strict=True)
        ]
        return self._render(documents)


def near(source: Any, words: Embeddings | None = None, **changes: Any) -> NearMiss:
    """What is said of such a tool; all of the small store is fetched around an anchor unless said otherwise."""
    return NearMiss(
        **{"source": source, "embeddings": words or Words(), "k": K, "render": rendered, "n": 200, **changes}
    )


def thinking(*queries: str, thought: str = "") -> ScriptedChatModel:
    """A model that thinks a little before each search, and then answers."""
    turns = [
        Turn(
            text=thought or "The question is about a small town. Let me think about its mayor, its river and market.",
            calls=[Call("search", {"query": query})],
        )
        for query in queries
    ]
    return ScriptedChatModel(script=[*turns, Turn(text="Done.")], seconds_per_token=0.002)


def question(text: str = "What is there to see in Elmbury?") -> Any:
    return {"messages": [("user", text)]}


NOTHING_EARLY = Budgets(guesses_per_step=0, sealed_per_step=0)
"""No search is speculated, so that near misses alone answer."""


def _but_config(options: dict[str, Any]) -> dict[str, Any]:
    return {"force_streaming": True, **{name: value for name, value in options.items() if name != "config"}}


def agent_of(model: Any, searching: Searching, said: NearMiss, **options: Any) -> tuple[Any, Prefetcher]:
    """An agent that answers near misses and starts no search early."""
    graph: Any = with_prefetch(
        create_agent(model, [searching.tool]),
        tools=["search"],
        **{"serve": "bounded", "near": {"search": said}, "budgets": NOTHING_EARLY, **_but_config(options)},
    )
    return graph, prefetcher_of(graph)


WARM = ("the mayor of Ashford", "a river near Inverden", "the castle of Hartland")
"""So many real searches show that the tool is what is said of it."""


def settled(prefetch: Prefetcher, events: Sequence[Any], *, calls: int) -> None:
    """Wait until so many calls were compared with what the tool itself returns."""
    until(lambda: len(of_kind(events, NearChecked)) >= calls)
    assert prefetch.report().troubles == 0


def told(events: Sequence[Any], kind: type[Any], times: int) -> None:
    """Wait until so many events of a kind were told."""
    until(lambda: len(of_kind(events, kind)) >= times)


def served(events: Sequence[Any]) -> list[bool]:
    """Of each search call, whether a near miss answered it."""
    return [each.source is Source.NEAR for each in of_kind(events, SearchCallAnswered)]


def warmed(searching: Searching, said: NearMiss, *queries: str, **options: Any) -> tuple[Any, Prefetcher, list[Any]]:
    """An agent that asks ``queries``, whose near misses are trusted; its own first searches are forgotten."""
    model = Switching(script=[])
    graph, prefetch = agent_of(model, searching, said, **options)
    _models[prefetch] = model
    events = watch(prefetch)
    model.script = thinking(*WARM).script
    graph.invoke(question(), options.get("config"))
    settled(prefetch, events, calls=len(WARM))
    assert served(events) == [False] * len(WARM)
    assert of_kind(events, NearTierChanged)[-1].open
    model.script = thinking(*queries).script
    searching.queries.clear()
    events.clear()
    return graph, prefetch, events


_models: weakref.WeakKeyDictionary[Prefetcher, ScriptedChatModel] = weakref.WeakKeyDictionary()


def model_of(graph: Any) -> ScriptedChatModel:
    """The model of a warmed agent."""
    return _models[prefetcher_of(graph)]


class Switching(ScriptedChatModel):
    """A scripted model whose script may be replaced."""

    seconds_per_token: float = 0.002
