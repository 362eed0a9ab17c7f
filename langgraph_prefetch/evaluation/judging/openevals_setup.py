"""openevals and agentevals, or the command that installs them."""

from __future__ import annotations

from importlib.metadata import version

from langgraph_prefetch.errors import MissingExtraError

try:
    import openevals
    from agentevals.trajectory.match import create_trajectory_match_evaluator
    from openevals.llm import create_async_llm_as_judge
    from openevals.string.levenshtein import levenshtein_distance
except ImportError as error:
    raise MissingExtraError("openevals and agentevals", "judges") from error

exact_match = openevals.exact_match
OPENEVALS_VERSION, AGENTEVALS_VERSION = version("openevals"), version("agentevals")

__all__ = [
    "AGENTEVALS_VERSION",
    "OPENEVALS_VERSION",
    "create_async_llm_as_judge",
    "create_trajectory_match_evaluator",
    "exact_match",
    "levenshtein_distance",
]
