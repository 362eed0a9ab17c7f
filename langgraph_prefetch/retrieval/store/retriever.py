"""The store as a retriever."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStoreRetriever


class PgVectorRetriever(VectorStoreRetriever):
    """LangChain's retriever, with hybrid search as one more ``search_type``.

    Attributes:
        k: how many documents; ``search_kwargs["k"]`` and an ``invoke``'s own ``k`` count for more.
    """

    k: int = 4
    allowed_search_types: ClassVar[Collection[str]] = (
        "similarity",
        "similarity_score_threshold",
        "mmr",
        "hybrid",
    )

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        arguments = self._arguments(kwargs)
        if self.search_type == "hybrid":
            found: list[Document] = self.vectorstore.hybrid_search(query, **arguments)  # type: ignore[attr-defined]
            return found
        return super()._get_relevant_documents(query, run_manager=run_manager, **arguments)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **kwargs: Any
    ) -> list[Document]:
        arguments = self._arguments(kwargs)
        if self.search_type == "hybrid":
            found: list[Document] = await self.vectorstore.ahybrid_search(  # type: ignore[attr-defined]
                query, **arguments
            )
            return found
        return await super()._aget_relevant_documents(query, run_manager=run_manager, **arguments)

    def _arguments(self, given: dict[str, Any]) -> dict[str, Any]:
        return {"k": self.k, **self.search_kwargs, **given}
