"""Is a tool what its user says: a search of this source, rendered so? Only its own results can tell. Pure."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Literal

NEEDED = 3
MAX_KEYS = 1_024

Change = Literal["trusted", "lost", "closed"]


class Trust:
    """Counts, for each key, how often the tool returned what ``render`` makes of the source's own answer.

    Nothing is served before that was so ``NEEDED`` times in a row; one difference, and it has to be shown anew. After
    ``NEEDED`` differences without such a row between them it is given up. The least recently used keys are forgotten,
    which serves less, never more. Not safe for threads.
    """

    def __init__(self) -> None:
        self._seen: OrderedDict[Hashable, tuple[int, int]] = OrderedDict()

    def holds(self, key: Hashable) -> bool:
        """Whether enough was seen."""
        equal, _ = self._seen.get(key, (0, 0))
        return equal >= NEEDED

    def is_closed(self, key: Hashable) -> bool:
        """Whether it was given up."""
        return self._seen.get(key, (0, 0))[1] >= NEEDED

    def note(self, key: Hashable, *, equal: bool) -> Change | None:
        """One more comparison; what it changed."""
        before, differences = self._seen.pop(key, (0, 0))
        if differences >= NEEDED:
            after = (before, differences)
        elif not equal:
            after = (0, differences + 1)
        else:
            after = (before + 1, 0 if before + 1 >= NEEDED else differences)
        self._seen[key] = after
        if len(self._seen) > MAX_KEYS:
            self._seen.popitem(last=False)
        if differences < NEEDED <= after[1]:
            return "closed"
        if before < NEEDED <= after[0]:
            return "trusted"
        return "lost" if after[0] < NEEDED <= before else None
