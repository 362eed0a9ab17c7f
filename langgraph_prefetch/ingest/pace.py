"""How large requests of the embedder are and how many are under way: what is set, or what the cost model says."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from langgraph_prefetch.ingest.costs import CostModel, Load, StageCost, Timing, choose, fit, writers_for
from langgraph_prefetch.ingest.settings import IngestSettings

PROBES = (32, 128, 512)
"""The first batch is cut into requests of these sizes, so that their times tell cost per request from cost per item."""

_FIRST_BATCH, _FIRST_WORKERS = 512, 8  # the first batch, probes and all, goes out at once
_COMPUTES = 0.25
"""Above this share of processor time in a request's time, its work is done here."""
_KEPT_TIMINGS = 4_096
_WRITES_EACH = 2
"""So many batches of each writer tell what one takes."""
_WORTH = 0.95
"""One more writer has to bring the seconds per passage down to this share of what they were."""


@dataclass(slots=True)
class _Tally:
    batches: int = 0
    items: int = 0
    seconds: float = 0.0


class Pace:
    """Chooses after the probes, and again whenever twice as many requests were timed. No choice changes a row.

    Args:
        settings: what is set is kept.
        blocking: the embedder runs on threads, and may compute there.
        costs: those of an earlier run; then nothing is probed.
        cores: how many requests that compute can run at once; those of this machine if not given.

    Attributes:
        load: items per request, and requests at once.
        timings: what requests took, the first of them.
        pace: seconds per passage of the slowest other stage; 0 while that is unknown.
        writers: how many write at once.
    """

    def __init__(
        self, settings: IngestSettings, *, blocking: bool, costs: CostModel | None = None, cores: int | None = None
    ) -> None:
        self._settings = settings
        self._cores = cores or os.cpu_count() or 1
        self._probing = list(PROBES) if settings.request_items is None and costs is None else []
        self._next_choice = len(PROBES)
        self._cut = 0
        self._alone = bool(self._probing) and blocking
        self._cpu = self._seconds = 0.0
        self.timings: list[Timing] = []
        self.pace = self._others = 0.0
        self.writers = settings.writers or 1
        self._settled = settings.writers is not None
        self._wrote: defaultdict[int, _Tally] = defaultdict(_Tally)
        # One at a time tells what a request that computes here costs; with more, each would be timed waiting.
        self.load = self._within(Load(batch=_FIRST_BATCH, workers=1 if blocking else _FIRST_WORKERS))
        if costs is not None and (cost := costs.stages.get("embed")) is not None and cost.samples:
            others = [costs.per_item(name) for name in costs.stages if name != "embed"]
            self.pace = max(others, default=0.0)
            self._choose(cost)
        if costs is not None and settings.writers is None and (written := costs.loads.get("upsert")) is not None:
            self.writers = min(written.workers, settings.max_writers)

    def spans(self, rows: int) -> list[tuple[int, int]]:
        """Where a batch is cut into requests: first row, and how many."""
        spans: list[tuple[int, int]] = []
        start = 0
        while start < rows:
            size = self._probing.pop(0) if self._probing else self.load.batch
            count = min(size, self._settings.max_request_items, rows - start)
            spans.append((start, count))
            self._cut += 1
            start += count
        return spans

    def tell(self, items: int, seconds: float, cpu_seconds: float = 0.0) -> None:
        """A request succeeded."""
        self._cpu += cpu_seconds
        self._seconds += seconds
        if len(self.timings) < _KEPT_TIMINGS:
            self.timings.append(Timing(items, seconds))
        if len(self.timings) == self._next_choice:
            first = self._next_choice == len(PROBES)
            self._next_choice = max(2 * self._next_choice, self._cut if first else 0)
            # Those cut so far are small, and take as much of each other's time as large ones: it needs more of them.
            self._choose(fit(self.timings), least=_FIRST_WORKERS if first and not self._computes else 1)
        elif self._alone and not self._computes:
            self.load = self._within(Load(batch=_FIRST_BATCH, workers=_FIRST_WORKERS))
        self._alone = False

    def hear(self, stages: Mapping[str, float]) -> None:
        """What a passage takes of each other stage, with the workers it has."""
        self._others = max((seconds for name, seconds in stages.items() if name != "upsert"), default=0.0)
        # What the first, small batches take a passage says nothing of the rest: it would have requests wait.
        self.pace = max(self._others, stages.get("upsert", 0.0) if self._wrote else 0.0)

    def waits(self) -> None:
        """A batch is ready and the only writer busy: the second does not wait for what the model says of the first."""
        if not self._settled and self.writers == 1 and not self._wrote:
            self.writers = min(2, self._settings.max_writers)

    def wrote(self, items: int, seconds: float) -> None:
        """A batch was written.

        One more writer comes where the model says that it is worth it, and goes again where it was not: writers may
        wait for each other at the server. Small batches, which cost more per passage, say nothing here.
        """
        if self._settled or items < max(self._settings.batch_rows // 2, 1):
            return
        count = self.writers
        tally = self._wrote[count]
        tally.batches, tally.items, tally.seconds = tally.batches + 1, tally.items + items, tally.seconds + seconds
        if tally.batches < _WRITES_EACH * count:
            return
        each = tally.seconds / tally.items
        before = self._wrote.get(count - 1)
        if before is not None and each / count > _WORTH * before.seconds / before.items / (count - 1):
            self.writers, self._settled = count - 1, True
            return
        embed = fit(self.timings).seconds(1, self.load.batch, self.load.workers)
        if writers_for(each, max(embed, self._others), self._settings.max_writers) > count:
            self.writers = count + 1

    @property
    def _computes(self) -> bool:
        return self._cpu > _COMPUTES * self._seconds > 0

    def _choose(self, cost: StageCost, least: int = 1) -> None:
        most = self._settings.max_in_flight
        if self._computes:
            most = min(most, self._cores)  # more at once would only wait for each other
        chosen = choose(cost, pace=self.pace, max_batch=self._settings.max_request_items, max_workers=most)
        self.load = self._within(replace(chosen, workers=max(chosen.workers, least)))

    def _within(self, load: Load) -> Load:
        settings = self._settings
        workers = settings.in_flight or min(load.workers, settings.max_in_flight)
        # No more requests can be under way than the batches that may wait are cut into.
        spread = max(settings.batch_rows * (settings.queued_batches + self.writers) // workers, 1)
        batch = settings.request_items or min(load.batch, settings.max_request_items, spread)
        return Load(batch=batch, workers=workers)
