"""Which message a tool run belongs to, where no id says it."""

from typing import Any

from langgraph_prefetch.evaluation.importers.assembling import ModelCall, ToolRun, assembled
from langgraph_prefetch.evaluation.importers.messages import message_of


def model(order: int, *queries: str, text: str = "Look.", **fields: Any) -> ModelCall:
    calls = [{"name": "search", "args": {"query": query}, "id": None} for query in queries]
    message = message_of({"type": "ai", "content": text, "tool_calls": calls})
    return ModelCall(order=order, question="?", message=message, **fields)


def tool(order: int, query: str, result: str, **fields: Any) -> ToolRun:
    return ToolRun(order=order, name="search", arguments={"query": query}, result=result, **fields)


def test_a_run_without_an_id_is_of_the_latest_equal_call_before_it() -> None:
    """The same search asked twice: each has its own result, also where two of a message are equal."""
    run = assembled(
        [model(1, "x"), model(3, "x", "x")], [tool(2, "x", "first"), tool(4, "x", "second"), tool(5, "x", "third")]
    )
    assert run is not None
    assert [[call.result for call in step.calls] for step in run.steps] == [["first"], ["second", "third"]]


def test_a_run_that_no_message_asked_for_is_of_the_message_before_it() -> None:
    """An agent that writes its actions as text: the tool run is the call."""
    run = assembled([model(1, text="Action: search[x]"), model(3)], [tool(2, "x", "found", began=5.0, ended=6.0)])
    assert run is not None
    (call,) = run.steps[0].calls
    assert (call.name, dict(call.arguments), call.result, call.seconds) == ("search", {"query": "x"}, "found", 1.0)
    assert run.steps[1].calls == ()


def test_the_gap_is_from_the_message_to_its_first_tool() -> None:
    """What the graph took in between; a clock that ran backwards says nothing."""
    tools = [tool(2, "x", "", began=3.5, ended=4.0), tool(3, "y", "", began=3.2, ended=4.0)]
    run = assembled([model(1, "x", "y", began=1.0, ended=3.0)], tools)
    assert run is not None
    assert run.steps[0].gap is not None
    assert abs(run.steps[0].gap - 0.2) < 1e-9
    backwards = assembled([model(1, "x", began=1.0, ended=9.0)], [tools[0]])
    assert backwards is not None
    assert backwards.steps[0].gap is None


def test_nothing_said_is_no_run() -> None:
    """Tools without a model make no run."""
    assert assembled([], [tool(1, "x", "")]) is None
    assert assembled([model(1, text="")], []) is None
