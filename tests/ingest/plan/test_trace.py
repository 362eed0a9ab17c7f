"""Equal decisions leave an equal trace, which can be kept and compared."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import OperatorTraceError, PlanError
from langgraph_prefetch.ingest.plan import MEMORY, REDUCE_CONTEXT, RETRIEVE, Decision, OperatorTrace, replay
from langgraph_prefetch.ingest.plan.interpret import Rows, Work

WORK: dict[str, Work] = {
    "broadcast": lambda _, rows: rows,
    "local top-k": lambda number, rows: [f"{each} in {number}" for each in rows],
    "global top-k": lambda _, rows: sorted(rows),
    "merge": lambda _, rows: {row["id"]: row for row in rows}.values(),
    "fit": lambda _, rows: rows[:2],
    "write": lambda _, rows: rows,
    "epoch": lambda _, rows: rows,
}
PLANS = (RETRIEVE, REDUCE_CONTEXT, MEMORY)

_queries = st.lists(st.text(max_size=5), max_size=3).map(tuple)
_passages = st.lists(st.fixed_dictionaries({"id": st.sampled_from("abc")}), max_size=4).map(tuple)
_decisions = st.one_of(
    st.builds(Decision, plan=st.just(RETRIEVE.name), rows=_queries),
    st.builds(Decision, plan=st.just(REDUCE_CONTEXT.name), rows=_passages),
    st.builds(Decision, plan=st.just(MEMORY.name), rows=_queries),
)


@given(decisions=st.lists(_decisions, max_size=6))
def test_replaying_decisions_gives_the_identical_trace(
    decisions: list[Decision], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Also when the first trace comes from a file."""
    file = tmp_path_factory.mktemp("trace") / "trace.jsonl"
    replay(decisions, PLANS, WORK, workers=3).save(file)
    assert replay(decisions, PLANS, WORK, workers=3) == OperatorTrace.load(file)


def _trace(rows: Rows) -> OperatorTrace:
    return replay([Decision(plan="retrieve", rows=rows)], PLANS, WORK, workers=2)


def test_the_first_difference_is_named() -> None:
    """Decision, operator and what differs; nothing for equal traces."""
    assert _trace(("a",)).difference(_trace(("a",))) is None
    told = _trace(("a",)).difference(_trace(("b",)))
    assert told is not None
    assert told.startswith("decision 0, retrieve/broadcast, worker 0: digest ")
    assert _trace(("a",)).difference(OperatorTrace()) == "5 steps and 0"


def test_a_trace_tells_no_text(tmp_path: Path) -> None:
    """Queries may be private."""
    _trace(("a secret",)).save(tmp_path / "trace.jsonl")
    assert "secret" not in (tmp_path / "trace.jsonl").read_text()


def test_an_unknown_plan_is_named() -> None:
    """With those that there are."""
    with pytest.raises(PlanError, match="'gather' among memory, reduce context, retrieve"):
        replay([Decision(plan="gather", rows=())], PLANS, WORK)


@pytest.mark.parametrize("line", ["{", "[]", '{"decision": 0}', "\\xff", '{"decision": "0"}'])
def test_a_broken_trace_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    """Not read as something else."""
    file = tmp_path / "trace.jsonl"
    _trace(("a",)).save(file)
    lines = len(file.read_text().splitlines())
    file.write_text(file.read_text() + line + "\n")
    with pytest.raises(OperatorTraceError, match=f"line {lines + 1}"):
        OperatorTrace.load(file)
    with pytest.raises(OperatorTraceError, match="cannot be read"):
        OperatorTrace.load(tmp_path / "missing")
