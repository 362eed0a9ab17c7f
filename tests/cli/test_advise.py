"""`langgraph-prefetch advise`: what a user sees, what is written, and what is never done."""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.tools import BaseTool

from langgraph_prefetch.cli import main
from tests.evaluation.importers.recorded import Agent, langsmith_of, write_lines
from tests.evaluation.recordings import ANSWERED, SAID, UNSAID, episode, write

PRICES = """\
date = 2026-11-01
currency = "USD"
[retrieval]
per_call = 0.005
source = "https://example.invalid/prices"
[models.small]
input_per_million = 1.0
output_per_million = 4.0
source = "https://example.invalid/prices"
"""


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return write(tmp_path / "runs.jsonl", [episode(SAID, UNSAID, ANSWERED)] * 12)


def test_advice_is_printed_with_code_to_paste(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was read, what was assumed, the verdict with its figures, and settings; no word of the traces."""
    assert main(["advise", str(runs)]) == 0
    printed = capsys.readouterr()
    for said in (
        f"{runs}: episodes, 12 runs",
        "36 model calls, 24 tool calls; no model and no tool was called",
        "50 tokens a second",
        "search: turn it on",
        "exact, sealed calls only",
        "exact, with reasoning",
        "exact, with reuse",
        "bounded near misses",
        "verified",
        'ToolPolicy(name="search"),',
        "with exactly this",
    ):
        assert said in printed.out
    assert "Lovelace" not in printed.out
    assert printed.err == ""


def test_no_model_no_tool_and_no_network(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export of LangSmith is read and replayed although models, tools and connections would raise."""
    export = write_lines(
        tmp_path / "export.jsonl", [run for _ in range(8) for run in langsmith_of(Agent(), stream=True)]
    )

    def never(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("called")

    for method in ("generate", "agenerate", "stream", "astream"):
        monkeypatch.setattr(BaseChatModel, method, never)
    for method in ("run", "arun"):
        monkeypatch.setattr(BaseTool, method, never)
    for method in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, method, never)
    monkeypatch.setattr(socket, "getaddrinfo", never)
    assert main(["advise", str(export), "--tool", "search"]) == 0
    printed = capsys.readouterr().out
    assert "langsmith, 8 runs" in printed
    assert "durations of tools: 24 of 24 recorded" in printed


def test_figures_and_report_are_written(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An object for programs; a report with its code beside it, which is taken away when there is none any more."""
    out, folder = tmp_path / "advice.json", tmp_path / "report"
    assert main(["advise", str(runs), "--json", str(out), "--out", str(folder)]) == 0
    figures = json.loads(out.read_text(encoding="utf-8"))
    (tool,) = figures["tools"]
    assert (tool["tool"], tool["verdict"], figures["runs"]) == ("search", "recommended", 12)
    assert set(tool["modes"]["exact, with reasoning"]) >= {"coverage", "guessed", "hidden_seconds_per_call"}
    assert tool["modes"]["bounded near misses"] == {"why_not": "needs what the tool searches: --corpus FILE …"}
    assert (folder / "settings.py").read_text(encoding="utf-8") == figures["code"]
    assert "search: turn it on" in (folder / "report.md").read_text(encoding="utf-8")
    assert (folder / "report.html").exists()
    assert str(folder / "report.md") in capsys.readouterr().out
    assert main(["advise", str(runs), "--latency", "0.001", "--out", str(folder)]) == 0
    assert not (folder / "settings.py").exists()


def test_a_report_without_what_draws_its_page(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is written, and the line says what to install."""
    for name in [each for each in sys.modules if each.startswith("langgraph_prefetch.evaluation.reporting.p")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["advise", str(runs), "--out", str(tmp_path / "report")]) == 0
    assert "langgraph-prefetch[eval]" in capsys.readouterr().err
    assert sorted(each.name for each in (tmp_path / "report").iterdir()) == ["report.json", "report.md", "settings.py"]


@pytest.fixture
def figures(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """What the command writes under some options."""
    (tmp_path / "prices.toml").write_text(PRICES, encoding="utf-8")

    def written(*options: str) -> Any:
        out = tmp_path / "advice.json"
        assert main(["advise", str(runs), "--json", str(out), *options]) == 0
        capsys.readouterr()
        return json.loads(out.read_text(encoding="utf-8"))

    return written


def test_options_reach_the_advice(figures: Callable[..., Any]) -> None:
    """Each option changes the figures as its help says."""

    def hidden(*options: str) -> float:
        (tool,) = figures(*options)["tools"]
        return float(tool["modes"]["exact, with reasoning"]["hidden_seconds_per_call"]["value"])

    usual = hidden("--tool", "search")
    assert hidden("--latency", "0.1") < usual
    assert hidden("--tokens-per-second", "500") < usual
    assert figures("--latency", "0.0005")["tools"][0]["verdict"] == "not worth it"


def test_prices_reach_the_advice(figures: Callable[..., Any], tmp_path: Path) -> None:
    """Of a file, with the tokens of a model; or given by hand. Those in money stand in the code."""
    priced = figures("--prices", str(tmp_path / "prices.toml"), "--model", "small", "--value-of-second", "0.05")
    assert priced["prices"] == {
        "call": 0.005,
        "second": 0.05,
        "token_read": 1e-06,
        "token_written": 4e-06,
        "unit": "USD",
    }
    assert "price=Price(money=0.005)" in priced["code"]
    free = figures("--price-per-call", "0")
    assert (free["prices"]["call"], free["prices"]["unit"]) == (0, "")


def test_queries_are_shown_on_request(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Some that were not readable early."""
    assert main(["advise", str(runs), "--show-queries"]) == 0
    assert "not readable early: 'Analytical Engine'" in capsys.readouterr().out


def test_what_is_skipped_is_named(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error: the file, the line, the reason, and how many."""
    with runs.open("a", encoding="utf-8") as file:
        file.write("nonsense\n")
    assert main(["advise", str(runs)]) == 0
    printed = capsys.readouterr()
    assert printed.err.splitlines()[0].startswith(f"skipped {runs}:13: not JSON")
    assert f"{runs}: records skipped: 1" in printed.err
    assert "12 runs, 1 record skipped" in printed.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--tokens-per-second", "0"], "tokens_per_second must be above 0"),
        (["--latency", "-1"], "latency_seconds must be at least 0"),
        (["--reuse", "0"], "reuse_seconds must be above 0"),
        (["--value-of-second", "0"], "the value of a second must be above 0"),
        (["--price-per-call", "-1"], "the price of a call must be at least 0"),
        (["--tool", "serch"], "Did you mean 'search'"),
        (["--k", "0"], "--k must be at least 1"),
        (["--model", "small"], "--model goes with --prices"),
        (["--prices", "missing.toml"], "missing.toml"),
        (["--json", "."], "it is a folder"),
        (["--format", "langsmith"], "read as langsmith"),
        (["--out", __file__], "it is no folder"),
    ],
)
def test_wrong_options_are_one_line(
    runs: Path, options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, with what to change."""
    assert main(["advise", str(runs), *options]) == 2
    printed = capsys.readouterr()
    assert complaint in printed.err
    assert printed.out == ""


def test_prices_need_the_value_of_a_second(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In the currency of the file."""
    prices = tmp_path / "prices.toml"
    prices.write_text(PRICES, encoding="utf-8")
    assert main(["advise", str(runs), "--prices", str(prices)]) == 2
    assert "what a saved second is worth, in USD" in capsys.readouterr().err


def test_a_file_of_no_known_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2, and what was tried."""
    path = write(tmp_path / "other.jsonl", ['{"a": 1}'])
    assert main(["advise", str(path)]) == 2
    assert "none of the known formats" in capsys.readouterr().err
