"""One process of the study's run: some trials of an agent whose searches go to workers.

    python -m benchmarks.aws.study_batch PLAN.json

Each batch has a process of its own, whose memory is empty: what a warm run finds, it finds in the table.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from langchain_core.messages.tool import ToolCall

from benchmarks.aws.searching import study_script, study_tool
from langgraph_prefetch import with_prefetch
from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.demo.agent import make_agent, script_of
from langgraph_prefetch.evaluation.trials import SCOPE, Agent, Arm, RowFile, RunSettings, Trial, run_trials
from langgraph_prefetch.evaluation.trials.recording import passages_of
from langgraph_prefetch.testing.models import ScriptedChatModel

BARE, WRAPPED, MISSED, SERIES = "bare", "wrapped", "missed", "series"
FIRST_TOKEN_SECONDS = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one process does.

    Attributes:
        queue: where workers take from. ``idle_queue``: one that nobody reads.
        table: of results.
        run_id: in every scope, so that processes of one run find each other's results.
        per_kind: only so many questions of each kind and language; None: all.
        latency_seconds: added to every search.
        tokens_per_second: of the model.
        trials: in order.
        concurrency: runs at once.
        rows, reads: files to write.
    """

    queue: str
    idle_queue: str
    table: str
    run_id: str
    per_kind: int | None
    latency_seconds: float
    tokens_per_second: float
    trials: tuple[Trial, ...]
    concurrency: int
    rows: Path
    reads: Path

    def write(self, path: Path) -> None:
        """For the process."""
        path.write_text(json.dumps(asdict(self), default=str), encoding="utf-8")

    @classmethod
    def read(cls, path: Path) -> Plan:
        """In the process."""
        found = json.loads(path.read_text(encoding="utf-8"))
        trials = tuple(Trial(**each) for each in found.pop("trials"))
        return cls(trials=trials, rows=Path(found.pop("rows")), reads=Path(found.pop("reads")), **found)


class Reads:
    """Times every consistent batch read of a client, on the wire."""

    def __init__(self, client: Any) -> None:
        self.seconds: list[float] = []
        client.meta.events.register("before-call.dynamodb.BatchGetItem", self._begins)
        client.meta.events.register("after-call.dynamodb.BatchGetItem", self._ends)

    def _begins(self, context: dict[str, Any], **_: Any) -> None:
        context["benchmark_began"] = time.perf_counter()

    def _ends(self, context: dict[str, Any], **_: Any) -> None:
        self.seconds.append(time.perf_counter() - context["benchmark_began"])


async def run(plan: Plan) -> None:
    """Make the runs."""
    script = study_script(plan.per_kind)
    model = ScriptedChatModel(
        script=script_of(script.script),
        seconds_to_first_token=min(FIRST_TOKEN_SECONDS, 12 / plan.tokens_per_second),
        seconds_per_token=1 / plan.tokens_per_second,
        argument_pieces=8,
    )
    tool, at_once = study_tool(script, plan.latency_seconds), study_tool(script, 0.0)
    graph = make_agent(model, tool)
    cache = DynamoDBCache(plan.table)
    reads = Reads(cache.connection.client)

    def scope(configurable: Mapping[str, Any]) -> str | None:
        return f"{plan.run_id}/{configurable[SCOPE]}" if SCOPE in configurable else None

    def wrapped(queue: str) -> Agent:
        agent = with_prefetch(
            graph,
            tools=[tool.name],
            executor=SQSExecutor(queue),
            cache=cache,
            scope=scope,
            ignore_configurable=(SCOPE, "thread_id"),
            reuse_seconds=86_400.0,
        )
        return Agent(agent, agent.prefetch.subscribe)

    async def check(call: ToolCall) -> tuple[str, ...]:
        return passages_of(await at_once.ainvoke(call))

    made = {
        BARE: lambda: Agent(graph),
        WRAPPED: lambda: wrapped(plan.queue),
        SERIES: lambda: wrapped(plan.queue),
        MISSED: lambda: wrapped(plan.idle_queue),
    }
    await run_trials(
        plan.trials,
        {question.id: question for question in script.questions},
        {name: Arm(name=name, make=make) for name, make in made.items()},
        RowFile(plan.rows),
        RunSettings(suite="aws", tools=(tool.name,), concurrency=plan.concurrency, warm_up=True),
        check=check,
    )
    plan.reads.write_text(json.dumps(reads.seconds), encoding="utf-8")
    cache.close()


if __name__ == "__main__":
    asyncio.run(run(Plan.read(Path(sys.argv[1]))))
