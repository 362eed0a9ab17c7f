"""Which texts may become a query at all."""

from __future__ import annotations

from langgraph_prefetch.outbound import GUESS_RULES


def may_leave(query: str) -> bool:
    """Whether a guessed query may be sent: no addresses, nothing that looks like a secret, no control characters.

    A tool's own rules (:class:`~langgraph_prefetch.outbound.OutboundRules`) come on top.
    """
    return bool(query) and GUESS_RULES.reason_against(query) is None
