"""Cost of reading intent: microseconds a token, and whether ten times the text costs ten times as much.

    python benchmarks/detector.py [RECORDING.jsonl …] [--json OUT] [--runs 5]

A recording has one episode a line, ``{"question": …, "steps": [{"thought": …}, …]}``; without one, a synthetic
thought is read. Tokens are words with the space before them, and punctuation. Each figure is the median of the runs.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import time
from pathlib import Path

from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.values import TextDelta

_TOKEN = re.compile(r" ?\w+| ?[^\w\s]+|\s+")
_SYNTHETIC = (
    "The river runs north, but the question is about its source, so the map alone is not enough. "
    "I need to search for Lake Baikal and find out which rivers leave it, then compare their lengths. "
)
# Read to the end at any length: a message with guesses is read more cheaply once its budget is used up.
_ENDLESS = "The river runs north, and so I do not need to search for Lake Baikal; the map, read again, will do. "
Messages = list[tuple[str, list[str]]]


def messages_of(path: Path) -> Messages:
    """(question, tokens of one model message) of each step of a recording."""
    episodes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        (episode.get("question") or "", _TOKEN.findall(step.get("thought") or ""))
        for episode in episodes
        for step in episode["steps"]
    ]


def token_times(messages: Messages) -> list[float]:
    """Microseconds that each token took."""
    times: list[float] = []
    clock = time.perf_counter_ns
    for question, tokens in messages:
        reader = IntentReader(IntentSettings(), IntentContext(question=question))
        for token in tokens:
            delta = TextDelta(token)
            started = clock()
            reader.feed(delta)
            times.append((clock() - started) / 1_000)
        reader.finish()
    return times


def seconds(size: int) -> float:
    """Time to read a thought of ``size`` characters, one a token."""
    deltas = [TextDelta(character) for character in (_ENDLESS * (size // len(_ENDLESS) + 1))[:size]]
    reader = IntentReader(IntentSettings(), IntentContext())
    started = time.perf_counter()
    for delta in deltas:
        reader.feed(delta)
    reader.finish()
    return time.perf_counter() - started


def measured(name: str, messages: Messages, runs: int) -> dict[str, float | str]:
    """The figures of one source."""
    rounds = [sorted(token_times(messages)) for _ in range(runs)]
    ratios = [seconds(100_000) / seconds(10_000) for _ in range(runs)]
    return {
        "source": name,
        "tokens": len(rounds[0]),
        "median_us": round(statistics.median(times[len(times) // 2] for times in rounds), 2),
        "mean_us": round(statistics.median(statistics.fmean(times) for times in rounds), 2),
        "p99_us": round(statistics.median(times[int(len(times) * 0.99)] for times in rounds), 2),
        "ratio_100k_to_10k": round(statistics.median(ratios), 2),
    }


def main() -> None:
    """Print a line for each source, and write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median is taken")
    arguments = parser.parse_args()
    sources = [(path.stem, messages_of(path)) for path in arguments.recordings]
    results = []
    for name, messages in sources or [("synthetic", [("", _TOKEN.findall(_SYNTHETIC * 50))])]:
        results.append(measured(name, messages, arguments.runs))
        print("  ".join(f"{key} {value}" for key, value in results[-1].items()), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
