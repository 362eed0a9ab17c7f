"""The way of passages into PostgreSQL: Arrow batches to COPY. Needs the extra ``ingest``.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from langgraph_prefetch.errors import MissingExtraError

try:
    import numpy  # noqa: F401 - asked for once, here
    import pgvector  # noqa: F401
    import psycopg  # noqa: F401
    import pyarrow  # noqa: F401
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(error.name or "pyarrow", "ingest") from error

from langgraph_prefetch.retrieval.writing.columns import schema
from langgraph_prefetch.retrieval.writing.writer import CopyWriter

__all__ = ["CopyWriter", "schema"]
