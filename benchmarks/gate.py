"""Net value with the gate and with the best fixed threshold, on recorded runs: ``python benchmarks/gate.py FILES…``.

The best fixed threshold is chosen afterwards, for each file by itself, from every pair of P(search) and P(exact query)
in the grid (the highest starts nothing and is worth 0); the gate sees every file once, in order, and knows nothing of
it. Net value: hidden seconds - price of a call * speculations that were not served, in seconds.
"""

import argparse
import dataclasses
import itertools
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import read_recording

THRESHOLDS = (0.5, 0.7, 0.8)
MIN_PROBABILITIES = (0.12, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def net_value(file: str, settings: ReplaySettings) -> tuple[float, float]:
    """Net value in seconds, and how many speculations started."""
    measured = replay(read_recording(file), settings)
    return measured.net_value, measured.speculations


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--cost", type=float, default=0.2, help="of a call, in saved seconds (default: %(default)g)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    if not arguments.files:
        print("names no recording: nothing to measure")
        return
    base = ReplaySettings(sealed=False, cost=arguments.cost)
    gated = dataclasses.replace(base, gate=True)
    grid = [
        dataclasses.replace(base, threshold=threshold, min_probability=least)
        for threshold, least in itertools.product(THRESHOLDS, MIN_PROBABILITIES)
    ]
    print(f"net value in seconds, a call costing {arguments.cost:g} of one; in brackets the speculations started")
    missed = 0
    with ProcessPoolExecutor(arguments.processes) as pool:
        for file in arguments.files:
            settings = [gated, base, *grid]
            found = list(pool.map(net_value, itertools.repeat(file), settings))
            (gate, started), (plain, plainly) = found[:2]
            (best, fixed), at = max(zip(found[2:], grid, strict=True), key=lambda pair: pair[0])
            missed += gate < best - 1e-9 or gate < 0
            print(
                f"{Path(file).name:28} gate {gate:8.2f} ({started})   "
                f"best fixed {best:8.2f} ({fixed}; {at.threshold:g}, {at.min_probability:g})   "
                f"defaults {plain:8.2f} ({plainly})   gate - best fixed {gate - best:+.2f}",
                flush=True,
            )
    print(f"files on which the gate is below the best fixed threshold, or below zero: {missed}")


if __name__ == "__main__":
    main()
