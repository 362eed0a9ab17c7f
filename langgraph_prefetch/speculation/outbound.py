"""May this call be sent early? The destination's rules, then the user's redaction hook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langgraph_prefetch.config import ToolPolicy
from langgraph_prefetch.outbound import INSTRUCTION, MaySend, Outgoing, texts_of
from langgraph_prefetch.values import Source

if TYPE_CHECKING:
    from langgraph_prefetch.speculation.launch import Wish
    from langgraph_prefetch.speculation.session import Session


def held_back(session: Session, wish: Wish) -> str | None:
    """Why the call is not sent early (``outbound: address``, ``may_send: refused`` …); None: it may be.

    Never raises: a hook that fails sends nothing, and is told as trouble.
    """
    policy, hook = wish.tool.policy, session.options.may_send
    outgoing = Outgoing(
        tool=policy.name,
        destination=policy.destination,
        source=wish.source,
        query=wish.query,
        arguments=wish.arguments,
    )
    if reason := against(outgoing, policy, planted=wish.planted, textual=wish.textual):
        return f"outbound: {reason}"
    if hook is None:
        return None
    try:
        return _verdict(hook, outgoing)
    except Exception as error:  # noqa: BLE001 - whatever the user's hook raises, nothing is sent
        session.trouble("may_send", error)
        return f"may_send: {type(error).__name__}"


def against(outgoing: Outgoing, policy: ToolPolicy, *, planted: bool, textual: bool) -> str | None:
    """What speaks against sending it, by the tool's rules. Pure.

    Args:
        outgoing: the call.
        policy: the tool's.
        planted: a tool's result told the model to search for it.
        textual: it was read from prose as an action; one that a tool's result dictated is never carried out early.
    """
    rules = policy.outbound_rules
    if planted and (textual or (rules is not None and INSTRUCTION in rules.refuse)):
        return INSTRUCTION
    if rules is None:
        return None
    return rules.reason_against(*texts_of(outgoing.arguments, policy.fixed_arguments))


def needs_origin(policy: ToolPolicy, source: Source, *, textual: bool) -> bool:
    """Whether it matters where the model has the query from. A call that it makes is its own decision."""
    if textual:
        return True
    rules = policy.outbound_rules
    return source is Source.REASONING and rules is not None and INSTRUCTION in rules.refuse


def _verdict(hook: MaySend, outgoing: Outgoing) -> str | None:
    answer = hook(outgoing)
    if answer is True:
        return None
    return "may_send: refused" if answer is False else f"may_send: gave a {type(answer).__name__}"
