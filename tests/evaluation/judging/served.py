"""Judges behind the scripted server, and samples for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from langchain_openai import ChatOpenAI

from langgraph_prefetch.evaluation.judging import Judge, JudgeLimits, JudgePrice, Judging, Sample
from langgraph_prefetch.testing.judge import Behaviour, JudgeServer, sensible


def chat_model(server: JudgeServer, **options: Any) -> ChatOpenAI:
    return ChatOpenAI(model="scripted", base_url=f"{server.url}/v1", api_key="none", **{"max_retries": 0, **options})


def judge(server: JudgeServer, name: str = "scripted", price: JudgePrice | None = None) -> Judge:
    return Judge(name=name, model=chat_model(server), price=price)


@contextmanager
def judging(behaviour: Behaviour = sensible, **limits: Any) -> Iterator[tuple[Judging, JudgeServer]]:
    """A panel of one scripted judge, and its server."""
    with JudgeServer(behaviour) as server:
        yield Judging([judge(server)], limits=JudgeLimits(**{"timeout_seconds": 30.0, **limits})), server


def bridge(number: int, *, arm: str = "bare", **parts: Any) -> Sample:
    """A good answer, supported by its context."""
    given: dict[str, Any] = {
        "question": f"How long is bridge {number}?",
        "answer": f"Bridge {number} is {number}00 metres long.",
        "reference": f"{number}00 metres",
        "contexts": (f"Bridge {number} is {number}00 metres long and quite old.",),
        "language": "en",
        "kind": "fact",
    }
    return Sample(question_id=f"q{number}", arm=arm, **given | parts)


def bridges(count: int, **parts: Any) -> list[Sample]:
    return [bridge(number, **parts) for number in range(1, count + 1)]


NONSENSE = "The moon is made of green cheese."
