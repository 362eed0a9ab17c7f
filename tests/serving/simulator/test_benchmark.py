"""What the benchmark of deadlines compares, and how it reports."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.serving_parts.deadlines_simulated import ARMS, Missed, change, plots
from benchmarks.serving_parts.flows import ADAPTIVE, FLOWS
from benchmarks.serving_parts.foreknowledge import Told, hopeless, numbered
from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.report import write
from benchmarks.serving_parts.workload import UNSIZED, workload

WORK = workload(ADAPTIVE, replicas=12, load=0.9, count=40, deadline=4.0, seed=3)


def test_who_is_told_everything_predicts_to_the_last_digit() -> None:
    """And who is told the stages alone knows how many there are, not how long each takes."""
    times, stages = Told(WORK, times=True), Told(WORK, times=False)
    means = {each.name: each.service.mean for each in ADAPTIVE.stages if each.service}
    for arrival, journey in zip(numbered(WORK).arrivals, WORK.journeys, strict=True):
        size = arrival.features[0]
        for place, step in enumerate(journey.steps):
            left = journey.steps[place:]
            assert times.remaining(step.stage, place, arrival.features) == pytest.approx(sum(e.seconds for e in left))
            assert times.service(step.stage, place, arrival.features) == step.seconds
            wanted = sum(means[each.stage] * (1 if each.stage in UNSIZED else size) for each in left)
            assert stages.remaining(step.stage, place, arrival.features) == pytest.approx(wanted)


def test_hopeless_requests_are_those_that_their_own_service_makes_late() -> None:
    """None where there is time enough, all where there is none."""
    longest = max(each.service_seconds for each in WORK.journeys)
    for seconds, share in ((longest, 0.0), (1e-9, 1.0)):
        assert hopeless(replace(WORK, deadline_seconds=seconds)) == share


def test_a_change_that_every_run_shows_alike_has_no_error() -> None:
    """The standard error is of the ratio, not of the shares, which scatter far more."""
    alike = Missed(flow="f", load=0.9, shares={"fcfs": [0.1, 0.3, 0.2], "edf": [0.02, 0.06, 0.04]})
    apart = Missed(flow="g", load=0.9, shares={"fcfs": [0.1, 0.3, 0.2], "edf": [0.05, 0.06, 0.01]})
    assert change([alike, apart], "f", "edf").change == pytest.approx(-0.8)
    assert change([alike, apart], "f", "edf").error == pytest.approx(0, abs=1e-9)
    assert change([alike, apart], "g", "edf").error > 0.05


def test_a_report_has_tables_plots_and_what_was_missed(tmp_path: Path) -> None:
    """Published figures stand in the tables, and a promise that was not kept counts as a failure."""
    found = [
        Missed(flow=flow.name, load=load, shares=dict.fromkeys(ARMS, (0.1,))) for flow in FLOWS for load in (0.8, 0.9)
    ]
    part = Part(
        name="deadlines",
        tables=[Table(caption="Late", head=("flow", "here", "published"), rows=(("self", "-70 %", "-41.3 %"),))],
        checks=[Check(what="late", measured="-70 %", wanted="-75 %", kept=False)],
        plots=plots(found),
    )
    write([part], tmp_path, short=True, seed=1)
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "-41.3 %" in text
    assert "MISSED: late" in text
    assert "Deadlines missed, adaptive" in (tmp_path / "report.html").read_text("utf-8")
