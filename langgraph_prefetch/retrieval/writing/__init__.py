"""The way of passages into PostgreSQL: Arrow batches to COPY. Needs the extra ``ingest``.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from importlib.util import find_spec

from langgraph_prefetch.errors import MissingExtraError

for _library in ("sqlalchemy", "psycopg", "pgvector", "numpy", "pyarrow"):
    if find_spec(_library) is None:
        raise MissingExtraError(_library, "ingest")

from langgraph_prefetch.retrieval.writing.columns import schema  # noqa: E402
from langgraph_prefetch.retrieval.writing.writer import CopyWriter  # noqa: E402

__all__ = ["CopyWriter", "schema"]
