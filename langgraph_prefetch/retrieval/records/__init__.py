"""What is in a store, and in which state: for ingestions of ours, and for LangChain's ``index``.

Raises:
    MissingExtraError: one of the libraries of the extra ``postgres`` is not installed.
"""

from importlib.util import find_spec

from langgraph_prefetch.errors import MissingExtraError

for _library in ("sqlalchemy", "psycopg", "pgvector", "alembic"):
    if find_spec(_library) is None:
        raise MissingExtraError(_library, "postgres")

from langgraph_prefetch.retrieval.records.ledger import PgSourceLedger  # noqa: E402
from langgraph_prefetch.retrieval.records.manager import PgRecordManager  # noqa: E402

__all__ = ["PgRecordManager", "PgSourceLedger"]
