"""Rows for the suite `quality`, and contexts that judge them."""

from pathlib import Path
from typing import Any

from langgraph_prefetch.evaluation.rows import RunRow, SearchRow
from langgraph_prefetch.evaluation.trials import RowFile
from langgraph_prefetch.suites.contract import Spending, SuiteContext

PLACES = (
    *("Humber", "Severn", "Forth", "Tay", "Menai", "Clifton", "Tyne", "Mersey", "Thames", "Avon", "Trent", "Wye"),
    *("Danube", "Rhine", "Elbe", "Seine"),
)


def row(number: int, arm: str, **parts: Any) -> RunRow:
    place = PLACES[number % len(PLACES)]
    fact = f"{place} crossing spans {1000 + 7 * number} metres"
    given: dict[str, Any] = {
        "question": f"How far does the crossing of the {place} span?",
        "answer": f"{fact}.",
        "reference": f"{1000 + 7 * number} metres",
        "language": "ko" if number % 2 else "en",
        "kind": ("fact", "comparison")[number % 3 == 0],
        "searches": (SearchRow(query=place, answered="ran", seconds=0.1, passages=(f"{fact} and is old.",)),),
    }
    return RunRow(suite="quality", arm=arm, question_id=f"q{number:03}", place=number, **given | parts)


def rows(count: int, **wrapped: Any) -> list[RunRow]:
    """Both arms, the wrapped one changed by ``wrapped``."""
    return [*(row(n, "bare") for n in range(count)), *(row(n, "wrapped", **wrapped) for n in range(count))]


def context(out: Path, given: list[RunRow], *, judges: tuple[str, ...] = ("scripted",), **options: Any) -> SuiteContext:
    """Judges these rows; ``options`` named like settings of ``[judging]`` are put there."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "given.jsonl"
    if not path.exists():
        kept = RowFile(path)
        for each in given:
            kept.add(each)
    rules = {"margin": 0.05, "coverage": 0.9, "controls": 12, "timeout_seconds": 30.0}
    of_context = {name: options.pop(name) for name in ("budget", "model", "smoke", "limits") if name in options}
    settings = {
        "title": "Quality",
        "primary_endpoint": "wrapped less bare",
        "hypotheses": ["H1"],
        "judging": rules | options,
        "limits": {"non_inferior": True} | of_context.pop("limits", {}),
    }
    return SuiteContext(
        settings=settings,
        data=out,
        out=out,
        seed=1,
        judges=judges,
        inputs={"rows": (path,)},
        **{"budget": Spending(), **of_context},
    )
