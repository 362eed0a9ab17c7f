"""What is in a store, and in which state: for ingestions of ours, and for LangChain's ``index``.

Raises:
    MissingExtraError: one of the libraries of the extra ``postgres`` is not installed.
"""

from langgraph_prefetch.retrieval import _extras  # noqa: F401 - first, so that a missing library is named by its extra
from langgraph_prefetch.retrieval.records.ledger import PgSourceLedger
from langgraph_prefetch.retrieval.records.manager import PgRecordManager

__all__ = ["PgRecordManager", "PgSourceLedger"]
