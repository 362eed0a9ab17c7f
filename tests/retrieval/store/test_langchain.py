"""LangChain's own suites for vector stores and retrievers, unchanged."""

from collections.abc import Iterator
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests, VectorStoreIntegrationTests

from langgraph_prefetch.retrieval import PgVectorRetriever, PgVectorStore
from langgraph_prefetch.retrieval.schema import Storage


class TestVectorStore(VectorStoreIntegrationTests):
    """All of it, sync and async, nothing left out."""

    @pytest.fixture(params=["exact", "indexed", "halfvec"])
    def vectorstore(self, shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[PgVectorStore]:
        storage: Storage = "halfvec" if request.param == "halfvec" else "vector"
        exact = False if request.param == "indexed" else None
        url, name = shared_database_url, request.node.name
        with PgVectorStore(self.get_embeddings(), url=url, collection=name, storage=storage, exact=exact) as store:
            if request.param == "indexed":
                store.create_index()
            yield store


class TestRetriever(RetrieversIntegrationTests):
    """All of it, sync and async, on the retriever that the store gives out."""

    @pytest.fixture(autouse=True)
    def _filled(self, shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[None]:
        texts, name = [f"passage {number}" for number in range(5)], request.node.name
        embeddings = DeterministicFakeEmbedding(size=6)
        with PgVectorStore.from_texts(texts, embeddings, url=shared_database_url, collection=name) as self.store:
            yield

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return PgVectorRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"vectorstore": self.store}

    @property
    def retriever_query_example(self) -> str:
        return "passage 3"
