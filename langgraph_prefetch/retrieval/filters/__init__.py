"""Filters on metadata: typed conditions, the form LangChain's users write them in, and their SQL."""

from langgraph_prefetch.retrieval import _extras  # noqa: F401 - first, so that a missing library is named by its extra
from langgraph_prefetch.retrieval.filters.checks import Path, Scalar
from langgraph_prefetch.retrieval.filters.parse import OPERATORS, parse
from langgraph_prefetch.retrieval.filters.tree import (
    And,
    Compare,
    Condition,
    Contains,
    Equals,
    Exists,
    Like,
    Not,
    OneOf,
    Or,
)

__all__ = [
    "OPERATORS",
    "And",
    "Compare",
    "Condition",
    "Contains",
    "Equals",
    "Exists",
    "Like",
    "Not",
    "OneOf",
    "Or",
    "Path",
    "Scalar",
    "parse",
]
