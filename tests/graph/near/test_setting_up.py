"""Wrong use is one clear error when the graph is wrapped; the message says what to do."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import create_retriever_tool, tool
from langchain_core.vectorstores import InMemoryVectorStore

from langgraph_prefetch import ConfigurationError, NearMiss, Prefetcher, PrefetchMiddleware, with_prefetch
from langgraph_prefetch.graph.near.view import view_of
from langgraph_prefetch.ports import SearchTool
from tests.graph.near.rigs import K, Searching, Words, memory, near, rendered, thinking


def wrapped(said: Any, searching: Searching, **options: Any) -> Any:
    return with_prefetch(
        create_agent(thinking(), [searching.tool]),
        tools=["search"],
        **{"serve": "bounded", "near": {"search": said}, **options},
    )


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"embeddings": None}, r"need the embedder of its passages: NearMiss\(embeddings=…\)"),
        ({"k": None}, r"give NearMiss\(k=…\)"),
        ({"render": None}, r"give NearMiss\(render=…\)"),
    ],
)
def test_what_is_missing_is_named(changes: dict[str, Any], told: str) -> None:
    """At wrap time, through both ways in."""
    searching = Searching(memory())
    said = NearMiss(**{"source": searching.source, "embeddings": Words(), "k": K, "render": rendered, **changes})
    with pytest.raises(ConfigurationError, match=told):
        wrapped(said, searching)
    early = PrefetchMiddleware(["search"], serve="bounded", near={"search": said})
    with pytest.raises(ConfigurationError, match=told):
        create_agent(thinking(), [searching.tool], middleware=[early])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"source": object()}, "takes a PgVectorStore, another vector store or a retriever, not object"),
        ({"embeddings": "minilm"}, "takes LangChain Embeddings, not str"),
        ({"k": 0}, "k must be a whole number from 1 on"),
        ({"k": True}, "k must be a whole number from 1 on"),
        ({"n": 2}, "n=2 passages around an anchor cannot answer a call for k=3"),
        ({"anchors": 0}, "anchors must be a whole number"),
        ({"audit_share": 0}, "audit_share is a share"),
        ({"audit_share": 1.5}, "audit_share is a share"),
        ({"confidence": 1.0}, "confidence is a share"),
        ({"render": "text"}, "render takes a function"),
        ({"epoch": 3}, "epoch takes a function"),
        ({"metric": "dot"}, "metric must be"),
        ({"norm_bound": -1}, "norm_bound must be a length above 0"),
        ({"destination": "elsewhere"}, "destination must be"),
    ],
)
def test_impossible_values_are_refused(values: dict[str, Any], told: str) -> None:
    """When it is made."""
    with pytest.raises(ConfigurationError, match=told):
        near(memory(), **values) if "source" not in values else NearMiss(**values)


@pytest.mark.parametrize("epsilon", [0, 1, -0.1, float("nan"), True, "little"])
def test_epsilon_is_a_share(epsilon: Any) -> None:
    searching = Searching(memory())
    with pytest.raises(ConfigurationError, match="epsilon"):
        wrapped(near(searching.source), searching, epsilon=epsilon)


def test_bounded_serving_needs_to_know_from_what() -> None:
    """Whichever way in."""
    searching = Searching(memory())
    agent = create_agent(thinking(), [searching.tool])
    with pytest.raises(ConfigurationError, match=r"near=\{'search': NearMiss"):
        with_prefetch(agent, tools=["search"], serve="bounded")
    with pytest.raises(ConfigurationError, match=r"near=\{'search': NearMiss"):
        PrefetchMiddleware(["search"], serve="bounded")
    with pytest.raises(ConfigurationError, match=r"near=\{'search': NearMiss"):
        Prefetcher(["search"], serve="bounded").tool(searching.tool)


def test_exact_serving_takes_none() -> None:
    """An option that would do nothing is a mistake."""
    searching = Searching(memory())
    with pytest.raises(ConfigurationError, match="serve='exact' answers no near misses"):
        wrapped(near(searching.source), searching, serve="exact")
    with pytest.raises(ConfigurationError, match="serve='bounded'"):
        Prefetcher(["search"]).tool(searching.tool, near=near(searching.source))
    with pytest.raises(ConfigurationError, match=r"takes a NearMiss\(source=…, k=…\), not MemorySource"):
        wrapped(searching.source, searching)


def test_a_tool_whose_query_cannot_be_told_is_refused() -> None:
    @tool
    def search(one: str, other: str) -> str:
        """Search for passages."""
        return one + other

    with pytest.raises(ConfigurationError, match="ToolPolicy"):
        with_prefetch(
            create_agent(thinking(), [search]), tools=["search"], serve="bounded", near={"search": near(memory())}
        )


def test_a_retriever_tool_says_all_by_itself() -> None:
    """Its prompt, its separator, its number of documents and its store's embedder are found out."""
    store = InMemoryVectorStore(Words())
    made = create_retriever_tool(store.as_retriever(search_kwargs={"k": 2}), "search", "Find passages.")
    prefetcher = Prefetcher(["search"], serve="bounded", near={"search": NearMiss(source=store)})
    prefetcher.admit(made)
    search: SearchTool = prefetcher.tools["search"]
    view = view_of(search, made, NearMiss(source=store), 0.01)
    assert (view.k, view.argument, view.embeddings) == (2, "query", store.embeddings)


@pytest.mark.parametrize(
    "settings",
    [{"search_type": "mmr"}, {"search_type": "similarity_score_threshold", "search_kwargs": {"score_threshold": 0.5}}],
)
def test_a_retriever_that_is_no_plain_search_does_not_tell_its_k(settings: dict[str, Any]) -> None:
    """Diversity or a threshold decide what it returns, so its own k says nothing."""
    store = InMemoryVectorStore(Words())
    made = create_retriever_tool(store.as_retriever(**settings), "search", "Find passages.")
    with pytest.raises(ConfigurationError, match=r"NearMiss\(k=…\)"):
        with_prefetch(
            create_agent(thinking(), [made]),
            tools=["search"],
            serve="bounded",
            near={"search": NearMiss(source=store)},
        )
