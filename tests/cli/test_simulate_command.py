"""``langgraph-prefetch simulate``."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.events import StageVisited
from langgraph_prefetch.observe.event_lines import to_line
from langgraph_prefetch.serving.flow import Flow

VISITS = (("search", 0.2), ("write", 0.8))


@pytest.fixture
def events(tmp_path: Path) -> Path:
    """Forty requests, one a second, each a search and an answer."""
    lines = []
    for number in range(40):
        at = 100.0 + number
        for visit, (stage, seconds) in enumerate(VISITS, start=1):
            at += seconds
            lines.append(
                to_line(
                    StageVisited(
                        at=at,
                        request_id=f"r{number}",
                        stage=stage,
                        visit=visit,
                        waited_seconds=0.0,
                        service_seconds=seconds,
                    )
                )
            )
    path = tmp_path / "events.jsonl"
    path.write_text("".join(lines))
    return path


@pytest.fixture
def flow(events: Path, tmp_path: Path) -> Path:
    from langgraph_prefetch.observe.event_file import read_events

    path = tmp_path / "flow.json"
    path.write_text(Flow.from_events(read_events(events)).to_json())
    return path


def test_recorded_requests_through_the_recorded_flow(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each policy has a row, and each stage one of each policy."""
    assert main(["simulate", str(events), "--replicas", "search=1,write=1", "--deadline", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("fcfs", "edf", "slack"))] == ["fcfs", "edf", "slack"]
    assert sum(line.startswith("write") for line in lines) == 3
    assert lines[3].split()[:3] == ["fcfs", "40", "0.0%"]


def test_drawn_requests_as_json(flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same seed gives the same figures."""
    words = ["simulate", "--flow", str(flow), "--replicas", "search=1", "--replicas", "write=2", "--rate", "2"]
    words += ["--seconds", "60", "--burst", "5", "--deadline", "3", "--policy", "edf", "--json", "--seed", "4"]
    assert main(words) == 0
    first = capsys.readouterr().out
    (found,) = json.loads(first)
    assert (found["policy"], found["seed"]) == ("edf", 4)
    assert 0 < found["violations"] < 1
    assert found["pools"]["write"]["replicas"] == 2
    assert main(words) == 0
    assert capsys.readouterr().out == first


@pytest.mark.slow
def test_a_report_with_plots(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """For a reader, a browser and a program."""
    words = ["simulate", str(events), "--replicas", "search=1,write=1", "--policy", "fcfs", "--policy", "edf"]
    assert main([*words, "--report", str(tmp_path / "out")]) == 0
    page = (tmp_path / "out/report.html").read_text()
    assert "<svg" in page
    assert "Share of requests that took longer" in page
    assert "slack" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{events}"], "give --replicas search=2,write=8 or --budget"),
        (["{events}", "--replicas", "search=x"], "replicas are STAGE=N, such as search=2, not 'search=x'"),
        (["{events}", "--replicas", "search=1,search=2"], "given twice"),
        (["{events}", "--replicas", "search=1"], "gives 'write' no replica"),
        (["{events}", "--replicas", "search=1,write=1,wirte=1"], "Did you mean 'write'?"),
        (["{events}", "--replicas", "search=1,write=1", "--deadline", "-1"], "over before it begins"),
        (["{events}", "--replicas", "search=1,write=1", "--policy", "slak"], "no queue policy 'slak'"),
        (["{events}", "--replicas", "search=1,write=1", "--rate", "0"], "arrivals need a rate"),
        (["{events}", "--replicas", "search=1,write=1", "--burst", "2"], "--burst goes with --rate"),
        (["{events}", "--replicas", "search=1,write=1", "--rate", "1", "--times", "2"], "leave --recorded and --times"),
        (["--flow", "{flow}", "--replicas", "search=1,write=1"], "when do requests come?"),
        (["--replicas", "search=1"], "give files of events, or --flow"),
        (["missing.jsonl", "--replicas", "search=1"], "missing.jsonl"),
    ],
)
def test_what_cannot_be_simulated_is_said_in_a_line(
    events: Path, flow: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit code 2."""
    assert main(["simulate", *(word.format(events=events, flow=flow) for word in words)]) == 2
    assert message in capsys.readouterr().err
