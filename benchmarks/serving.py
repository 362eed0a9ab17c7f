"""Agents whose steps run on different resources, under load: what is decided live, played live and simulated.

    python benchmarks/serving.py [--only deadlines,plan,gateway,warmup,paths,granularity] [--short] [--json OUT]
                                 [--report FOLDER]

Each part prints tables, with the published figure beside ours and why they differ, and what was promised and kept:

- deadlines (15 minutes): queue policies by deadlines missed, in simulation and on asyncio; what the controller costs.
- plan (6 minutes): replicas by network flow beside an equal split and copies of the whole pipeline.
- gateway: a component killed, bursts, spilling, costs.
- warmup: the first request of three real processes.
- paths (9 minutes): two paths to large blobs and KV caches.
- granularity: tokens read at once, and chunks between stages, under load.

Exit code 1 where a promise is not kept. Everything stays on this machine.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.serving_parts.part import Part

PARTS = ("deadlines", "plan", "gateway", "warmup", "paths", "granularity")


def main() -> int:
    """Run the parts, print, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PARTS", help="comma between them (default: all)")
    parser.add_argument("--short", action="store_true", help="a look in a minute or two; its figures scatter")
    parser.add_argument("--seed", type=int, default=1, help="of all that is drawn (default: %(default)d)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures there")
    parser.add_argument(
        "--report", type=Path, metavar="FOLDER", help="write tables and plots there; needs the extra eval"
    )
    given = parser.parse_args()
    names = given.only.split(",") if given.only else PARTS
    for name in names:
        if name not in PARTS:
            parser.error(f"no part {name!r}: {', '.join(PARTS)}")
    done: list[Part] = []
    for name in names:
        part: Part = importlib.import_module(f"benchmarks.serving_parts.{name}").run(short=given.short, seed=given.seed)
        print(part.text(), end="\n\n", flush=True)
        done.append(part)
        if given.json:
            given.json.write_text(json.dumps({each.name: each.as_json() for each in done}, indent=2))
    if given.report:
        from benchmarks.serving_parts import report  # only who wants a report waits for what draws its plots

        report.write(done, given.report, short=given.short, seed=given.seed)
    return int(any(not check.kept for part in done for check in part.checks))


if __name__ == "__main__":
    sys.exit(main())
