"""How fast passages get into the store, beside Dask, LangChain, LlamaIndex and Ray, on one machine in one run.

    python benchmarks/ingest.py [CORPUS.jsonl ...] [--synthetic 100000] [--delays 0 0.06] [--repeats 3] [--json OUT]
        [--arms NAME ...] [--ray] [--make] [--environments FOLDER] [--seconds 500]
        [--arm-seconds 300]

Every arm reads the same file, splits it with its own splitter, has it embedded by the same stand-in service, and writes
to an empty database of the same PostgreSQL server, which is started here. After each run its rows are compared with
the corpus, and the ten nearest passages to twenty queries with those found by comparing all.

Each rival runs in a virtual environment of its own, with the versions pinned in `benchmarks/rivals/requirements`;
`--make` builds those that are missing, and without it their arms are left out. Rows are measured in turn, forwards and
backwards. "best" is the fastest of the settings in `benchmarks/rivals/catalogue.py`, found here, on this machine.
"equal" gives all arms the same passages a request and requests in flight: what is left is mostly the writer.

With `--json OUT` each run is kept in that file as it ends, and what stands there is not measured again; `--seconds`
ends the measuring after so long, so that the same command goes on where it stopped. An arm that has not ended after
`--arm-seconds` is ended with all its processes, has a line that says so, and is not run again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.rivals import corpus
from benchmarks.rivals.arm import Settings
from benchmarks.rivals.catalogue import OURS, RIVALS
from benchmarks.rivals.environments import made
from benchmarks.rivals.running import ArmFailedError, ArmNotEndedError, Bench, measure, python_of
from benchmarks.rivals.table import tables
from langgraph_prefetch.demo.server import postgres

EQUAL = ((500, 1), (500, 4))
"""Passages a request and requests in flight."""

IN_MEMORY: Settings = {"rows": 2_000, "parts": 1, "store": "PGVector", "records": "memory"}
"""What an unchanged corpus is compared with."""

MODEL_OF = 4
"""The cost model is fitted to this part of the corpus, or to what the queues hold if that is more, and foretells the
whole."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of a table."""

    name: str
    arm: str
    settings: Settings
    purpose: str = "speed"


@dataclass(kw_only=True)
class Ledger:
    """The runs so far, in a file if there is one."""

    file: Path | None
    ends_at: float
    runs: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def at(cls, file: Path | None, seconds: float) -> Ledger:
        """With what the file holds."""
        runs = json.loads(file.read_text(encoding="utf-8")) if file is not None and file.exists() else []
        return cls(file=file, ends_at=time.monotonic() + seconds, runs=runs)

    def of(self, what: dict[str, Any]) -> list[dict[str, Any]]:
        """The runs of which all of this is true."""
        return [run for run in self.runs if all(run.get(name) == value for name, value in what.items())]

    def add(self, bench: Bench, what: dict[str, Any]) -> None:
        """Measure once more, unless the time is up."""
        if time.monotonic() > self.ends_at:
            return
        began = time.monotonic()
        try:
            result = measure(bench, what["arm"], what["settings"], what["delay"])
        except ArmNotEndedError as error:
            result = {"unended": error.seconds}
        except ArmFailedError as error:
            print(f"FAILED: {error}", file=sys.stderr)
            result = {"failed": str(error)[:500]}
        self.runs.append({**what, **result})
        if self.file is not None:
            self.file.write_text(json.dumps(self.runs, indent=1), encoding="utf-8")
        rate = f"{result['rate']:,.0f} passages/s" if "rate" in result else "failed"
        rate = f"not ended in {result['unended']:.0f} s" if "unended" in result else rate
        print(f"{what['row']:34} {rate:>20}   ({time.monotonic() - began:.0f} s)", flush=True)


