"""Incremental reading of tool-call arguments: a call is *sealed* as soon as its JSON object closes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace

from langgraph_prefetch.values import SealedCall, ToolCallDelta

MAX_ARGUMENT_CHARS = 65_536
"""Arguments longer than this (characters) are not read ahead; the call runs as usual."""

_STRUCTURE = re.compile(r'["{}\[\]]')
_EMPTY = re.compile(r"\s*\{\s*\}")
_STRING_END = re.compile(r'["\\]')


@dataclass(slots=True)
class _Call:
    """One call being written. ``done`` is set when it was sealed or can no longer be."""

    call_id: str | None = None
    name: str | None = None
    parts: list[str] = field(default_factory=list)
    size: int = 0
    depth: int = 0
    in_string: bool = False
    escaped: bool = False
    done: bool = False


class ToolArgsReader:
    """Reads the argument fragments of all calls of one message and yields each call once, when its JSON closes.

    Calls are told apart by ``index``; a new ``call_id`` on an index in use starts a new call, because some providers
    give parallel calls one index. Fragments without an index go to the call with their id, else to the latest one.
    Every character is looked at once. Unclosed, invalid and oversized arguments never yield a call. An empty object
    yields none either: some providers send ``{}`` as a placeholder before the real arguments.
    """

    __slots__ = ("_by_id", "_by_index", "_latest", "_max_chars")

    def __init__(self, max_chars: int = MAX_ARGUMENT_CHARS) -> None:
        self._max_chars = max_chars
        self._by_index: dict[int | str, _Call] = {}
        self._by_id: dict[str, _Call] = {}
        self._latest: _Call | None = None

    def feed(self, delta: ToolCallDelta) -> SealedCall | None:
        """Take one fragment; the call if this fragment closed its arguments."""
        call = self._call_of(delta)
        if call.done:
            return None
        if delta.name and not call.name:
            call.name = delta.name
        end = _scan(call, delta.arguments) if delta.arguments else None
        if end is None:
            call.size += len(delta.arguments)
            call.parts.append(delta.arguments)
            if call.size > self._max_chars:
                call.parts.clear()
                call.done = True
            return None
        call.parts.append(delta.arguments[:end])
        text = "".join(call.parts)
        call.parts.clear()
        if _EMPTY.fullmatch(text):
            return self.feed(replace(delta, arguments=delta.arguments[end:]))
        call.done = True
        return _sealed(call, text)

    def _call_of(self, delta: ToolCallDelta) -> _Call:
        known = self._by_id.get(delta.call_id) if delta.call_id else None
        if known is None:
            held = self._latest if delta.index is None else self._by_index.get(delta.index)
            known = self._adopt(held, delta.call_id)
        if delta.index is not None:
            self._by_index[delta.index] = known
        if delta.call_id:
            self._by_id[delta.call_id] = known
        self._latest = known
        return known

    @staticmethod
    def _adopt(held: _Call | None, call_id: str | None) -> _Call:
        """The call in progress, unless an id says that this is another one."""
        if held is None or (call_id and held.call_id not in (None, call_id)):
            return _Call(call_id=call_id)
        if held.call_id is None:
            held.call_id = call_id
        return held


def _sealed(call: _Call, text: str) -> SealedCall | None:
    try:
        arguments = json.loads(text)
    except ValueError:
        return None
    if not isinstance(arguments, dict) or not call.name:
        return None
    return SealedCall(tool=call.name, arguments=arguments, call_id=call.call_id)


def _scan(call: _Call, text: str) -> int | None:
    """Advance over ``text``; the offset just behind the closing brace, if it is in here."""
    at, end = 0, len(text)
    if call.escaped and text:
        call.escaped = False
        at = 1
    while at < end:
        if call.in_string:
            found = _STRING_END.search(text, at)
            if found is None:
                return None
            if found.group() == "\\":
                if found.end() == end:
                    call.escaped = True
                at = found.end() + 1
            else:
                call.in_string = False
                at = found.end()
            continue
        found = _STRUCTURE.search(text, at)
        if found is None:
            return None
        at = found.end()
        match found.group():
            case '"':
                call.in_string = True
            case "{" | "[":
                call.depth += 1
            case _:
                call.depth -= 1
                if call.depth <= 0:
                    return at
    return None
