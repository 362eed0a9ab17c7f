"""The same table to write into as for the tests of writing."""

from tests.retrieval.writing.conftest import database, passages

__all__ = ["database", "passages"]
