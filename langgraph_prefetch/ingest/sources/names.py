"""Names of sources, short enough for every store."""

from __future__ import annotations

from langgraph_prefetch.ingest.sources.fingerprints import fingerprint

MAX_BYTES = 2_300
"""A store keeps a name in its indexes, together with the tenant's, where there is room for 2,600 bytes."""
SURELY_SHORT = MAX_BYTES // 4
"""Characters that never take more bytes."""


def source_name(name: str) -> str:
    """The name as it is, or, of one that is too long, its beginning and a fingerprint of all of it.

    So long are addresses that hold a query or the data itself. The same name becomes the same in every run.
    """
    if len(name) <= SURELY_SHORT:
        return name
    encoded = name.encode("utf-8", "surrogatepass")
    if len(encoded) <= MAX_BYTES:
        return name
    mark = f"…{fingerprint(name).hex()}"
    return encoded[: MAX_BYTES - len(mark.encode())].decode("utf-8", "ignore") + mark
