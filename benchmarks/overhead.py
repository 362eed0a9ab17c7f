"""What a wrapped agent costs that never searches: milliseconds a model call, against the bare agent.

    python benchmarks/overhead.py [--json OUT] [--calls 200] [--tokens 200]

The agents are asked in pairs, bare first and wrapped first in turn, each time for one answer without a tool call.
Figures are medians of the differences within the pairs, with a bootstrap interval of 95 %.

- paced: both agents are streamed, and tokens come at fixed moments, 500 a second, as from a server: a client that is
  late finds the next one waiting. This is how much later the user has the answer. Limit: 1 ms a model call.
- burst: the same with all tokens at once, so that nothing is hidden behind the model's pace; async, in one thread.
- burst, sync: langgraph hands each token of a sync stream to another thread, so that this figure is about how two
  threads share the interpreter more than about work done.
- forced: both are invoked. The bare model answers in one piece, and the wrapped one is made to stream; this is the
  price of ``force_streaming``, most of it langchain-core's own for streaming.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.outputs import ChatGenerationChunk

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.demo.agent import make_agent
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch

LIMIT_MS = 1.0
TOKENS_PER_SECOND = 500
PACED_SHARE = 5
"""Of the pairs, one in so many is asked at the model's pace, since each takes most of a second."""
WARM_UP = 10
RESAMPLES = 2_000
# Nothing in it is about to search, though it speaks of searching as answers do.
TEXT = (
    "The river rises in the hills and runs north, through two lakes and a gorge, before it meets the sea. Earlier "
    "searches said as much, and the map agrees with them; where they differ, the map is the younger of the two. "
)
QUESTION = {"messages": [("user", "Where does the river run?")]}


class PacedChatModel(ScriptedChatModel):
    """Tokens come at fixed moments after the call."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        began = time.perf_counter()
        for place, chunk in enumerate(super()._stream(*args, **kwargs)):
            time.sleep(max(0.0, began + place / TOKENS_PER_SECOND - time.perf_counter()))
            yield chunk


@dataclass(frozen=True, slots=True)
class Way:
    """A way to ask: with which model, and how."""

    name: str
    model: type[ScriptedChatModel]
    ask: Callable[[Any], None]


def streamed(graph: Any) -> None:
    """To the last token."""
    for _ in graph.stream(QUESTION, stream_mode="messages"):
        pass


def streamed_async(graph: Any) -> None:
    """The same on an event loop."""

    async def to_the_end() -> None:
        async for _ in graph.astream(QUESTION, stream_mode="messages"):
            pass

    asyncio.run(to_the_end())


def invoked(graph: Any) -> None:
    """For the final state alone."""
    graph.invoke(QUESTION)


WAYS = (
    Way("paced", PacedChatModel, streamed),
    Way("burst", ScriptedChatModel, streamed_async),
    Way("burst, sync", ScriptedChatModel, streamed),
    Way("forced", ScriptedChatModel, invoked),
)


def agent(model: type[ScriptedChatModel], tokens: int) -> Any:
    """An agent whose model says ``tokens`` tokens and calls nothing."""
    pieces = (cut(TEXT) * (tokens // len(cut(TEXT)) + 1))[:tokens]
    return make_agent(model(script=lambda messages: Turn(text=pieces)), CountingSearch().tool)


def paired(bare: Callable[[], None], wrapped: Callable[[], None], calls: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each call; which of the two goes first changes with every pair."""
    times: tuple[list[float], list[float]] = ([], [])
    works = (bare, wrapped)
    for pair in range(calls + WARM_UP):
        for which in (0, 1) if pair % 2 else (1, 0):
            began = time.perf_counter()
            works[which]()
            if pair >= WARM_UP:
                times[which].append((time.perf_counter() - began) * 1_000)
    return times


def interval(values: Sequence[float]) -> tuple[float, float]:
    """The bootstrap interval of the median, 95 %."""
    generator = random.Random(0)
    medians = sorted(statistics.median(generator.choices(values, k=len(values))) for _ in range(RESAMPLES))
    return medians[int(RESAMPLES * 0.025)], medians[int(RESAMPLES * 0.975)]


def measured(way: Way, calls: int, tokens: int) -> dict[str, Any]:
    """The figures of one way to ask."""
    plain = agent(way.model, tokens)
    # "auto" turns streaming on for the scripted model alone, and the paced one is another class; it streams anyway.
    wrapped = with_prefetch(agent(way.model, tokens), tools=["search"])
    gc.collect()
    bare_ms, wrapped_ms = paired(lambda: way.ask(plain), lambda: way.ask(wrapped), calls)
    report = wrapped.prefetch.report()
    assert not report.speculations, "it was to start nothing"
    assert not report.idle_runs, "it was to hear every token"
    differences = [after - before for before, after in zip(bare_ms, wrapped_ms, strict=True)]
    low, high = interval(differences)
    median = statistics.median(differences)
    return {
        "name": way.name,
        "pairs": calls,
        "tokens": tokens,
        "bare_ms": round(statistics.median(bare_ms), 3),
        "wrapped_ms": round(statistics.median(wrapped_ms), 3),
        "difference_ms": round(median, 3),
        "low_ms": round(low, 3),
        "high_ms": round(high, 3),
        "us_per_token": round(median * 1_000 / tokens, 2),
    }


def main() -> None:
    """Print a line for each way to ask, and write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--calls", type=int, default=200, help="pairs of model calls (paced: a fifth)")
    parser.add_argument("--tokens", type=int, default=200, help="in each message of the model")
    arguments = parser.parse_args()
    results = []
    for way in WAYS:
        limited = way.name == "paced"
        calls = max(1, arguments.calls // PACED_SHARE) if limited else arguments.calls
        each = measured(way, calls, arguments.tokens)
        line = (
            f"{each['name']}: {each['difference_ms']} ms a model call of {each['tokens']} tokens ({each['low_ms']} to "
            f"{each['high_ms']}), bare {each['bare_ms']} ms, wrapped {each['wrapped_ms']} ms, {each['pairs']} pairs"
        )
        if limited:
            each |= {"limit_ms": LIMIT_MS, "held": each["difference_ms"] <= LIMIT_MS}
            line += f"; limit {LIMIT_MS:g} ms: {'held' if each['held'] else 'NOT HELD'}"
        results.append(each)
        print(line, flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
