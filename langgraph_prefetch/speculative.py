"""How a tool can tell that it runs early, for a call that may never come."""

from __future__ import annotations

from contextvars import ContextVar

speculating: ContextVar[bool] = ContextVar("langgraph_prefetch.speculating", default=False)
"""True in the context of a speculation, and in it alone. Set it in a test to run a tool as a speculation would."""


speculation_id: ContextVar[str | None] = ContextVar("langgraph_prefetch.speculation_id", default=None)
"""In the context of a speculation its id, as `SpeculationStarted` and `SpeculationEnded` have it; elsewhere None."""


def is_speculative() -> bool:
    """True inside a tool that runs early. A thread that the tool starts itself sees it only in a copied context."""
    return speculating.get()
