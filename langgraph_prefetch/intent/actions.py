"""ReAct actions written as prose: ``Action: Search[x]`` and ``Action: search`` + ``Action Input: x``."""

from __future__ import annotations

import re

from langgraph_prefetch.intent.tool_args import ToolArgsReader
from langgraph_prefetch.values import SealedCall, ToolCallDelta

_MAX_LINE_CHARS = 4_096
_ACTION = re.compile(r"[\s*_#>-]{0,8}action ?\d{0,3} ?:[*_ ]{0,4}", re.IGNORECASE)
_INPUT = re.compile(r"[\s*_#>-]{0,8}action ?\d{0,3} ?input ?\d{0,3} ?:[*_ ]{0,4}", re.IGNORECASE)
_MAY_BE_ACTION = re.compile(r"[\s*_#>-]{0,8}(?:a(?:c(?:t(?:i(?:o(?:n.*)?)?)?)?)?)?\Z", re.IGNORECASE | re.DOTALL)
_BRACKET = re.compile(r"([A-Za-z_][\w.-]*(?: [\w.-]+){0,3}) ?\[")
_TOOL = re.compile(r"[A-Za-z_][\w .-]*")
_BRACKETS = re.compile(r"[\[\]]")


class ActionReader:
    """Yields an action written in the text as soon as it closes, wherever the stream is cut.

    A bracket closes where it balances; one that never does closes at the last bracket of its line, as the usual
    ``Name[(.*)]`` parsers read it. An ``Action Input`` closes with its line, or where its JSON object closes.
    Only the first action of a line is read.
    """

    __slots__ = ("_json", "_line", "_tool")

    def __init__(self) -> None:
        self._line: str | None = ""
        self._tool: str | None = None
        self._json: ToolArgsReader | None = None

    def feed(self, text: str) -> tuple[SealedCall, ...]:
        """Actions that closed within ``text``, in order."""
        if self._line is None and self._json is None and "\n" not in text:
            return ()
        calls = [call for line in text.splitlines(keepends=True) if (call := self._feed_line(line)) is not None]
        return tuple(calls)

    def finish(self) -> tuple[SealedCall, ...]:
        """The message has ended: an action that ends with it is closed."""
        return self.feed("\n")

    def _feed_line(self, text: str) -> SealedCall | None:
        ended = text.endswith("\n")
        call = None
        if self._json is not None:
            call = self._read_json(text)
        elif self._line is not None:
            self._line += text
            if ended or "]" in text or ":" in text:
                call = self._read(self._line, ended)
        if call is not None or self._json is not None:
            self._line = None
        elif self._line is not None and (len(self._line) > _MAX_LINE_CHARS or not _MAY_BE_ACTION.match(self._line)):
            self._line = None
        if ended and self._json is None:
            self._line = ""
        return call

    def _read(self, line: str, ended: bool) -> SealedCall | None:
        if found := _INPUT.match(line):
            return self._read_input(line[found.end() :], ended)
        if (found := _ACTION.match(line)) is None:
            return None
        if bracket := _BRACKET.match(line, found.end()):
            query = _inside(line, bracket.end(), ended)
            return _textual(bracket.group(1), query) if query else None
        if ended and (tool := _TOOL.match(line, found.end())):
            self._tool = tool.group().strip()
        return None

    def _read_input(self, text: str, ended: bool) -> SealedCall | None:
        if self._tool is None:
            return None
        if text.startswith("{"):
            self._json = ToolArgsReader()
            return self._read_json(text)
        query = text.strip().strip('"')
        if not ended or not query:
            return None
        tool, self._tool = self._tool, None
        return _textual(tool, query)

    def _read_json(self, text: str) -> SealedCall | None:
        if self._json is None:
            return None
        call = self._json.feed(ToolCallDelta(name=self._tool, arguments=text))
        if call is None:
            return None
        self._json = self._tool = None
        return SealedCall(tool=call.tool, arguments=call.arguments, textual=True)


def _textual(tool: str, query: str) -> SealedCall:
    return SealedCall(tool=tool, arguments={"query": query}, textual=True)


def _inside(line: str, start: int, ended: bool) -> str:
    """The text of a bracket opened just before ``start``; empty while it is open."""
    depth = 1
    for found in _BRACKETS.finditer(line, start):
        depth += 1 if found.group() == "[" else -1
        if not depth:
            return line[start : found.start()].strip()
    last = line.rfind("]", start)
    return line[start:last].strip() if ended and last >= 0 else ""
