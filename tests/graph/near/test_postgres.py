"""Near misses of a real store: PostgreSQL and pgvector, through LangChain's own retriever tool."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import create_retriever_tool

from langgraph_prefetch import NearMiss, prefetcher_of, with_prefetch
from langgraph_prefetch.events import NearAnswered, NearChecked, NearFetched
from langgraph_prefetch.retrieval import PgVectorStore
from tests.graph.cases.rigs import of_kind, tool_texts, until, watch
from tests.graph.near.rigs import NOTHING_EARLY, TEXTS, WARM, Switching, Words, question, served, thinking
from tests.postgres import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]


@pytest.fixture
def store(database_url: str) -> Iterator[PgVectorStore]:
    ids = [f"p{at:03d}" for at in range(len(TEXTS))]
    kept = [{"half": "north" if at % 2 else "south"} for at in range(len(TEXTS))]
    with PgVectorStore.from_texts(list(TEXTS), Words(), kept, ids=ids, url=database_url, exact=True) as made:
        yield made


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("search_kwargs", [{"k": 3}, {"k": 4, "filter": {"half": "north"}}])
def test_a_retriever_tool_over_postgres(store: PgVectorStore, is_async: bool, search_kwargs: dict[str, object]) -> None:
    """The filter, ``k``, the rendering and the embedder are the retriever's own; what is written is found."""
    retriever = store.as_retriever(search_kwargs=search_kwargs)
    search = create_retriever_tool(retriever, "search", "Find passages.")
    model = Switching(script=thinking(*WARM).script)
    graph: Any = with_prefetch(
        create_agent(model, [search]),
        tools=["search"],
        serve="bounded",
        near={"search": NearMiss(source=retriever)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)

    def ask() -> list[str]:
        if is_async:
            return tool_texts(asyncio.run(graph.ainvoke(question())))
        return tool_texts(graph.invoke(question()))

    assert ask() == [search.invoke(each) for each in WARM]
    until(lambda: len(of_kind(events, NearChecked)) == 3)
    model.script = thinking("market of Gorsley", "the river of Elmbury").script
    expected = [search.invoke(each) for each in ("market of Gorsley", "the river of Elmbury")]
    assert ask() == expected
    assert served(events) == [False] * 3 + [True] * 2
    assert {each.tier for each in of_kind(events, NearAnswered) if each.served} == {"proved"}
    assert all(each.exact for each in of_kind(events, NearFetched))
    store.add_texts(["market of Gorsley"], [{"half": "north"}], ids=["new"])
    model.script = thinking("market of Gorsley").script
    assert ask() == [search.invoke("market of Gorsley")]
    assert "market of Gorsley" in ask()[0].split("\n\n")
    assert prefetcher_of(graph).report().troubles == 0
