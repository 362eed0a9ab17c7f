"""Question in, context out, end to end: plain LangChain, plain LangGraph and LangGraph prefetched, on the same store.

    python benchmarks/rag.py [CORPUS.jsonl ...] [--passages 18000] [--questions 16] [--workers 1 2 4 8]
        [--kinds vector hybrid]
        [--delay 0.06] [--tokens-per-second 50] [--rounds 2] [--json OUT]

A scripted model says at a steady rate which two searches a question needs, and asks for them; they run side by side and
what they find becomes one context within a token budget. Each search embeds its query (`--delay` seconds, as a hosted
model takes) and searches PostgreSQL; every question is another one, so that nothing comes from a cache of ours. The
three ways take turns, their contexts are compared, and the model's tokens per second stand beside each, since no way
may win by a faster model.

Each row is printed, and kept in OUT, as soon as it is measured.

The figures of the operator paper (AAFLOW, arXiv:2605.02162) stand at the end, as context and never as a gate: they
compare another system, on other machines, with rivals that its own code slows down.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, get_args

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.rivals import corpus
from benchmarks.rivals.rag_arms import Answer, Delayed, Kind, Stages, Ways
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.ingest import ingest_sync
from langgraph_prefetch.report import Report
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.embedders.hashing import HashingEmbeddings

PUBLISHED = ("1.88×", "4.64×", "24.12×", "1.28×", "embedding 2.8×", "57.1 %", "93.8 %")
WARM_UP = "Are you there?"
DIMENSIONS = 384
QUERY_WORDS = 5


@dataclass(frozen=True, kw_only=True)
class Figures:
    """One way with so many questions at once; seconds a question."""

    kind: str
    workers: int
    way: str
    seconds: tuple[float, ...]
    wall: float
    tokens_per_second: float
    stages: dict[str, float]

    @property
    def p50(self) -> float:
        """The median."""
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        """The 95th percentile."""
        return statistics.quantiles(self.seconds, n=20)[-1]

    @property
    def iqr(self) -> float:
        """From the first quartile to the third."""
        first, _, third = statistics.quantiles(self.seconds, n=4)
        return third - first


def questions_from(texts: Sequence[str], count: int) -> dict[str, tuple[str, str]]:
    """Questions, and the two searches each needs: the first plain words of two passages."""
    step = max(1, len(texts) // (2 * count))
    words = [[word for word in text.split() if word.isalpha()][:QUERY_WORDS] for text in texts[::step]]
    queries = list(dict.fromkeys(" ".join(each) for each in words if len(each) == QUERY_WORDS))
    pairs = zip(queries[::2], queries[1::2], strict=False)
    return {f"Question {number}?": pair for number, pair in enumerate(islice(pairs, count))}


async def ask(answer: Answer, questions: Sequence[str], workers: int) -> tuple[list[float], list[str], float]:
    """Seconds and context of each question, ``workers`` of them at once, and the seconds of all together."""
    waiting, seconds, contexts = list(enumerate(questions)), [0.0] * len(questions), [""] * len(questions)

    async def work() -> None:
        while waiting:
            place, question = waiting.pop(0)
            began = time.perf_counter()
            contexts[place] = await answer(question)
            seconds[place] = time.perf_counter() - began

    began = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(workers)))
    return seconds, contexts, time.perf_counter() - began


async def measure(
    store: PgVectorStore, kind: Kind, workers: int, questions: dict[str, tuple[str, str]], arguments: argparse.Namespace
) -> tuple[list[Figures], Report]:
    """The three ways in turns; their contexts must be equal."""
    ways = Ways(store, kind, {**questions, WARM_UP: ("warm up", "get ready")}, arguments.tokens_per_second)
    embedder = store.embeddings
    assert isinstance(embedder, Delayed)
    for answer in ways.answers.values():  # what is loaded and connected at first use
        await answer(WARM_UP)
    ways.forget()
    seconds: dict[str, list[float]] = {name: [] for name in ways.answers}
    walls = dict.fromkeys(ways.answers, 0.0)
    for number in range(arguments.rounds):
        names = list(ways.answers)[:: 1 if number % 2 == 0 else -1]
        contexts = {}
        for name in names:
            embedder.stages = ways.stages[name]
            took, contexts[name], wall = await ask(ways.answers[name], list(questions), workers)
            seconds[name] += took
            walls[name] += wall
        if len({tuple(each) for each in contexts.values()}) != 1 or not all(contexts["langchain"]):
            raise SystemExit("the three ways gave different contexts")
    figures = [
        Figures(
            kind=kind,
            workers=workers,
            way=name,
            seconds=tuple(seconds[name]),
            wall=walls[name],
            tokens_per_second=_rate(stages),
            stages={stage: stages.median(stage) for stage in ("think", "embed", "search", "reduce")},
        )
        for name, stages in ways.stages.items()
    ]
    return figures, ways.report()


def _rate(stages: Stages) -> float:
    return stages.tokens / sum(stages.seconds["think"])


def told(report: Report) -> str:
    """What prefetch did, in a line."""
    return (
        f"{report.served} of {report.search_calls} searches served early ({report.served_reasoning} from reasoning, "
        f"{report.served_sealed} from sealed calls, {report.late} still running), "
        f"{report.hidden_seconds / report.search_calls:.3f} s of each hidden"
    )


def table(figures: Sequence[Figures]) -> str:
    """A line for each."""
    head = "{:8}{:>8}  {:12}{:>8}{:>8}{:>8}{:>9}{:>10}{:>9}{:>8}{:>8}{:>8}{:>8}"
    lines = [
        head.format(
            *("search", "at once", "way", "p50 s", "p95 s", "IQR s", "to p50", "questions"),
            *("tokens", "think", "embed", "search", "reduce"),
        ),
        head.format("", "", "", "", "", "", "", "a second", "a second", "s", "s", "s", "ms"),
    ]
    best = {(each.kind, each.workers): each.p50 for each in figures if each.way == "prefetched"}
    for each in figures:
        stages = each.stages
        lines.append(
            head.format(
                *(each.kind, each.workers, each.way, f"{each.p50:.3f}", f"{each.p95:.3f}", f"{each.iqr:.3f}"),
                f"{each.p50 / best[each.kind, each.workers]:.2f}×",
                f"{len(each.seconds) / each.wall:.2f}",
                f"{each.tokens_per_second:.1f}",
                *(f"{stages[name]:.3f}" for name in ("think", "embed", "search")),
                f"{stages['reduce'] * 1_000:.2f}",
            )
        )
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, metavar="CORPUS.jsonl")
    parser.add_argument("--passages", type=int, default=18_000)
    parser.add_argument("--questions", type=int, default=16)
    parser.add_argument("--kinds", nargs="+", choices=get_args(Kind), default=list(get_args(Kind)))
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 2, 4, 8])
    parser.add_argument("--delay", type=float, default=0.06)
    parser.add_argument("--tokens-per-second", type=float, default=50.0)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    whole = corpus.real(arguments.files) if arguments.files else corpus.synthetic(arguments.passages)
    texts = list(islice(whole, arguments.passages))
    questions = questions_from(texts, arguments.questions)
    found: list[Figures] = []
    with postgres() as server:
        embedder = Delayed(HashingEmbeddings(DIMENSIONS), arguments.delay, Stages())
        store = PgVectorStore(embedder, url=server.url, collection="rag", dimensions=DIMENSIONS, text_search="english")
        with store:
            ingest_sync(_batches(texts), None, HashingEmbeddings(DIMENSIONS), store)
            store.create_index()
            for kind in arguments.kinds:
                for workers in arguments.workers:
                    figures, report = asyncio.run(measure(store, kind, workers, questions, arguments))
                    found += figures
                    print(f"{kind}, {workers} at once: {told(report)}\n{table(figures)}\n", flush=True)
                    if arguments.json is not None:
                        arguments.json.write_text(in_json(found), encoding="utf-8")
    print(f"\n{len(texts):,} passages, {arguments.delay * 1_000:.0f} ms to embed a query\n\n{table(found)}")
    print(f"\nAAFLOW (arXiv:2605.02162) publishes {', '.join(PUBLISHED)}. Context, not a gate.")


def in_json(figures: Sequence[Figures]) -> str:
    """The figures so far, as they are kept."""
    rows = [{**vars(each), "p50": each.p50, "p95": each.p95, "iqr": each.iqr} for each in figures]
    return json.dumps(rows, indent=1)


def _batches(texts: Sequence[str]) -> Any:
    """The passages as one Arrow table, split already."""
    import pyarrow as pa

    keys = [f"p{number:07}" for number in range(len(texts))]
    return pa.table({"source": keys, "text": list(texts), "metadata": ["{}"] * len(texts)})


if __name__ == "__main__":
    main()
