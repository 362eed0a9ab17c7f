"""A scripted judge behind a real HTTP server, sensible or wrong in the ways that judges are wrong.

::

    with JudgeServer(first_place) as server:
        model = ChatOpenAI(model="scripted", base_url=f"{server.url}/v1", api_key="none")
"""

from langgraph_prefetch.testing.judge.behaviours import (
    NAMED,
    Behaviour,
    Flipping,
    Malformed,
    Waiting,
    failing,
    first_place,
    refusing,
    sensible,
    strict,
    throttled,
    verbose,
)
from langgraph_prefetch.testing.judge.server import JudgeServer

__all__ = [
    "NAMED",
    "Behaviour",
    "Flipping",
    "JudgeServer",
    "Malformed",
    "Waiting",
    "failing",
    "first_place",
    "refusing",
    "sensible",
    "strict",
    "throttled",
    "verbose",
]
