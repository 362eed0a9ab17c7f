"""What is taken from openevals and agentevals, under our rules."""

import builtins
import importlib
import sys
from typing import Any

import pytest
from openevals.prompts import CORRECTNESS_PROMPT, RAG_GROUNDEDNESS_PROMPT

from langgraph_prefetch.errors import MissingExtraError, MissingPartError, NothingToJudgeError
from langgraph_prefetch.evaluation.judging import JudgeBudget, Reason, Scored
from langgraph_prefetch.evaluation.judging.openevals_judge import score_openevals
from langgraph_prefetch.evaluation.judging.openevals_texts import (
    MAX_CHARS,
    Trajectory,
    compare_texts,
    match_trajectories,
)
from langgraph_prefetch.testing.judge import Malformed
from langgraph_prefetch.testing.wire import Request, Turn
from tests.evaluation.judging.served import bridge, bridges, judging


def test_texts_are_compared_without_a_model() -> None:
    """Exactly, and by edit distance; what has no reference, is empty or too long has its reason."""
    samples = [
        bridge(1, answer="kitten", reference="kitten"),
        bridge(2, answer="kitten", reference="sitting"),
        bridge(3, reference=None),
        bridge(4, answer=""),
        bridge(5, answer="x" * (MAX_CHARS + 1)),
    ]
    exact, near = compare_texts(samples, "exact_match"), compare_texts(samples, "levenshtein")
    assert [each.verdict.score for each in exact.judged[:2] if isinstance(each.verdict, Scored)] == [1.0, 0.0]
    assert [each.verdict.score for each in near.judged[:2] if isinstance(each.verdict, Scored)] == [1.0, 1 - 3 / 7]
    assert near.coverage.reasons == {Reason.NO_REFERENCE: 1, Reason.EMPTY_ANSWER: 1, Reason.TOO_LONG: 1}
    assert exact.metric.startswith("openevals/exact_match@")
    with pytest.raises(MissingPartError):
        compare_texts(bridges(2, reference=None), "exact_match")


def called(*queries: str) -> list[dict[str, Any]]:
    calls = [{"function": {"name": "search", "arguments": f'{{"query": "{query}"}}'}} for query in queries]
    return [{"role": "user", "content": "q"}, {"role": "assistant", "content": "", "tool_calls": calls}]


def test_trajectories_match_by_their_calls() -> None:
    """The same calls in order match; another query does not, unless arguments are left out of it."""
    same = Trajectory(sample=bridge(1), messages=called("a", "b"), expected=called("a", "b"))
    other = Trajectory(sample=bridge(2), messages=called("a"), expected=called("b"))
    failed = Trajectory(sample=bridge(3, error="TimeoutError"), messages=[], expected=called("b"))
    sheet = match_trajectories([same, other, failed])
    assert [each.verdict.score for each in sheet.judged if isinstance(each.verdict, Scored)] == [1.0, 0.0]
    assert sheet.coverage.reasons == {Reason.RUN_FAILED: 1}
    assert match_trajectories([other], arguments="ignore").mean == 1.0
    with pytest.raises(NothingToJudgeError):
        match_trajectories([])


def test_their_prompts_are_asked_within_our_limits() -> None:
    """Scores, budget, transcripts and versions, as with our own prompts."""
    with judging(budget=JudgeBudget(calls=3)) as (panel, server):
        sheet = score_openevals(panel, bridges(2), CORRECTNESS_PROMPT, name="correctness", needs=("reference",))
        assert (sheet.mean, sheet.coverage.scored) == (1.0, 2)
        more = score_openevals(panel, bridges(2), RAG_GROUNDEDNESS_PROMPT, name="grounded", needs=("contexts",))
        assert more.coverage.reasons == {Reason.OUT_OF_BUDGET: 1}
        assert len(server.requests) == len(panel.store) == 3
        # the same once more costs nothing
        again = score_openevals(panel, bridges(2), CORRECTNESS_PROMPT, name="correctness", needs=("reference",))
        assert again.coverage.scored == 2
        assert len(server.requests) == 3


@pytest.mark.parametrize("fault", ["cut", "out of range", "wrong type", "empty"])
def test_their_reading_of_a_reply_is_not_trusted(fault: Any) -> None:
    """openevals takes whatever stands under `score`: a 10.5 or a text is malformed here."""
    with judging(Malformed(fault)) as (panel, _):
        sheet = score_openevals(panel, bridges(2), CORRECTNESS_PROMPT, name="correctness")
        assert (sheet.coverage.reasons, sheet.mean) == ({Reason.MALFORMED: 2}, None)


def test_a_reply_without_a_score_is_malformed() -> None:
    """A field that is missing is no reason for an error in the middle of a run."""

    def silent(request: Request) -> Turn:
        return Turn(text=('{"reasoning": "hm"}',))

    with judging(silent) as (panel, _):
        sheet = score_openevals(panel, bridges(1), CORRECTNESS_PROMPT, name="correctness")
        assert sheet.coverage.reasons == {Reason.MALFORMED: 1}


def test_without_the_libraries_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lacks the extra is told how to install it."""
    real = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] in ("openevals", "agentevals", "ragas"):
            raise ModuleNotFoundError(f"No module named {name!r}")
        return real(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", missing)
    for module, extra in (("openevals_setup", "judges"), ("ragas_setup", "ragas")):
        path = f"langgraph_prefetch.evaluation.judging.{module}"
        monkeypatch.delitem(sys.modules, path, raising=False)
        with pytest.raises(MissingExtraError, match=rf"langgraph-prefetch\[{extra}\]"):
            importlib.import_module(path)
