"""The global top-k out of local ones. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph_prefetch.retrieval.search.results import Hit, Nearest


def merge(found: Sequence[Nearest], k: int, *, failed: Sequence[str] = ()) -> Nearest:
    """The ``k`` nearest of all, as one table with all the passages would have given them.

    Equals are ordered by id. An id that several have counts once, where it is nearest. Each of ``found`` must be the
    answer to the same question with this ``k`` or more.
    """
    best: dict[str, Hit] = {}
    for hit in (hit for each in found for hit in each.hits):
        other = best.get(hit.id)
        if other is None or hit.distance < other.distance:
            best[hit.id] = hit
    hits = tuple(sorted(best.values(), key=lambda hit: (hit.distance, hit.id))[:k])
    short = len(hits) < k
    whole = short and not failed and all(each.whole for each in found)
    return Nearest(
        hits=hits,
        exact=not failed and all(each.exact for each in found),
        whole=whole,
        possibly_short=short and not whole,
        failed=tuple(failed),
    )
