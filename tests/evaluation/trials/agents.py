"""Agents that answer at once: what the runner needs of one, and no more."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage

from langgraph_prefetch.evaluation.trials import SCOPE, Agent, Arm, Question


class Quick:
    """Searches once and answers; remembers what it was asked, and in which scope."""

    def __init__(
        self, fails: Callable[[int], Exception | None] = lambda number: None, found: str = "a passage"
    ) -> None:
        self.fails, self.found = fails, found
        self.asked: list[tuple[str, str]] = []

    async def astream(self, given: Any, config: Any, **_: Any) -> AsyncIterator[tuple[str, Any]]:
        question: BaseMessage = given["messages"][0]
        self.asked.append((str(question.text), config["configurable"][SCOPE]))
        error = self.fails(len(self.asked))
        if error is not None:
            raise error
        call = {"name": "search", "args": {"query": str(question.text)}, "id": "call-1", "type": "tool_call"}
        answer = AIMessage("the answer", id="last")
        yield "messages", (AIMessageChunk(content="the answer", id="last"), {})
        yield (
            "values",
            {
                "messages": [
                    question,
                    AIMessage("", tool_calls=[cast("Any", call)]),
                    ToolMessage(self.found, tool_call_id="call-1"),
                    answer,
                ]
            },
        )


def arm(name: str, agent: Any, *, keeps: bool = False, embedder: str | None = None) -> Arm:
    return Arm(name=name, make=lambda: Agent(agent), keeps=keeps, embedder=embedder)


def questions(count: int) -> dict[str, Question]:
    return {f"q{number}": Question(id=f"q{number}", text=f"question {number}") for number in range(count)}


def ids(found: Sequence[Any]) -> list[str]:
    return [each.question_id for each in found]
