"""Models that think inside their visible text: ``<think>…</think>`` cut anywhere -> reasoning and text."""

from __future__ import annotations

from langgraph_prefetch.values import ReasoningDelta, TextDelta

_NAMES = ("think", "thinking", "reasoning")
_OPEN = tuple(f"<{name}>" for name in _NAMES)
_CLOSE = tuple(f"</{name}>" for name in _NAMES)


class ThinkTagSplitter:
    """Splits text at think tags, wherever the stream is cut.

    The same text gives the same spans for every way of cutting it. A ``<`` that does not start a tag is plain text;
    it is held back only while it may still become one (at most 11 characters). A tag inside the other kind's span
    (an opening tag while thinking, a closing tag outside) is dropped, since it has no other meaning in these models.
    """

    __slots__ = ("_held", "_thinking")

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False

    @property
    def thinking(self) -> bool:
        """Whether the text read last stands inside a think tag."""
        return self._thinking

    def feed(self, text: str) -> tuple[TextDelta | ReasoningDelta, ...]:
        """Spans that have become certain, oldest first."""
        if not self._held and "<" not in text:
            return (self._span(text),) if text else ()
        text = self._held + text
        self._held = ""
        spans: list[TextDelta | ReasoningDelta] = []
        start = 0
        at = text.find("<")
        while at >= 0:
            tag = _tag_at(text, at)
            if tag is None:
                at = text.find("<", at + 1)
                continue
            if at > start:
                spans.append(self._span(text[start:at]))
            if not tag:
                self._held = text[at:]
                return tuple(spans)
            self._thinking = tag in _OPEN
            start = at + len(tag)
            at = text.find("<", start)
        if start < len(text):
            spans.append(self._span(text[start:]))
        return tuple(spans)

    def finish(self) -> tuple[TextDelta | ReasoningDelta, ...]:
        """Release what was held back: the message has ended, so it was no tag."""
        held, self._held = self._held, ""
        return (self._span(held),) if held else ()

    def _span(self, text: str) -> TextDelta | ReasoningDelta:
        return ReasoningDelta(text) if self._thinking else TextDelta(text)


def _tag_at(text: str, at: int) -> str | None:
    """The tag that starts at ``at``; empty when the text ends inside a possible tag; None when there is none."""
    for tag in _OPEN + _CLOSE:
        if text.startswith(tag, at):
            return tag
    rest = text[at : at + 12]
    if at + len(rest) == len(text) and any(tag.startswith(rest) for tag in _OPEN + _CLOSE):
        return ""
    return None
