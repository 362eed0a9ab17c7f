"""What a timeline costs: the size of a page, the time to make it, and the time until a browser has opened it.

    python benchmarks/timeline.py [--steps 10 1000] [--runs 5] [--json OUT]

A page of 1,000 model calls must open within 1 s and be at most 2 MB. Opening is measured by the browser itself, from
the start of navigation to the end of the load event, with the drawing done; each figure is the median of the runs.
Without Chromium, or without playwright, opening is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from langgraph_prefetch.observe.timeline import timeline_page  # noqa: E402
from tests.observe.timeline.samples import run_events  # noqa: E402

MOST_SECONDS, MOST_BYTES = 1.0, 2_000_000
Open = Callable[[Path], float]


@contextmanager
def browser() -> Iterator[Open | None]:
    """A function that opens a page and returns the seconds until it stood; None where there is no browser."""
    path = shutil.which("chromium")
    if path is None or importlib.util.find_spec("playwright") is None:
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]
        chromium = playwright.chromium.launch(executable_path=path, args=arguments)

        def open_(page_file: Path) -> float:
            page = chromium.new_page(viewport={"width": 1280, "height": 800})
            page.goto(page_file.as_uri())
            milliseconds = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
            page.close()
            return float(milliseconds) / 1_000

        yield open_
        chromium.close()


def measure(steps: int, runs: int, open_: Open | None) -> dict[str, float | None]:
    events = run_events(steps=steps, query="how long is the main span of the bridge")
    making, opening = [], []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "page.html")
        for _ in range(runs):
            began = time.perf_counter()
            page = timeline_page(events)
            making.append(time.perf_counter() - began)
            file.write_text(page, encoding="utf-8")
            if open_ is not None:
                opening.append(open_(file))
        size = file.stat().st_size
    return {
        "steps": steps,
        "events": len(events),
        "bytes": size,
        "making_seconds": statistics.median(making),
        "opening_seconds": statistics.median(opening) if opening else None,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 1_000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with browser() as open_:
        rows = [measure(steps, arguments.runs, open_) for steps in arguments.steps]
    print(f"{'steps':>7} {'events':>7} {'page':>9} {'made in':>9} {'opens in':>9}")
    for row in rows:
        opens = "no browser" if row["opening_seconds"] is None else f"{row['opening_seconds']:.3f} s"
        print(f"{row['steps']:>7} {row['events']:>7} {row['bytes']:>9,} {row['making_seconds']:>7.3f} s {opens:>9}")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")
    late = [row for row in rows if (row["opening_seconds"] or 0) > MOST_SECONDS or (row["bytes"] or 0) > MOST_BYTES]
    for row in late:
        print(f"over the limit of {MOST_SECONDS:g} s or {MOST_BYTES:,} bytes: {row['steps']} steps", file=sys.stderr)
    return bool(late)


if __name__ == "__main__":
    sys.exit(main())
