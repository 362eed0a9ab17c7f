"""Wrong use that is found when an agent is wrapped."""

from __future__ import annotations

from collections.abc import Iterable

from langgraph_prefetch.errors.base import ConfigurationError, did_you_mean


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
