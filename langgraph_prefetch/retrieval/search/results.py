"""What a search found, and how far it can be relied on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One passage.

    Attributes:
        id: its key.
        text: what it says.
        metadata: what is known of it.
        distance: from the query, smaller is nearer: 1 - cosine of the angle, Euclidean distance, or the inner product
            with its sign turned, by the collection's metric.
    """

    id: str
    text: str
    metadata: Mapping[str, Any]
    distance: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The passages nearest to a query, nearest first, equals by their ids.

    Attributes:
        hits: the passages.
        exact: none that is missing is nearer than the last one; False where the index may have missed some.
        whole: fewer than were asked for exist (with this tenant and filter), and these are all.
        possibly_short: fewer than were asked for were found, and there may be more.
        failed: the shards that did not answer; empty but where partial answers are accepted.
    """

    hits: tuple[Hit, ...]
    exact: bool
    whole: bool
    possibly_short: bool
    failed: tuple[str, ...] = ()
