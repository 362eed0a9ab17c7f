"""Searches on workers through SQS and DynamoDB, everything on this machine: servers, workers, agents.

    python benchmarks/aws_local.py [--only study throughput kills outage memory] [--short] [--json OUT]

Queue and table are `ministack`, a server each, over HTTP on loopback; it is installed into an environment of its own
below `.tools`. The study's agents search an embedded PostgreSQL. Nothing leaves the machine, and every part is bounded
in count and time. Linux alone: processor time and memory are read from `/proc`.

- study (about 12 minutes): the study's run with worker processes, as `benchmarks/aws/study.py` says.
- throughput (1 minute): searches that take no time, as fast as two workers answer them, then 500 a second offered and
  more while they keep up; and the processor time that a search takes each process.
- kills (2 minutes): a worker is killed (-9) every ten seconds, and a new one started.
- outage (4 minutes): the queue's and the table's server are stopped for a minute each, while agents work.
- memory (5 minutes): 50,000 messages.

Exit code 1 where a limit is not held.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.aws.kills import KillSettings, kills
from benchmarks.aws.kills import short as short_kills
from benchmarks.aws.memory import MemorySettings, memory
from benchmarks.aws.memory import short as short_memory
from benchmarks.aws.outage import OutageSettings, outage
from benchmarks.aws.outage import short as short_outage
from benchmarks.aws.study import StudySettings, study
from benchmarks.aws.study import short as short_study
from benchmarks.aws.tables import Part
from benchmarks.aws.throughput import ThroughputSettings, throughput
from benchmarks.aws.throughput import short as short_throughput


def parts(*, short: bool) -> dict[str, Callable[[], Part]]:
    """All parts by name."""
    return {
        "study": partial(study, short_study() if short else StudySettings()),
        "throughput": partial(throughput, short_throughput() if short else ThroughputSettings()),
        "kills": partial(kills, short_kills() if short else KillSettings()),
        "outage": partial(outage, short_outage() if short else OutageSettings()),
        "memory": partial(memory, short_memory() if short else MemorySettings()),
    }


def main() -> int:
    """Print the tables, and write them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(parts(short=True)), help="these parts (default: all)")
    parser.add_argument("--short", action="store_true", help="everything once and small; the figures mean nothing")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    found = {}
    for name, run in parts(short=arguments.short).items():
        if arguments.only is None or name in arguments.only:
            found[name] = run()
            print(found[name].text(), flush=True)
    if arguments.json:
        figures = {name: part.as_json() for name, part in found.items()}
        arguments.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if arguments.short else int(not all(part.held for part in found.values()))


if __name__ == "__main__":
    sys.exit(main())
