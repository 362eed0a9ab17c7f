"""LangChain's own suites for embeddings, on every embedder."""

from typing import Any

from langchain_tests.integration_tests import EmbeddingsIntegrationTests
from langchain_tests.unit_tests import EmbeddingsUnitTests

from langgraph_prefetch.retrieval.embedders import HashingEmbeddings
from langgraph_prefetch.retrieval.embedders.minilm import MiniLMEmbeddings
from langgraph_prefetch.retrieval.embedders.wordllama import WordLlamaEmbeddings


class TestHashingUnit(EmbeddingsUnitTests):
    """Without a model."""

    @property
    def embeddings_class(self) -> type[HashingEmbeddings]:
        return HashingEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"dimensions": 64}


class TestHashingIntegration(EmbeddingsIntegrationTests):
    """Without a model."""

    @property
    def embeddings_class(self) -> type[HashingEmbeddings]:
        return HashingEmbeddings

    @property
    def embedding_model_params(self) -> dict[str, Any]:
        return {"dimensions": 64}


class TestWordLlamaUnit(EmbeddingsUnitTests):
    """With static vectors."""

    @property
    def embeddings_class(self) -> type[WordLlamaEmbeddings]:
        return WordLlamaEmbeddings


class TestWordLlamaIntegration(EmbeddingsIntegrationTests):
    """With static vectors."""

    @property
    def embeddings_class(self) -> type[WordLlamaEmbeddings]:
        return WordLlamaEmbeddings


class TestMiniLMUnit(EmbeddingsUnitTests):
    """With a transformer."""

    @property
    def embeddings_class(self) -> type[MiniLMEmbeddings]:
        return MiniLMEmbeddings


class TestMiniLMIntegration(EmbeddingsIntegrationTests):
    """With a transformer."""

    @property
    def embeddings_class(self) -> type[MiniLMEmbeddings]:
        return MiniLMEmbeddings
