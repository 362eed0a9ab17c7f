"""Neighbourhoods out of LangChain: a real vector store, and a retriever of which nothing is known."""

from collections.abc import Sequence

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.documents import RetrieverSource, TextVectors, VectorStoreSource, document_id
from langgraph_prefetch.near.run import LocalAnswer, NearRun
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.ports import NeighbourhoodSource
from tests.near.stores import hashed

TEXTS = [
    f"the {thing} of {place}" for thing in ("mayor", "river", "market") for place in ("Ashford", "Elmbury", "Fernwick")
]


class Words(Embeddings):
    """Counts words, and what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.extend(texts)
        made: list[list[float]] = hashed(texts).tolist()
        return made

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


@pytest.fixture
def words() -> Words:
    return Words()


def near_run() -> NearRun:
    settings = NearSettings(n=6)
    return NearRun(settings, Controls(settings), tool="search", scope=None)


async def test_a_vector_store_answers_as_its_own_search_would(words: Words) -> None:
    store = InMemoryVectorStore(words)
    store.add_texts(TEXTS, metadatas=[{"row": at} for at in range(len(TEXTS))])
    source = VectorStoreSource(store, TextVectors(words), dimensions=256, epoch=lambda: 0)
    assert isinstance(source, NeighbourhoodSource)
    anchor, query = hashed(["mayor of Elmbury"])[0], "the mayor of Elmbury"
    run = near_run()
    run.add(source.neighbourhood(anchor, 6))
    run.add(await source.aneighbourhood(hashed(["the river"])[0], 6))
    found = run.answer(hashed([query])[0], k=1, epoch=source.epoch(), draw=0.5)
    assert isinstance(found, LocalAnswer)
    (real,) = store.similarity_search(query, k=1)
    assert (found.ids, found.texts, found.metadatas) == ((real.id,), (real.page_content,), (real.metadata,))
    assert found.tier is None  # nothing is proved from an index of which nothing is known


def test_a_retriever_is_ranked_with_the_users_embedder(words: Words) -> None:
    def search(text: str, count: int) -> Sequence[Document]:
        return [Document(page_content=each) for each in (*TEXTS, TEXTS[0])][:count]

    source = RetrieverSource(search, TextVectors(words), epoch=lambda: 3)
    run = near_run()
    run.add(source.around("what is there in Elmbury", 10))
    found = run.answer(hashed(["market of Fernwick"])[0], k=1, epoch=source.epoch(), draw=0.5)
    assert isinstance(found, LocalAnswer)
    assert found.texts == ("the market of Fernwick",)


async def test_a_retriever_has_an_async_form_where_it_is_given_one(words: Words) -> None:
    async def asearch(text: str, count: int) -> Sequence[Document]:
        return [Document(page_content=each, id=each) for each in TEXTS[:count]]

    source = RetrieverSource(lambda text, count: [], TextVectors(words), epoch=lambda: 0, asearch=asearch)
    assert (await source.aaround("x y", 4)).ids == tuple(TEXTS[:4])
    with pytest.raises(NotImplementedError, match="no async form"):
        await RetrieverSource(lambda text, count: [], TextVectors(words), epoch=lambda: 0).aaround("x", 1)


def test_nothing_found_is_an_empty_list(words: Words) -> None:
    found = RetrieverSource(lambda text, count: [], TextVectors(words), epoch=lambda: 0).around("x y", 5)
    assert (found.ids, found.vectors.shape) == ((), (0, 256))


def test_a_text_is_embedded_once_and_memory_is_bounded(words: Words) -> None:
    vectors = TextVectors(words, most=3)
    vectors.of(["a", "b", "a"])
    vectors.of(["b", "c"])
    assert words.asked == ["a", "b", "c"]
    vectors.of(["d"])
    assert np.array_equal(vectors.of(["a"]), hashed(["a"]))
    assert words.asked == ["a", "b", "c", "d", "a"]


def test_equal_documents_are_one_passage_and_others_are_not() -> None:
    same = [document_id(Document(page_content="x", metadata={"a": 1, "b": 2})) for _ in range(2)]
    assert same[0] == same[1]
    assert document_id(Document(page_content="x", metadata={"a": 1})) != same[0]
    assert document_id(Document(page_content="x", id="own")) == "own"
