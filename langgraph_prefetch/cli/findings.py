"""What a doctor finds, and how it is said. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["ok", "absent", "fault"]
"""``absent`` is what nobody asked for; ``fault`` is what was asked for and does not work."""

_SIGNS: dict[State, str] = {"ok": "ok", "absent": "-", "fault": "!!"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes:
        name: of the thing.
        state: how it is.
        value: what was found.
        remedy: what to do; empty where nothing has to be done.
    """

    name: str
    state: State
    value: str
    remedy: str = ""


def exit_code(findings: Sequence[Finding]) -> int:
    """0 if nothing is at fault, else 1."""
    return int(any(finding.state == "fault" for finding in findings))


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """For programs."""
    return {"ok": not exit_code(findings), "findings": [asdict(finding) for finding in findings]}


def as_text(findings: Sequence[Finding]) -> str:
    """For people: a line each, what to do on the next one."""
    width = max((len(finding.name) for finding in findings), default=0)
    lines = []
    for finding in findings:
        lines.append(f"{_SIGNS[finding.state]:2}  {finding.name:{width}}  {finding.value}".rstrip())
        if finding.remedy:
            lines.append(f"{'':{width + 6}}{finding.remedy}")
    return "\n".join(lines)
