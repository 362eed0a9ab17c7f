"""`langgraph-prefetch plan`: from files of events to replicas, and what happens to wrong input."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.observe.event_lines import to_line
from langgraph_prefetch.observe.recording import Recording
from langgraph_prefetch.serving.flow import VisitRecorder
from tests.serving.flow.graphs import corrective

GRAPH = "tests.serving.flow.graphs:corrective"


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two real runs of a graph, one of which goes round once."""
    recording = Recording()
    graph = corrective()
    for ways in (["generate"], ["rewrite", "generate"]):
        graph.invoke({"ways": ways}, {"callbacks": [VisitRecorder(recording)]})
    path = tmp_path_factory.mktemp("events") / "events.jsonl"
    path.write_text("".join(map(to_line, recording.events)), encoding="utf-8")
    return path


def test_a_plan_is_printed_with_the_flow(events: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was measured, and the replicas that follow from it."""
    assert main(["plan", str(events), "--budget", "cpu=16"]) == 0
    text = capsys.readouterr().out
    assert "requests a second with cpu=16" in text
    assert "Bottleneck: " in text
    assert "no resources were declared" in text


def test_with_the_graph_its_edges_and_the_constraints_of_a_file_count(
    events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file says what a replica occupies; the graph knows a node that nobody visited."""
    constraints = tmp_path / "stages.toml"
    constraints.write_text("[generate]\nresources = {gpu = 1}\nmin_instances = 2\n", encoding="utf-8")
    words = ["plan", str(events), "--graph", GRAPH, "--constraints", str(constraints), "--budget", "cpu=16,gpu=3"]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stages"]["generate"]["occupies"]["gpu"] >= 2
    assert found["stages"]["apologise"]["visits_per_request"] == 0
    assert any("apologise was never taken" in each for each in found["notes"])


def test_a_flow_is_kept_and_planned_again(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the events, for another budget; drawn with the replicas."""
    kept = tmp_path / "flow.json"
    assert main(["plan", str(events), "--budget", "cpu=8", "--save-flow", str(kept)]) == 0
    capsys.readouterr()
    assert main(["plan", "--flow", str(kept), "--budget", "cpu=4", "--mermaid"]) == 0
    assert capsys.readouterr().out.startswith("flowchart LR\n")


def test_wrong_use_says_what_to_do(events: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line on standard error and code 2."""
    empty = tmp_path / "empty.jsonl"
    empty.write_text("", encoding="utf-8")
    odd = tmp_path / "odd.toml"
    odd.write_text("[grade]\nresorces = {cpu = 1}\n", encoding="utf-8")
    flat = tmp_path / "flat.toml"
    flat.write_text("grade = 1\n", encoding="utf-8")
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[grade]\nconcurrency = 'many'\n", encoding="utf-8")
    less = tmp_path / "less.toml"
    less.write_text("[grade]\nconcurrency = 0\n", encoding="utf-8")
    broken = tmp_path / "broken.toml"
    broken.write_text("[grade", encoding="utf-8")
    good = [str(events), "--budget", "cpu=16"]
    for words, says in (
        ([str(empty), "--budget", "cpu=16"], "VisitRecorder"),
        (["--budget", "cpu=16"], "give files of events, or --flow"),
        ([str(events), "--budget", "cpu"], "NAME=NUMBER"),
        ([str(events), "--budget", "cpu=3"], "breaks it"),
        ([str(events), "--budget", "gpu=3"], "'cpu'"),
        ([*good, "--smoothing", "1"], "--smoothing needs --graph"),
        ([*good, "--graph", "nothing"], "module:name"),
        ([*good, "--graph", "tests.serving.flow.graphs:nothing"], "cannot make"),
        ([*good, "--constraints", str(odd)], "'resorces'. Did you mean 'resources'"),
        ([*good, "--constraints", str(flat)], "no table of a stage"),
        ([*good, "--constraints", str(wrong)], "of the wrong type"),
        ([*good, "--constraints", str(less)], "stage 'grade': min_instances starts at 0"),
        ([*good, "--constraints", str(broken)], "is no TOML"),
        ([*good, "--constraints", str(tmp_path / "none.toml")], "cannot read"),
        (["--flow", str(odd), "--budget", "cpu=16"], "not a flow"),
        (["--flow", str(odd), "--graph", GRAPH, "--budget", "cpu=16"], "holds graph and constraints already"),
    ):
        assert main(["plan", *words]) == 2, words
        error = capsys.readouterr().err
        assert says in error
        assert error.count("\n") == 1
