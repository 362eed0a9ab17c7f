"""Who the spans and metrics come from."""

from __future__ import annotations

from importlib import metadata

INSTRUMENTATION = "langgraph_prefetch"


def _version() -> str | None:
    try:
        return metadata.version("langgraph-prefetch")
    except metadata.PackageNotFoundError:
        return None


# Read now: the first sink may be made inside an event loop, where reading files would block.
VERSION = _version()
