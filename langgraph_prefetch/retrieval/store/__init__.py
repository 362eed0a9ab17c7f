"""A LangChain vector store on a collection of passages. Needs the extra ``postgres``.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from langgraph_prefetch.retrieval import _extras  # noqa: F401 - first, so that a missing library is named by its extra
from langgraph_prefetch.retrieval.search.searcher import SearchOptions
from langgraph_prefetch.retrieval.store.retriever import PgVectorRetriever
from langgraph_prefetch.retrieval.store.setup import Setup, StoreOptions
from langgraph_prefetch.retrieval.store.sharded import ShardedRetriever
from langgraph_prefetch.retrieval.store.store import PgVectorStore

__all__ = ["PgVectorRetriever", "PgVectorStore", "SearchOptions", "Setup", "ShardedRetriever", "StoreOptions"]