def rows_of(arms: list[str], found: dict[str, Settings]) -> Iterator[Row]:
    """Every row; ``found``: the best settings of each arm."""
    for arm in arms:
        rival = RIVALS[arm]
        if arm == OURS:
            yield Row(name=OURS, arm=arm, settings={})
            yield Row(name="ours, as documents", arm=arm, settings={"documents": True})
            yield Row(name="ours, foretold", arm=arm, settings={"model_of": MODEL_OF})
        elif rival.default is not None:
            yield Row(name=f"{arm}, defaults", arm=arm, settings=rival.default)
        if arm == "langchain index":
            yield Row(name=f"{arm}, records in memory", arm=arm, settings=IN_MEMORY)
        if arm in found:
            yield Row(name=f"{arm}, best", arm=arm, settings=found[arm])
    for size, flying in EQUAL:
        for arm in arms:
            settings = RIVALS[arm].equal(size, flying)
            if settings is not None:
                yield Row(name=arm, arm=arm, settings=settings, purpose=f"equal: {size} a request, {flying} in flight")


def compare(bench: Bench, name: str, delay: float, arms: list[str], ledger: Ledger, repeats: int) -> None:
    """All rows for one corpus and one delay."""
    common = {"corpus": name, "delay": delay}
    found: dict[str, Settings] = {}
    for arm in arms:
        tried = []
        for settings in RIVALS[arm].grid:
            what = {**common, "purpose": "grid", "row": arm, "arm": arm, "settings": settings}
            if not ledger.of(what):
                ledger.add(bench, what)
            tried += [run for run in ledger.of(what) if "rate" in run]
        if tried:
            found[arm] = max(tried, key=lambda run: run["rate"])["settings"]
    rows = list(rows_of(arms, found))
    for number in range(repeats):
        for row in rows if number % 2 == 0 else reversed(rows):
            what = {**common, "purpose": row.purpose, "row": row.name, "arm": row.arm, "settings": row.settings}
            runs = ledger.of(what)
            if len(runs) <= number and not any("unended" in run for run in runs):
                ledger.add(bench, what)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="CORPUS.jsonl")
    parser.add_argument("--synthetic", type=int, help="made-up passages; 20,000 if no corpus is given")
    parser.add_argument("--delays", nargs="+", type=float, default=[0.0, 0.06], metavar="SECONDS")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--arms", nargs="+", choices=RIVALS, help="all but Ray and Dask's bag, if not given")
    parser.add_argument("--ray", action="store_true", help="Ray as well")
    parser.add_argument("--make", action="store_true", help="build the environments that are missing")
    parser.add_argument("--environments", type=Path)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--arm-seconds", type=float, default=300.0, help="an arm that takes longer is ended")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    wanted = arguments.arms or [arm for arm in RIVALS if arm not in ("ray copy", "dask bag")]
    wanted += ["ray copy"] if arguments.ray and "ray copy" not in wanted else []
    if arguments.make:
        for environment in {RIVALS[arm].environment for arm in wanted} - {OURS}:
            made(environment, arguments.environments)
    arms = [arm for arm in wanted if python_of(arm, arguments.environments).exists()]
    for arm in wanted:
        if arm not in arms:
            print(f"left out, since its environment is missing (--make builds it): {arm}")
    ledger = Ledger.at(arguments.json, arguments.seconds)
    with tempfile.TemporaryDirectory() as folder, postgres() as server:
        for name, texts in corpora(arguments.files, arguments.synthetic):
            path = Path(folder) / "corpus.jsonl"
            corpus.write(texts, path)
            with path.open(encoding="utf-8") as lines:
                passages = {row["key"]: row["text"] for row in map(json.loads, lines)}
            bench = Bench(
                server=server.url,
                corpus=path,
                texts=passages,
                environments=arguments.environments,
                seconds=arguments.arm_seconds,
            )
            for delay in arguments.delays:
                compare(bench, f"{name}: {len(passages):,} passages", delay, arms, ledger, arguments.repeats)
    print(f"\n{tables(run for run in ledger.runs if 'failed' not in run)}")


def corpora(files: list[Path], synthetic: int | None) -> Iterator[tuple[str, Iterator[str]]]:
    """The corpora by name."""
    if files:
        yield "real", corpus.real(files)
    if synthetic or not files:
        yield "made up", corpus.synthetic(synthetic or 20_000)


if __name__ == "__main__":
    main()
