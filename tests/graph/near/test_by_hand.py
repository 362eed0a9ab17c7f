"""Near misses of tools and retrievers that code calls itself."""

import asyncio
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from langgraph_prefetch import NearMiss, Prefetcher
from langgraph_prefetch.events import NearAnswered, NearChecked, NearFetched
from tests.graph.cases.rigs import of_kind, until, watch
from tests.graph.near.rigs import (
    NOTHING_EARLY,
    TEXTS,
    WARM,
    K,
    Searching,
    Words,
    memory,
    near,
    served,
    thinking,
    told,
    vectors_of,
)


class FromSource(BaseRetriever):
    """A retriever over a source in memory."""

    source: Any
    asked: list[str] = []  # noqa: RUF012 - pydantic copies it

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        self.asked.append(query)
        found = self.source.neighbourhood(vectors_of([query])[0], K)
        return [Document(id=name, page_content=text) for name, text in zip(found.ids, found.texts, strict=True)]


def thought_about(prefetcher: Prefetcher, search: Any, *queries: str) -> list[Any]:
    """Code that draws no graph: a model thinks, then each query is searched."""
    model = thinking("x")
    found = []
    for query in queries:
        with prefetcher.run():
            model.invoke("What is there to see?", {"callbacks": [prefetcher.handler()]})
            found.append(search.invoke(query))
    return found


@pytest.mark.parametrize("is_async", [False, True])
def test_a_retriever(is_async: bool) -> None:
    """Its documents are the answer."""
    bare = FromSource(source=memory())
    prefetcher = Prefetcher(["passages"], serve="bounded", force_streaming=True, budgets=NOTHING_EARLY)
    retriever = prefetcher.retriever(bare, near=NearMiss(source=bare.source, embeddings=Words(), k=K))
    events = watch(prefetcher)
    thought_about(prefetcher, retriever, *WARM)
    until(lambda: len(of_kind(events, NearChecked)) == 3)
    bare.asked.clear()
    if is_async:

        async def one() -> Any:
            with prefetcher.run():
                await thinking("x").ainvoke("What is there?", {"callbacks": [prefetcher.handler()]})
                return await retriever.ainvoke("the bridge of Fernwick")

        found = asyncio.run(one())
    else:
        (found,) = thought_about(prefetcher, retriever, "the bridge of Fernwick")
    assert served(events) == [False] * 3 + [True]
    assert bare.asked == []
    assert found == bare.invoke("the bridge of Fernwick")
    assert prefetcher.report().troubles == 0


def test_what_is_handed_out_is_not_what_is_kept() -> None:
    """Case 56: a caller that edits its documents edits nobody else's."""
    bare = FromSource(source=memory())
    prefetcher = Prefetcher(["passages"], serve="bounded", force_streaming=True, budgets=NOTHING_EARLY)
    retriever = prefetcher.retriever(bare, near=NearMiss(source=bare.source, embeddings=Words(), k=K))
    events = watch(prefetcher)
    thought_about(prefetcher, retriever, *WARM)
    until(lambda: len(of_kind(events, NearChecked)) == 3)
    with prefetcher.run():
        thinking("x").invoke("What is there to see?", {"callbacks": [prefetcher.handler()]})
        first = retriever.invoke("the bridge of Fernwick")
        first[0].page_content, first[0].metadata["mine"] = "edited", True
        second = retriever.invoke("the bridge of Fernwick")
    assert second == bare.invoke("the bridge of Fernwick")
    assert served(events)[3:] == [True, True]


def test_keyword_arguments_of_a_call_are_another_search() -> None:
    """Case 59, for retrievers."""
    bare = FromSource(source=memory())
    prefetcher = Prefetcher(["passages"], serve="bounded", force_streaming=True, budgets=NOTHING_EARLY)
    retriever = prefetcher.retriever(bare, near=NearMiss(source=bare.source, embeddings=Words(), k=K))
    events = watch(prefetcher)
    thought_about(prefetcher, retriever, *WARM)
    until(lambda: len(of_kind(events, NearChecked)) == 3)
    with prefetcher.run():
        thinking("x").invoke("What is there to see?", {"callbacks": [prefetcher.handler()]})
        try:
            retriever.invoke("the bridge of Fernwick", k=5)
        except TypeError:  # this retriever takes none
            pass
    assert served(events)[3:] == [False]


def test_a_tool_called_by_hand() -> None:
    """With plain arguments its raw result is what is compared and served."""
    searching = Searching(memory())
    prefetcher = Prefetcher(["search"], serve="bounded", force_streaming=True, budgets=NOTHING_EARLY)
    search = prefetcher.tool(searching.tool, near=near(searching.source))
    events = watch(prefetcher)
    thought_about(prefetcher, search, *WARM)
    until(lambda: len(of_kind(events, NearChecked)) == 3)
    (found,) = thought_about(prefetcher, search, "the bridge of Fernwick")
    assert served(events) == [False] * 3 + [True]
    assert found == searching.answer("the bridge of Fernwick")


def test_any_langchain_vector_store_and_an_opaque_retriever() -> None:
    """Passages whose vectors are not handed out are embedded; nothing is proved, and checks say that all was right."""
    words = Words()
    store = InMemoryVectorStore(words)
    store.add_texts(list(TEXTS), ids=[f"p{at:03d}" for at in range(len(TEXTS))])
    wide = FromSource(source=memory())
    for source in (store, store.as_retriever(), wide):
        prefetcher = Prefetcher(["passages"], serve="bounded", force_streaming=True, budgets=NOTHING_EARLY)
        held = store.as_retriever(search_kwargs={"k": K}) if source is not wide else wide
        retriever = prefetcher.retriever(held, near=NearMiss(source=source, embeddings=words, k=K, n=36))
        events = watch(prefetcher)
        thought_about(prefetcher, retriever, *WARM)
        told(events, NearChecked, 1)
        assert of_kind(events, NearFetched)
        if source is not wide:
            assert not any(each.wrong for each in of_kind(events, NearChecked))
        assert {each.reason for each in of_kind(events, NearAnswered)} <= {"unsure", "too few passages"}
        assert prefetcher.report().troubles == 0
