"""The command ``langgraph-prefetch``. Exit codes: 0 done, 1 something unexpected, 2 wrong use or wrong input."""

from langgraph_prefetch.cli.main import main

__all__ = ["main"]
