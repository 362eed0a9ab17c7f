"""What every arm of the comparison is told and tells: one process, one database, one run, one line of JSON."""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Settings = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run. ``url``: libpq's form of an empty database. ``corpus``: one ``{"key", "text"}`` a line."""

    url: str
    corpus: Path
    delay: float
    settings: Settings

    def rows(self) -> Iterator[dict[str, str]]:
        """The corpus."""
        with self.corpus.open(encoding="utf-8") as lines:
            yield from map(json.loads, lines)

    def sqlalchemy_url(self, driver: str) -> str:
        """The database in SQLAlchemy's form."""
        return self.url.replace("postgresql://", f"postgresql+{driver}://", 1)


@dataclass(frozen=True, kw_only=True)
class Done:
    """What came of it.

    Attributes:
        rows_sql: selects what was stored, as ``(key, text, vector)``.
        seconds: from the first byte of the corpus that was read to the last row that was committed.
        again: the same for the same corpus once more; None where the arm keeps no record of what it did.
        more: figures of the arm's own; ``again_at_hand``: as ``again``, for documents that were made beforehand.
    """

    rows_sql: str
    seconds: float
    again: float | None = None
    more: dict[str, Any]


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Until now."""
        return time.perf_counter() - self._began


def main(arms: dict[str, Callable[[Job], Done]]) -> None:
    """Do what the command line says, and print what came of it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("arm", choices=arms)
    parser.add_argument("--url", required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--delay", type=float, default=0.0)
    parser.add_argument("--settings", type=json.loads, default={})
    arguments = parser.parse_args()
    job = Job(url=arguments.url, corpus=arguments.corpus, delay=arguments.delay, settings=arguments.settings)
    done = arms[arguments.arm](job)
    own, children = (resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    result = {"seconds": done.seconds, "again": done.again, "rows_sql": done.rows_sql, **done.more}
    print(json.dumps({**result, "peak_megabytes": max(own, children) / 1_024}))
