"""The cost suite: bills of rows, exact and complete, and what it says where they are not."""

import dataclasses
import datetime
import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError, PriceFileError, UnknownPriceError
from langgraph_prefetch.evaluation.reporting.values import StackedBars, SuiteReport, Table, Text
from langgraph_prefetch.evaluation.reporting.write import write_report
from langgraph_prefetch.evaluation.rows import Answered, RunRow, SearchRow
from langgraph_prefetch.suites.running import Prepared, Request, prepare

PRICES = Path("evals/prices.toml")


def search(answered: Answered) -> SearchRow:
    return SearchRow(query="any", answered=answered, seconds=0.1, retrieval_seconds=0.5)


def row(arm: str, question: str, **values: Any) -> RunRow:
    given = {"seconds": 5.0, "input_tokens": 1_000, "output_tokens": 100, "model_calls": 2} | values
    return RunRow(suite="speed", arm=arm, question_id=question, question="any?", **given)


ROWS = (
    row("wrapped", "q1", searches=(search("ready"),), speculations=3, wasted=2, seconds=4.0),
    row("wrapped", "q2", searches=(search("ready"),), speculations=1, seconds=4.5, wasted_input_tokens=400),
    row("bare", "q1", searches=(search("ran"),)),
    row("bare", "q2", searches=(search("ran"),)),
)


def written(folder: Path, rows: tuple[RunRow, ...]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(dataclasses.asdict(each)) + "\n" for each in rows), encoding="utf-8")
    return path


def prepared(folder: Path, inputs: Mapping[str, tuple[Path, ...]], **options: Any) -> Prepared:
    return prepare(Request(suite="cost", **{"out": folder / "out", **options}, inputs=inputs), print)


def priced(folder: Path, rows: tuple[RunRow, ...] = ROWS, **options: Any) -> SuiteReport:
    return prepared(folder, {"rows": (written(folder, rows),)}, **options).run()


def table(report: SuiteReport, caption: str) -> Table:
    (found,) = (
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Table) and caption in block.caption
    )
    return found


def test_rows_of_an_earlier_run_are_priced_and_nothing_is_run(tmp_path: Path) -> None:
    """Components, the total, the difference and what it buys: all of it by hand."""
    report = priced(tmp_path)
    cost = {name: cells for name, *cells in table(report, "Cost of 1,000 questions").rows}
    assert cost["model input"] == ["3.000000", "3.000000"]
    assert cost["retrievals"] == ["2.000000", "2.000000"]
    assert cost["wasted retrievals"] == ["0.000000", "2.000000"]
    assert cost["wasted model calls, input"] == ["0.000000", "0.600000"]
    assert cost["total"] == ["6.500000", "9.100000"]
    assert table(report, "Cost of 1,000 questions").head == ("component", "bare", "wrapped")
    exact = {name: cells for name, *cells in table(report, "wrapped: 2 questions").rows}
    assert exact["total"][-1] == "0.0182"
    assert exact["of it wasted"][-1] == "0.0052"
    (buys,) = (
        paragraph
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Text)
        for paragraph in block.paragraphs
        if "saves" in paragraph
    )
    assert "wrapped saves 0.75 s" in buys
    assert "A saved second costs 0.003467 USD." in buys


def test_what_is_shown_adds_up_to_what_is_shown(tmp_path: Path) -> None:
    """A reader who adds the column up gets the total, digit for digit, in the sums of 1,000 questions and the exact."""
    odd = tuple(
        dataclasses.replace(each, input_tokens=(each.input_tokens or 0) + 337) for each in (*ROWS, row("bare", "q3"))
    )
    report = priced(tmp_path, odd)
    cost = table(report, "Cost of 1,000 questions")
    for column in range(1, len(cost.head)):
        assert sum(Decimal(cells[column]) for cells in cost.rows[:-1]) == Decimal(cost.rows[-1][column])
    exact = table(report, "bare: 3 questions")
    assert sum(Decimal(cells[-1]) for cells in exact.rows[:-2]) == Decimal(exact.rows[-2][-1])
    difference = table(report, "wrapped less bare")
    assert sum(Decimal(cells[1]) for cells in difference.rows[:-1]) == Decimal(difference.rows[-1][1])


def test_the_report_is_written_with_its_stack(tmp_path: Path) -> None:
    """Each arm is a bar whose parts are its groups; all files of the report can be written."""
    report = priced(tmp_path)
    (bars,) = (block for section in report.sections for block in section.blocks if isinstance(block, StackedBars))
    assert list(bars.bars) == ["bare", "wrapped"]
    assert bars.bars["wrapped"]["retrieval, wasted"] == 2.0
    files = write_report(report, tmp_path / "report", forms=("json", "markdown"))
    assert files.markdown is not None
    assert "at least" not in files.markdown.read_text(encoding="utf-8")


