"""Every test here may ask for a database of its own."""

from tests.postgres import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]
