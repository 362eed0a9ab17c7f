"""What this room's tables and searches need. Importing this raises ``MissingExtraError`` where something is missing."""

from langgraph_prefetch.errors import MissingExtraError

try:
    import alembic  # noqa: F401 - asked for once, here
    import numpy  # noqa: F401
    import pgvector  # noqa: F401
    import psycopg  # noqa: F401
    import sqlalchemy  # noqa: F401
except ImportError as error:
    raise MissingExtraError(error.name or "sqlalchemy", "postgres") from error