def test_what_a_provider_did_not_tell_is_unknown(tmp_path: Path) -> None:
    """Not 0: the line says so, the total is the least it can be, and the limitations say of how many runs."""
    untold = tuple(dataclasses.replace(each, input_tokens=None) for each in ROWS)
    report = priced(tmp_path, untold)
    cost = {name: cells for name, *cells in table(report, "Cost of 1,000 questions").rows}
    assert cost["model input"] == ["unknown", "unknown"]
    assert cost["total"] == ["at least 3.500000", "at least 6.100000"]
    assert {row[0]: row[1] for row in table(report, "wrapped less bare").rows}["model input"] == "unknown"
    (said,) = (each for each in report.limitations if "did not tell all" in each)
    assert said.endswith("the least that they can be: bare; wrapped (2 of 2 each).")
    half = priced(tmp_path, (*untold[:2], ROWS[2], untold[3]), seed=1, out=tmp_path / "half")
    (said,) = (each for each in half.limitations if "did not tell all" in each)
    assert said.endswith(": bare (1 of 2); wrapped (2 of 2).")


def test_warm_runs_have_a_bill_of_their_own(tmp_path: Path) -> None:
    """They are compared with warm runs."""
    warm = tuple(dataclasses.replace(each, warm=True, wasted_input_tokens=0) for each in ROWS)
    report = priced(tmp_path, (*ROWS, *warm))
    assert table(report, "Cost of 1,000 questions").head[1:] == ("bare", "wrapped", "bare, warm", "wrapped, warm")
    assert table(report, "wrapped, warm less bare, warm").rows


def test_without_a_baseline_there_is_no_difference(tmp_path: Path) -> None:
    """The bill stands, and the limitations say what is missing."""
    report = priced(tmp_path, ROWS[:2])
    assert any("no arm 'bare' to compare with" in each for each in report.limitations)
    assert table(report, "Cost of 1,000 questions").head == ("component", "wrapped")


def test_no_time_saved_has_no_price(tmp_path: Path) -> None:
    """And no division by nothing."""
    slower = tuple(dataclasses.replace(each, seconds=6.0) if each.arm == "wrapped" else each for each in ROWS)
    report = priced(tmp_path, slower)
    assert [each.value for each in report.summary.cost][-1] == "no second is saved"


def test_prices_of_your_own_and_the_model_that_they_name(tmp_path: Path) -> None:
    """With and without the provider's name; what has no price is an error before anything is run."""
    own = tmp_path / "own.toml"
    today = datetime.datetime.now(datetime.UTC).date()
    own.write_text(PRICES.read_text(encoding="utf-8").replace("2026-11-01", f"{today}").replace("USD", "EUR"))
    rows = written(tmp_path, ROWS)
    inputs = {"rows": (rows,), "prices": (own,)}
    report = prepared(tmp_path, inputs, model="openai:example-small").run()
    assert report.settings["priced as"] == "example-small"
    assert "EUR" in report.settings["prices"]
    assert not any("STALE" in each for each in report.limitations)
    with pytest.raises(UnknownPriceError, match="no price for the model 'openai:gpt-0'"):
        prepared(tmp_path, inputs, model="openai:gpt-0").plan()
    with pytest.raises(ConfigurationError, match="give one price file"):
        prepared(tmp_path, {"prices": (own, PRICES)}).plan()


def test_old_prices_are_flagged(tmp_path: Path) -> None:
    """Their age stands among the limitations."""
    old = tmp_path / "old.toml"
    old.write_text(PRICES.read_text(encoding="utf-8").replace("2026-11-01", "2020-01-01"))
    report = prepared(tmp_path, {"rows": (written(tmp_path, ROWS),), "prices": (old,)}).run()
    assert any(each.startswith("STALE PRICES: old.toml: the prices are of 2020-01-01") for each in report.limitations)


def test_bad_input_is_named(tmp_path: Path) -> None:
    """No rows, what is no row, no price file."""
    with pytest.raises(ConfigurationError, match="no rows to price"):
        priced(tmp_path, ())
    (tmp_path / "rows.jsonl").write_text('{"arm": "bare"}\n')
    with pytest.raises(EvaluationFileError, match=r"line 1 is no row"):
        prepared(tmp_path / "other", {"rows": (tmp_path / "rows.jsonl",)}).run()
    (tmp_path / "folder.toml").write_text("date = 3\n")
    with pytest.raises(PriceFileError, match="currency is missing"):
        prepared(tmp_path, {"prices": (tmp_path / "folder.toml",)}).plan()


@pytest.mark.slow
@pytest.mark.allow_blocking("a suite has its event loop for itself: nobody waits beside it")
def test_smoke_end_to_end(tmp_path: Path) -> None:
    """Offline, it asks the demo's agent bare and wrapped, and prices what came."""
    ready = prepared(tmp_path, {}, smoke=True)
    assert ready.plan().runs == 6
    report = ready.run()
    cost = {name: cells for name, *cells in table(report, "Cost of 1,000 questions").rows}
    assert cost["queue requests"][0] == "0"
    assert Decimal(cost["queue requests"][1]) > 0
    assert cost["retrievals"][0] == cost["retrievals"][1]
    assert (tmp_path / "out" / "rows.jsonl").exists()


def test_the_folder_of_an_earlier_run_stands_for_its_rows(tmp_path: Path) -> None:
    """What a run leaves is what the next command is given."""
    file = written(tmp_path, ROWS)
    ready = prepared(tmp_path / "other", {"rows": (tmp_path,)})
    assert ready.context.inputs["rows"] == (file,)
    assert ready.identity == prepared(tmp_path / "other", {"rows": (file,)}).identity
