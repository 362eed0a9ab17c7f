"""A report whose every text is hostile."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.evaluation.reporting.values import SuiteReport

HOSTILE = (
    "</title></style></script><script>alert(1)</script><img src=x onerror=alert(2)>\"' onload=alert(3) {{7*7}} {% x %} "
    "$\\frac$ | [a](javascript:alert(4)) ![b](http://localhost/c) `d` **e** <http://localhost/f> &lt; "
    "\x00\x1b\u202e\ud800\n# g"
)


def with_text(value: Any, text: str = HOSTILE) -> Any:
    """The value, with ``text`` behind each text of it; events are left as they are."""
    if isinstance(value, str):
        return value + text
    if isinstance(value, tuple):
        return tuple(with_text(each, text) for each in value)
    if isinstance(value, Mapping):
        return {key + text: with_text(each, text) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        if "at" in fields:
            return dataclasses.replace(value, **{key: text for key in ("query", "reason") if key in fields})
        return dataclasses.replace(value, **{key: with_text(each, text) for key, each in fields.items()})
    return value


def hostile_report(report: SuiteReport) -> SuiteReport:
    found: SuiteReport = with_text(report)
    return found
