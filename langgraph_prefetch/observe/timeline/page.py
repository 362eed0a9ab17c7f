"""Events as one self-contained page: nothing is loaded from elsewhere, and no text of theirs can become markup."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from importlib.resources import files

from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.timeline.collect import runs_of
from langgraph_prefetch.observe.timeline.data import page_data
from langgraph_prefetch.observe.timeline.summary import notes, numbers, run_table
from langgraph_prefetch.report import Tally

TITLE = "Prefetch timeline"

_SCRIPTS = ("words.js", "layout.js", "draw.js", "overview.js", "table.js", "main.js")
_HOLE = re.compile(r"\{\{(\w+)\}\}")


def timeline_page(events: Iterable[Event], *, title: str = TITLE, note: str | None = None) -> str:
    """The page.

    Args:
        events: in any order; what was recorded in part is drawn in part.
        title: its heading.
        note: a sentence under the numbers.
    """
    events = tuple(events)
    tally = Tally()
    for event in events:
        tally(event)
    data = page_data(runs_of(events))
    nothing = () if data.runs else ("There are no runs among the events.",)
    style, script = _text("page.css"), _script()
    return _filled(
        _text("page.html"),
        {
            "policy": f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'",
            "title": escape(title),
            "style": style,
            "numbers": numbers(tally.report()),
            "notes": notes(filter(None, (note, *data.left_out, *nothing))),
            "runs": run_table(data.runs),
            "data": data.text,
            "script": script,
        },
    )


def _filled(template: str, values: Mapping[str, str]) -> str:
    # In one pass: what is put in is not looked at again.
    return _HOLE.sub(lambda hole: values[hole[1]], template)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


@cache
def _script() -> str:
    return '"use strict";\n' + "".join(map(_text, _SCRIPTS))


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
