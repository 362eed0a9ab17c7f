"""The recommended settings, as code to paste."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.evaluation.advice.figures import Prices
from langgraph_prefetch.evaluation.advice.values import VERIFIED, Advice, Verdict


def wrapping_code(advice: Sequence[Advice], prices: Prices, reuse_seconds: float) -> str:
    """``with_prefetch`` with all recommended tools; empty where there are none."""
    chosen = chosen_of(advice)
    if not chosen:
        return ""
    lines = [
        f"from langgraph_prefetch import {', '.join(_names(prices, 'with_prefetch'))}",
        "",
        "agent = with_prefetch(",
        "    agent,  # your compiled graph",
        *_tools(chosen, prices, "    "),
        *_options(chosen, prices, reuse_seconds, "    "),
        ")",
    ]
    return "\n".join(lines) + "\n"


def verified_code(advice: Sequence[Advice], prices: Prices) -> str:
    """A middleware for verified serving of the tools for which that brings more; empty where there are none."""
    chosen = [each for each in advice if VERIFIED in each.more and not _acts(each)]
    if not chosen:
        return ""
    lines = [
        f"from langgraph_prefetch import {', '.join(_names(prices, 'PrefetchMiddleware'))}",
        "",
        "early = PrefetchMiddleware(",
        *_tools(chosen, prices, "    "),
        '    serve="verified",',
        *([f"    value_of_second=Price(money={prices.second!r}),"] if prices.unit else []),
        ")",
        "# create_agent(model, tools, middleware=[..., early]): it stands last, and streams what the model says",
    ]
    return "\n".join(lines) + "\n"


def chosen_of(advice: Sequence[Advice]) -> list[Advice]:
    """The recommended tools. Guesses are for the one that is named first, so the one that gains most stands there."""
    held = [each for each in advice if each.verdict is Verdict.RECOMMENDED]
    return sorted(held, key=lambda each: -_gain(each))


def guesses_for(chosen: Sequence[Advice]) -> str | None:
    """The tool whose queries the code has guessed; None for none."""
    return next((each.tool for each in chosen if each.guess), None)


def _gain(advice: Advice) -> float:
    reasoning = advice.evidence.modes.get(advice.mode)
    if not advice.guess or reasoning is None or reasoning.gain is None or reasoning.gain.value is None:
        return 0.0
    return reasoning.gain.value * reasoning.calls


def _acts(advice: Advice) -> bool:
    return advice.evidence.suspicion != "reads" and not advice.evidence.named


def _names(prices: Prices, front: str) -> list[str]:
    return sorted([*(("Price",) if prices.unit else ()), "ToolPolicy", front])


def _tools(chosen: Sequence[Advice], prices: Prices, indent: str) -> list[str]:
    first = guesses_for(chosen)
    return [f"{indent}tools=[", *(f"{indent}    {_policy(each, prices, first)}," for each in chosen), f"{indent}],"]


def _policy(advice: Advice, prices: Prices, first: str | None) -> str:
    facts = advice.evidence.facts
    parts = [f"name={advice.tool!r}"]
    guesses = advice.guess and advice.tool == first
    if guesses and len(facts.arguments) > 1:
        parts.append(f"query_argument={facts.query_argument!r}")
        if facts.fixed:
            parts.append(f"fixed_arguments={dict(facts.fixed)!r}")
    if not guesses:
        parts.append("guess=False")
    if prices.unit:
        parts.append(f"price=Price(money={prices.call!r})")
    return f"ToolPolicy({', '.join(parts)})".replace("'", '"')


def _options(chosen: Sequence[Advice], prices: Prices, reuse_seconds: float, indent: str) -> list[str]:
    lines = [f"{indent}value_of_second=Price(money={prices.second!r}),"] if prices.unit else []
    if any(each.reuse for each in chosen):
        why = "would bring more, if a result may be that old when the same is asked again"
        lines.append(f"{indent}# reuse_seconds={reuse_seconds:g},  # {why}")
    return lines
