"""Cost of listening: microseconds that the callback handler takes for each token of a model's stream.

    python benchmarks/handler.py [RECORDING.jsonl …] [--json OUT] [--runs 5]

A real handler of a real prefetcher hears messages as each provider streams them, without a stream's waiting and with
a search tool that answers at once. A token that starts a speculation also hands it over to the executor's thread, which
is woken through a pipe and wants the interpreter at once: that is I/O and contention, and counted apart, if it
happens in the handler. The figures of
all tokens together are printed as well. Each figure is the median of the runs.

Limit: 50 us at the 99th percentile of the tokens that start nothing.

A recording has one episode a line, ``{"question": …, "steps": [{"thought": …}, …]}``; without one, the thoughts of the
demo are heard.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

from langchain_core.messages import HumanMessage
from langchain_core.outputs import ChatGenerationChunk, LLMResult

from langgraph_prefetch import Budgets, Prefetcher
from langgraph_prefetch.demo.questions import QUESTIONS
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.events import Event, SpeculationStarted
from langgraph_prefetch.testing.models import ReasoningShape, ScriptedChatModel, Turn
from langgraph_prefetch.testing.tools import CountingSearch

LIMIT_US = 50.0
SHAPES: tuple[ReasoningShape, ...] = ("text", "additional_kwargs", "reasoning_block", "bedrock", "think_tags")
MAX_MESSAGES = 400
PAUSE_SECONDS = 0.002
"""After a token that started a speculation, as tokens come: the search has begun when the next one is heard."""

Message = tuple[str, str]


def demo_messages() -> list[Message]:
    """(question, thought) of each message of the demo's model, several times over."""
    return [
        (question.text, thought)
        for question in QUESTIONS
        for thought in (*(step.thought for step in question.steps), question.conclusion)
    ] * 5


def recorded_messages(path: Path) -> list[Message]:
    """(question, thought) of the first messages of a recording."""
    episodes = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [
        (episode.get("question") or "", step["thought"])
        for episode in episodes
        for step in episode["steps"]
        if step.get("thought")
    ][:MAX_MESSAGES]


def chunks_of(thought: str, shape: ReasoningShape) -> list[ChatGenerationChunk]:
    """A message as a provider streams it."""
    script = [Turn(reasoning=cut(thought))]
    return list(ScriptedChatModel(script=script, reasoning_as=shape)._stream([HumanMessage("?")]))


def token_times(messages: Iterable[Message], shape: ReasoningShape) -> tuple[list[float], list[float]]:
    """Microseconds of each token that started nothing, and of each that started a speculation; sorted."""
    # Without a budget for the minute, which the later runs would find used up.
    prefetch = Prefetcher(["search"], budgets=Budgets(per_process_per_minute=10**9))
    prefetch.admit(CountingSearch().tool)
    prefetch.agent_has(["search"])
    here, started, anywhere = threading.get_ident(), list[Event](), list[Event]()

    def note(event: Event) -> None:
        if isinstance(event, SpeculationStarted):
            anywhere.append(event)
            if threading.get_ident() == here:
                started.append(event)

    prefetch.subscribe(note)
    quiet, starting = [], []
    clock = time.perf_counter_ns
    for question, thought in messages:
        chunks = chunks_of(thought, shape)
        with prefetch.run():
            listener, run_id = prefetch.handler(), uuid4()
            listener.on_chat_model_start({}, [[HumanMessage(question)]], run_id=run_id)
            for chunk in chunks:
                before, token = len(started), chunk.text
                began = clock()
                listener.on_llm_new_token(token, run_id=run_id, chunk=chunk)
                took = (clock() - began) / 1_000
                if len(started) == before:
                    quiet.append(took)
                else:
                    starting.append(took)
                    time.sleep(PAUSE_SECONDS)
            listener.on_llm_end(LLMResult(generations=[]), run_id=run_id)
    assert anywhere, "the thoughts were to start something"
    return sorted(quiet), sorted(starting)


def percentile(values: list[float], share: float) -> float:
    """Of sorted values."""
    return values[min(len(values) - 1, int(len(values) * share))]


def measured(name: str, messages: list[Message], shape: ReasoningShape, runs: int) -> dict[str, Any]:
    """The figures of one source in one shape."""
    rounds = []
    for _ in range(runs):
        gc.collect()
        rounds.append(token_times(messages, shape))

    def typical(share: float, pick: Callable[[tuple[list[float], list[float]]], list[float]]) -> float | None:
        found = [percentile(pick(each), share) for each in rounds if pick(each)]
        return round(statistics.median(found), 1) if found else None

    p99 = typical(0.99, lambda each: each[0])
    return {
        "source": name,
        "shape": shape,
        "tokens": len(rounds[0][0]) + len(rounds[0][1]),
        "starting_tokens": len(rounds[0][1]),
        "median_us": typical(0.5, lambda each: each[0]),
        "p99_us": p99,
        "starting_median_us": typical(0.5, lambda each: each[1]),
        "all_median_us": typical(0.5, lambda each: sorted(each[0] + each[1])),
        "all_p99_us": typical(0.99, lambda each: sorted(each[0] + each[1])),
        "limit_us": LIMIT_US,
        "held": p99 is not None and p99 <= LIMIT_US,
    }


def main() -> None:
    """Print a line for each source and shape, and write all of them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--runs", type=int, default=5, help="runs of which the median is taken")
    arguments = parser.parse_args()
    sources = [(path.stem, recorded_messages(path)) for path in arguments.recordings]
    results = []
    for name, messages in sources or [("demo", demo_messages())]:
        for shape in SHAPES:
            each = measured(name, messages, shape, arguments.runs)
            results.append(each)
            print(
                f"{name}, {shape}, {each['tokens']} tokens: median {each['median_us']} us, p99 {each['p99_us']} us "
                f"(limit {LIMIT_US:g}: {'held' if each['held'] else 'NOT HELD'}); {each['starting_tokens']} started a "
                f"speculation in the handler, median {each['starting_median_us']} us; all: p99 {each['all_p99_us']} us",
                flush=True,
            )
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
