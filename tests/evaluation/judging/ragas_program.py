"""Run where the extra `ragas` is installed: its metrics over the scripted judge, and what came of them as JSON."""

import asyncio
import json
import math
import os
import socket
import sys
from pathlib import Path
from typing import Any

BEFORE = asyncio.run, asyncio.BaseEventLoop.run_until_complete, asyncio.Task

from langchain_openai import OpenAIEmbeddings  # noqa: E402

from langgraph_prefetch.evaluation.judging import JudgeBudget, JudgeLimits, Judging, Scored  # noqa: E402
from langgraph_prefetch.evaluation.judging.ragas_metrics import METRICS, RagasMetric, score_ragas  # noqa: E402
from langgraph_prefetch.evaluation.judging.ragas_metrics import ascore_ragas as awaited  # noqa: E402
from langgraph_prefetch.evaluation.reporting.values import Table  # noqa: E402
from langgraph_prefetch.suites import quality  # noqa: E402
from langgraph_prefetch.testing.judge import Behaviour, JudgeServer, Malformed, Waiting  # noqa: E402
from tests.evaluation.judging.served import bridge, judge  # noqa: E402
from tests.offline import is_local  # noqa: E402
from tests.suites.quality_rows import context, rows  # noqa: E402

LONG = "Bridge 2 is 200 metres long."
SAMPLES = [
    bridge(1),
    bridge(2, answer=f"{LONG} It was painted by elephants.", contexts=(LONG, "Cheese.")),
    bridge(3, answer="I don't know."),
    bridge(4, answer=""),
    bridge(
        5,
        question="험버교의 주경간은 얼마인가요?",
        answer="험버교의 주경간은 1410미터이다.",
        reference="험버교의 주경간은 1410미터이다.",
        contexts=("험버교의 주경간은 1410미터로 길다.",),
        language="ko",
    ),
    bridge(6, reference=None),
    bridge(7, contexts=()),
]


def shown(verdict: Any) -> Any:
    return round(verdict.score, 3) if isinstance(verdict, Scored) else verdict.reason.value


def embeddings(server: JudgeServer) -> OpenAIEmbeddings:
    return OpenAIEmbeddings(
        model="e", openai_api_base=f"{server.url}/v1", openai_api_key="x", check_embedding_ctx_length=False
    )


def metric_scores() -> dict[str, Any]:
    """Every metric, once called and once awaited: two loops in one process."""
    found: dict[str, Any] = {}
    with JudgeServer(keep_alive=True) as server:
        for metric in METRICS:
            called = score_ragas(Judging([judge(server)]), SAMPLES, metric, embeddings=embeddings(server))
            again = asyncio.run(awaited(Judging([judge(server)]), SAMPLES, metric, embeddings=embeddings(server)))
            found[metric] = [shown(each.verdict) for each in called.judged]
            assert [shown(each.verdict) for each in again.judged] == found[metric]
            assert called.mean is not None
            assert math.isfinite(called.mean)
        found["failures"] = [repr(error) for error in server.failures]
    return found


def gone_wrong() -> dict[str, Any]:
    """Judges whose replies ragas would have made a score of, or waited for."""
    found: dict[str, Any] = {}
    judges: dict[str, Behaviour] = {"range": Malformed("out of range"), "cut": Malformed("cut"), "silent": Waiting()}
    for name, behaviour in judges.items():
        with JudgeServer(behaviour) as server:
            limits = JudgeLimits(timeout_seconds=30.0 if name != "silent" else 1.0, give_up_after=2, max_concurrency=1)
            panel = Judging([judge(server)], limits=limits)
            sheet = score_ragas(panel, SAMPLES, "context_precision")
            found[name] = [shown(each.verdict) for each in sheet.judged]
    return found


def bounded(path: str) -> dict[str, Any]:
    """A budget, and going on after it over the same file."""
    with JudgeServer() as server:
        many = [bridge(number) for number in range(1, 41)]
        first = Judging([judge(server)], limits=JudgeLimits(budget=JudgeBudget(calls=20)), verdicts=path)
        part = score_ragas(first, many, "faithfulness")
        asked = len(server.requests)
        whole = score_ragas(Judging([judge(server)], verdicts=path), many, "faithfulness")
        return {
            "asked": asked,
            "part": part.coverage.scored,
            "whole": whole.coverage.scored,
            "asked in all": len(server.requests),
        }


def suite(folder: Path) -> dict[str, Any]:
    """The suite `quality` with all four metrics."""
    given = context(folder, rows(8), ragas=list(METRICS), limits={"non_inferior": False})
    report = asyncio.run(quality.run(given))
    (scores, *_) = next(section for section in report.sections if section.title == "Scores").blocks
    assert isinstance(scores, Table)
    return {"failures": report.failures, "metrics": [name for name, *_ in scores.rows]}


def forbid_other_machines() -> None:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_local(address[0]):
            raise AssertionError(f"reached for {address}")
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign,assignment]


def under_uvloop() -> list[Any]:
    import uvloop

    async def measure(metric: RagasMetric) -> list[Any]:
        with JudgeServer() as server:
            sheet = await awaited(Judging([judge(server)]), SAMPLES[:2], metric)
            return [shown(each.verdict) for each in sheet.judged]

    return uvloop.run(measure("faithfulness"))


if __name__ == "__main__":
    forbid_other_machines()
    from ragas._analytics import do_not_track

    result = {
        "scores": metric_scores(),
        "gone wrong": gone_wrong(),
        "bounded": bounded(f"{sys.argv[1]}/verdicts.jsonl"),
        "suite": suite(Path(sys.argv[1]) / "suite"),
        "uvloop": under_uvloop(),
        "tracked": not do_not_track(),
        "said": os.environ["RAGAS_DO_NOT_TRACK"],
        "patched": (asyncio.run, asyncio.BaseEventLoop.run_until_complete, asyncio.Task) != BEFORE,
    }
    print(json.dumps(result, ensure_ascii=False))
