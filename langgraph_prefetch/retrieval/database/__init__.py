"""Connections to PostgreSQL: one pool a process, real calls first. Needs the extra ``postgres``.

Raises:
    MissingExtraError: one of its libraries is not installed.
"""

from langgraph_prefetch.errors import MissingExtraError

try:
    import pgvector  # noqa: F401 - asked for once, here
    import psycopg  # noqa: F401
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(error.name or "sqlalchemy", "postgres") from error

from langgraph_prefetch.retrieval.database.abilities import Abilities
from langgraph_prefetch.retrieval.database.database import Database, Work
from langgraph_prefetch.retrieval.database.limits import PoolLimits

__all__ = ["Abilities", "Database", "PoolLimits", "Work"]
