"""Connections to PostgreSQL: one pool a process, real calls first. Needs the extra ``postgres``.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from importlib.util import find_spec

from langgraph_prefetch.errors import MissingExtraError

for _library in ("sqlalchemy", "psycopg", "pgvector"):
    if find_spec(_library) is None:
        raise MissingExtraError(_library, "postgres")

from langgraph_prefetch.retrieval.database.abilities import Abilities  # noqa: E402
from langgraph_prefetch.retrieval.database.database import Database, Work  # noqa: E402
from langgraph_prefetch.retrieval.database.limits import PoolLimits  # noqa: E402

__all__ = ["Abilities", "Database", "PoolLimits", "Work"]
