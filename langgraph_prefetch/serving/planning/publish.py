"""Tells others how many workers a stage is to have, where its replicas are not ours to start: workers of a queue."""

from __future__ import annotations

import json
import logging
import os
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.queueing.sizing import PoolSizing

logger = logging.getLogger("langgraph_prefetch")

Publish = Callable[[str, int], None]
"""Takes a stage and the number of its workers. May raise: it is asked again the next time."""
VERSION = 1


class CountsFile:
    """Keeps the counts in a file for whatever scales the workers: ``{"version": 1, "workers": {"search": 4}}``.

    The file is replaced as a whole: who reads it never meets half of it.

    Args:
        path: of the file; its folder must be there.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._counts: dict[str, int] = {}

    def __call__(self, stage: str, replicas: int) -> None:
        """Write it.

        Raises:
            OSError: it cannot be written.
        """
        self._counts[stage] = replicas
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name, suffix=".new")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({"version": VERSION, "workers": self._counts}, file)
            os.replace(name, self.path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise


class PublishedSizing:
    """A sizing whose counts for some stages also go to ``publish``, at the start and whenever they change.

    A pool that is here and hands visits to those workers is resized with them, so that it keeps them all busy.

    Args:
        sizing: what decides, such as a `Resizer`.
        publish: told of the stages in ``stages``; it may write a file or call a service, so ask for sizes on a thread.
        stages: those whose workers run elsewhere.
        start: stage -> workers, to be published the first time.
    """

    def __init__(
        self, sizing: PoolSizing, publish: Publish, *, stages: Collection[str], start: Mapping[str, int] | None = None
    ) -> None:
        self._sizing, self._publish, self._stages = sizing, publish, frozenset(stages)
        self._waiting = {stage: count for stage, count in (start or {}).items() if stage in self._stages}

    def sizes(self, pressures: Sequence[StagePressure], now: float) -> Mapping[str, int]:
        """Pool -> replicas from now on, as the sizing says."""
        found = self._sizing.sizes(pressures, now)
        self._waiting |= {stage: count for stage, count in found.items() if stage in self._stages}
        for stage, count in list(self._waiting.items()):
            try:
                self._publish(stage, count)
            except Exception as error:  # noqa: BLE001 - whatever it is, the pools that are here go on
                logger.warning("worker counts were not published (%s); tried again later", type(error).__name__)
                break
            del self._waiting[stage]
        return found
