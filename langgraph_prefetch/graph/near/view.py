"""What one tool's near misses need, found out when the tool is taken in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool

from langgraph_prefetch.errors import ConfigurationError, UnkeyableError
from langgraph_prefetch.graph.near.render import (
    RenderOutput,
    k_of,
    render_of_retriever,
    render_of_tool,
    retriever_tool_parts,
)
from langgraph_prefetch.handing import sole
from langgraph_prefetch.keys import encode_arguments
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near_miss import NearMiss
from langgraph_prefetch.outbound import Destination
from langgraph_prefetch.ports import SearchTool

_PROBE = "langgraph_prefetch"


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One tool as a search: all that decides what it finds, but the query and the caller.

    Attributes:
        tool: it.
        near: what the user said of it.
        argument: the one that holds the query.
        k: how many passages it returns.
        render: what it makes of documents.
        embeddings: of queries.
        settings: the bound, and what is spent on it.
    """

    tool: SearchTool
    near: NearMiss
    argument: str
    k: int
    render: RenderOutput = field(repr=False)
    embeddings: Embeddings = field(repr=False)
    settings: NearSettings

    @property
    def name(self) -> str:
        """The tool's."""
        return self.tool.policy.name

    @property
    def destination(self) -> Destination:
        """Who reads the texts that are embedded and searched: a third party if either is one's."""
        third = "third_party" in (self.near.destination, self.tool.policy.destination)
        return "third_party" if third else "own_store"

    def query_of(self, tool: SearchTool, arguments: Mapping[str, Any]) -> str | None:
        """The query of a call, if nothing else in it differs from a search of this view; else None."""
        query = arguments.get(self.argument)
        if tool.identity != self.tool.identity or not isinstance(query, str) or not query.strip():
            return None
        usual = tool.arguments_for(query)
        try:
            same = usual is not None and encode_arguments(dict(tool.complete(arguments))) == encode_arguments(
                dict(tool.complete(usual))
            )
        except (UnkeyableError, RecursionError):
            return None
        return query if same else None


def view_of(
    tool: SearchTool, held: BaseTool | BaseRetriever, near: NearMiss, epsilon: float, *, raw: bool = False
) -> View:
    """What the near misses of a tool or retriever need.

    Raises:
        ConfigurationError: something is missing; the message says what to give.
        MissingExtraError: numpy is not installed.
    """
    import langgraph_prefetch.near._numpy  # noqa: F401 - said now, not when the first call comes

    name = tool.policy.name
    if isinstance(near.source, BaseRetriever):
        near = replace(near, source=sole(near.source))
    embeddings = near.embedder
    if embeddings is None:
        raise ConfigurationError(
            f"near misses of {name!r} need the embedder of its passages: NearMiss(embeddings=…); "
            "the source has none of its own"
        )
    arguments = tool.arguments_for(_PROBE)
    argument = next((each for each, value in (arguments or {}).items() if value == _PROBE), None)
    if argument is None:
        raise ConfigurationError(
            f"which argument of {name!r} holds the query, or what the others are, cannot be told: name them in "
            "ToolPolicy(query_argument=…, fixed_arguments=…)"
        )
    parts = retriever_tool_parts(held) if isinstance(held, BaseTool) else {"retriever": held}
    k = near.k or k_of((parts or {}).get("retriever")) or k_of(near.fixed_source)
    if k is None:
        raise ConfigurationError(f"how many passages {name!r} returns cannot be seen: give NearMiss(k=…)")
    if isinstance(held, BaseTool):
        render = render_of_tool(held, near.render, raw=raw)
    else:
        render = render_of_retriever(near.render)
    settings = NearSettings(
        epsilon=epsilon,
        confidence=near.confidence,
        n=near.n,
        anchors=near.anchors,
        audit_share=near.audit_share,
        norm_bound=near.norm_bound,
    )
    return View(tool=tool, near=near, argument=argument, k=k, render=render, embeddings=embeddings, settings=settings)
