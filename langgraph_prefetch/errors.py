"""Everything this package raises on purpose.

::

    PrefetchError
    ├── ConfigurationError (ValueError)     wrong use, found when the graph is wrapped
    │   ├── NotAGraphError
    │   ├── NoToolNodeError
    │   ├── AlreadyWrappedError
    │   ├── NotWrappedError
    │   ├── UnknownToolError
    │   ├── UnknownOptionError
    │   └── MiddlewareOrderError
    ├── MissingExtraError (ImportError)     an optional library is not installed
    ├── UnkeyableError                      arguments that no key can stand for
    ├── SpeculationRejectedError            no room for a speculation; counted, never shown to the agent
    ├── NotServableError                    a tool's result that no call may be answered with; counted likewise
    ├── SpeculationDeclinedError            raised by a tool of yours that does not want to run early; counted
    ├── TraceFileError                      a recording that cannot be read
    ├── FitError                            traces from which nothing can be fitted
    ├── CueFileError                        a file of cues that cannot be read
    ├── EventFileError                      a file of events that cannot be read
    ├── TimelineError                       a timeline that cannot be drawn or written
    └── DemoError                           something the demo needs does not work here

Nothing here is ever raised into a running agent: there, a failure of prefetch is a miss.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence, with a space before it, that names the one of ``known`` that was meant; empty where none is near."""
    known = list(known)
    # The start of one name, and of no other, is meant for it, however much of it is missing.
    begun = [each for each in known if name and each.startswith(name)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


class PrefetchError(Exception):
    """Base of every error of this package."""


class ConfigurationError(PrefetchError, ValueError):
    """The package was asked for something it cannot do; the message says what to do instead."""


class NotAGraphError(ConfigurationError):
    """What was handed to ``with_prefetch`` is not a compiled LangGraph graph."""

    def __init__(self, got: object) -> None:
        self.got_type = type(got).__name__
        hint = " Call .compile() first." if hasattr(got, "compile") else ""
        if self.got_type == "RemoteGraph":
            hint = " Its tools run on a server: wrap the graph there."
        super().__init__(f"with_prefetch needs a compiled LangGraph graph, not {self.got_type}.{hint}")


class NoToolNodeError(ConfigurationError):
    """The graph runs no ToolNode, so there is no call that could be answered."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = tuple(nodes)
        super().__init__(
            f"no ToolNode among the graph's nodes ({', '.join(self.nodes) or 'none'}) or its subgraphs. "
            "If a function node calls an agent or a tool, wrap that agent, or use Prefetcher.tool()."
        )


class AlreadyWrappedError(ConfigurationError):
    """The graph is wrapped already; wrapping it again would count every call twice."""

    def __init__(self) -> None:
        super().__init__(
            "this graph prefetches already, by with_prefetch, PrefetchMiddleware or prefetching_tool_node: use one of "
            "them, and name all tools there"
        )


class NotWrappedError(ConfigurationError):
    """The graph has no prefetcher of its own."""

    def __init__(self, got: object) -> None:
        self.got_type = type(got).__name__
        super().__init__(f"this {self.got_type} was not returned by with_prefetch, so it has no prefetcher")


class UnknownToolError(ConfigurationError):
    """A named tool is not in the graph, or a tool was handed to a prefetcher that names others."""

    def __init__(self, name: str, available: Iterable[str], where: str = "in the graph. Its tools") -> None:
        self.name, self.available = name, tuple(sorted(available))
        listed = ", ".join(self.available) or "none"
        super().__init__(f"no tool named {name!r} {where}: {listed}.{did_you_mean(name, self.available)}")


class UnknownOptionError(ConfigurationError):
    """An option that does not exist."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(sorted(known))
        super().__init__(f"unknown option {name!r}. Options: {', '.join(self.known)}.{did_you_mean(name, self.known)}")


class MiddlewareOrderError(ConfigurationError):
    """``PrefetchMiddleware`` is not the last of the agent's middleware."""

    def __init__(self, after: Iterable[str]) -> None:
        self.after = tuple(after)
        super().__init__(
            f"PrefetchMiddleware must be the last middleware, so that your own tool wrappers run on every call; "
            f"{', '.join(self.after)} came after it"
        )


class MissingExtraError(PrefetchError, ImportError):
    """An optional library is missing; the message is the command that installs it."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f'{library} is not installed: pip install "langgraph-prefetch[{extra}]"')


class UnkeyableError(PrefetchError):
    """The arguments hold a value with no canonical form, so equality cannot be decided."""

    def __init__(self, value: object) -> None:
        self.value_type = type(value).__name__
        super().__init__(f"a value of type {self.value_type} has no canonical form")


class SpeculationRejectedError(PrefetchError):
    """The executor takes no more speculations now: it is full or closed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"speculation rejected: {reason}")


class NotServableError(PrefetchError):
    """A tool gave back something that no other call may be answered with."""


class SpeculationDeclinedError(PrefetchError):
    """For tools to raise where ``is_speculative()`` is true: this call is not to run early.

    Its speculation is cancelled, which is no failure of the backend. In a real call it is an error as any other.
    """


class TraceFileError(PrefetchError):
    """A recording cannot be opened or read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class FitError(PrefetchError):
    """Cues cannot be fitted to these traces without overfitting; the message says what is missing."""


class CueFileError(PrefetchError):
    """A file of cues cannot be opened, is broken or huge, or was written in another version of the format."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class EventFileError(PrefetchError):
    """A file of events cannot be opened, or was written in a format that is newer than ours."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class TimelineError(PrefetchError):
    """A timeline cannot be drawn or written; the message says what is missing."""


class DemoError(PrefetchError):
    """Something the demo needs does not work here; the message says what, and what to do where that is known."""
