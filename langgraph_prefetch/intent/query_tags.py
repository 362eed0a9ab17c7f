"""Queries between tags, as search-trained models write them: ``<search>x</search>``, ``<|begin_of_query|>…``."""

from __future__ import annotations

from langgraph_prefetch.values import SealedCall

TAG_TOOL = "search"
"""The tool name given to a query in tags: such models name no tool."""

_TAGS = {"<search>": "</search>", "<|begin_of_query|>": "<|end_of_query|>"}
_LONGEST = max(map(len, _TAGS))
_MAX_QUERY_CHARS = 2_048


class QueryTagReader:
    """Yields the query of each tag pair when its closing tag ends, wherever the stream is cut.

    A query longer than 2,048 characters is prose about tags and is skipped.
    """

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> tuple[SealedCall, ...]:
        """Queries closed within ``text``, in order."""
        if not self._held and "<" not in text:
            return ()
        text = self._held + text
        calls: list[SealedCall] = []
        at = text.find("<")
        while at >= 0:
            opening = next((tag for tag in _TAGS if text.startswith(tag, at)), "")
            if not opening:
                rest = text[at : at + _LONGEST]
                if at + len(rest) == len(text) and any(tag.startswith(rest) for tag in _TAGS):
                    break
                at = text.find("<", at + 1)
                continue
            start = at + len(opening)
            end = text.find(_TAGS[opening], start, start + _MAX_QUERY_CHARS)
            if end < 0 and len(text) - start < _MAX_QUERY_CHARS:
                break
            if end >= 0 and (query := text[start:end].strip()):
                calls.append(SealedCall(tool=TAG_TOOL, arguments={"query": query}, textual=True))
            at = text.find("<", max(start, end))
        self._held = text[at:] if at >= 0 else ""
        return tuple(calls)
