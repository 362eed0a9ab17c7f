"""The events of runs on disk, so that a run can be drawn after the evaluation, a resumed one included."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.trials.plan import Key
from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.event_lines import of_line, to_line


class EventLog:
    """A line for each run: its key, and its events as :mod:`langgraph_prefetch.observe` writes them."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def add(self, key: Key, events: Sequence[Event]) -> None:
        """Keep a run's events.

        Raises:
            ConfigurationError: they cannot be written.
        """
        line = json.dumps({"run": list(key), "events": [to_line(each).rstrip("\n") for each in events]}) + "\n"
        try:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(line)
        except OSError as error:
            raise ConfigurationError(f"cannot write {self.path}: {error.strerror or type(error).__name__}") from error

    def events_of(self, key: Key) -> tuple[Event, ...]:
        """The events of one run; none where they were not kept, or what was kept cannot be read any more."""
        found: tuple[Event, ...] = ()
        if not self.path.exists():
            return found
        with open(self.path, encoding="utf-8") as file:
            for line in file:
                try:
                    kept = json.loads(line)
                    if kept["run"] == list(key):
                        found = tuple(of_line(each) for each in kept["events"])
                except (ValueError, KeyError, TypeError):
                    continue  # torn by whatever ended an earlier attempt; a drawing is all that is lost
        return found
