"""Plots as inline SVG, drawn with matplotlib, each once for a wide page and once for a narrow one.

Importing this raises ``MissingExtraError`` where matplotlib is missing.
"""

from langgraph_prefetch.errors import MissingExtraError

try:
    import matplotlib  # noqa: F401 - asked for once, here
except ImportError as error:
    raise MissingExtraError(error.name or "matplotlib", "eval") from error
