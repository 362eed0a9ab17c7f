"""May the text of an anchor be embedded and searched? As for a guess; but a thought is long by nature."""

from __future__ import annotations

from dataclasses import replace

from langgraph_prefetch.graph.near.view import View
from langgraph_prefetch.near.anchors import MAX_TEXT, Anchor
from langgraph_prefetch.outbound import INSTRUCTION, THIRD_PARTY_RULES, OutboundRules, Outgoing
from langgraph_prefetch.prefetcher.step import Told
from langgraph_prefetch.speculation.session import Session
from langgraph_prefetch.values import Source

ANCHOR_RULES = replace(THIRD_PARTY_RULES, max_chars=MAX_TEXT)
"""What applies to anchors that a third party reads, unless the tool's policy says otherwise."""


def anchor_held_back(session: Session, view: View, anchor: Anchor, told: Told) -> str | None:
    """Why the text is not sent (``outbound: secret``, ``may_send: refused`` …); None: it may be. Never raises."""
    rules = _rules(view)
    if rules is not None:
        # The question is the user's own, and what the model thinks of a result is no instruction of the result's.
        if INSTRUCTION in rules.refuse and anchor.kind in ("guess", "name") and told.planted(anchor.text):
            return f"outbound: {INSTRUCTION}"
        if reason := rules.reason_against(" ".join(anchor.text.split())):
            return f"outbound: {reason}"
    hook = session.options.may_send
    if hook is None:
        return None
    outgoing = Outgoing(
        tool=view.name,
        destination=view.destination,
        source=Source.NEAR,
        query=anchor.text,
        arguments={view.argument: anchor.text},
    )
    try:
        return None if hook(outgoing) is True else "may_send: refused"
    except Exception as error:  # noqa: BLE001 - whatever the user's hook raises, nothing is sent
        session.trouble("may_send", error)
        return f"may_send: {type(error).__name__}"


def _rules(view: View) -> OutboundRules | None:
    if view.tool.policy.outbound is not None:
        return view.tool.policy.outbound
    return ANCHOR_RULES if view.destination == "third_party" else None
