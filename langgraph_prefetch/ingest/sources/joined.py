"""Several sources as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from langgraph_prefetch.ingest.sources.shapes import Part, Skipped, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedSource:
    """The parts of several sources, one source after the other; a part that was given before is left out.

    Attributes:
        sources: at least one.
    """

    sources: tuple[Source, ...]

    def parts(self) -> Iterator[Part | Skipped]:
        """All of them."""
        seen = set()
        for source in self.sources:
            for part in source.parts():
                if isinstance(part, Skipped) or part.fingerprint is None:
                    yield part
                elif part.source not in seen:
                    seen.add(part.source)
                    yield part
