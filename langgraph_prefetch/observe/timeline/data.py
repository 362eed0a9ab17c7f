"""The drawn values as the JSON that the page reads, kept within a size."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.observe.timeline.marks import RunLine

MAX_BYTES = 1_600_000
"""Of the data; with its style and script a page stays under 2 MB."""
MAX_RUNS = 20
MAX_TEXT = 160

_DECIMALS = 4
_TIMES = frozenset({"start", "end", "at", "call_at"})


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """What a page holds. ``left_out`` says in words what it does not."""

    text: str
    runs: tuple[RunLine, ...]
    left_out: tuple[str, ...]


def page_data(runs: Sequence[RunLine]) -> PageData:
    """The latest runs, oldest first, as JSON that may stand inside a ``<script>`` element."""
    left_out = []
    kept = list(runs[-MAX_RUNS:])
    texts = [_json(run) for run in kept]
    while len(kept) > 1 and sum(map(len, texts)) > MAX_BYTES:
        del kept[0], texts[0]
    if len(kept) < len(runs):
        left_out.append(f"Drawn are the latest {len(kept)} of {len(runs)} runs.")
    if kept and len(texts[0]) > MAX_BYTES:
        run = kept[0]
        count = len(run.steps)
        while len(texts[0]) > MAX_BYTES and count > 1:
            count = max(1, int(count * 0.9 * MAX_BYTES / len(texts[0])))
            kept[0] = run.first_steps(count)
            texts[0] = _json(kept[0])
        left_out.append(f"Of run {clip(run.id)} the first {count} of {run.all_steps} model calls are drawn.")
    return PageData(text=f"[{','.join(texts)}]", runs=tuple(kept), left_out=tuple(left_out))


def clip(text: str) -> str:
    """At most ``MAX_TEXT`` characters of it."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"


def _json(run: RunLine) -> str:
    marks = {
        "id": clip(run.id),
        "seconds": round(run.end - run.start, _DECIMALS),
        "steps": [_fields(each, run.start) for each in run.steps],
        "speculations": [_fields(each, run.start) for each in run.speculations],
        "calls": [_fields(each, run.start) for each in run.calls],
        "ignored": [_fields(each, run.start) for each in run.ignored],
    }
    text = json.dumps(marks, separators=(",", ":"), allow_nan=False)  # ASCII: no line separator that ends a script
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _fields(mark: Any, start: float) -> Mapping[str, Any]:
    """What has a value, times counted from the run's start."""
    found = {}
    for field in dataclasses.fields(mark):
        value = getattr(mark, field.name)
        if value in (None, "", (), False) and (value is None or field.name not in _TIMES):
            continue
        if field.name in _TIMES:
            value = round(value - start, _DECIMALS)
        elif field.name == "joined":
            value = [round(each - start, _DECIMALS) for each in value]
        elif isinstance(value, float):
            value = round(value, _DECIMALS)
        elif isinstance(value, str):
            value = clip(str(value))
        found[field.name] = value
    return found
