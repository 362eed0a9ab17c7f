"""The report of an experiment as it is read."""

import dataclasses

import numpy as np

from langgraph_prefetch.evaluation.ab.compare import compare
from langgraph_prefetch.evaluation.ab.section import section_of
from langgraph_prefetch.evaluation.reporting.markdown import to_markdown
from langgraph_prefetch.evaluation.reporting.values import Distributions, SuiteReport, Summary, Table, Text
from tests.evaluation.ab.rigs import EVEN, drawn, run


def test_an_experiment_is_read() -> None:
    """Warnings stand first, then who was given what, then the difference, with its interval."""
    runs = [*drawn(np.random.default_rng(1), 30, change=0.2), run("a", 9.0, None)]
    report = compare(runs, EVEN, experiment="reranker", resamples=99)
    section = section_of(report, runs)
    text, variants, differences, plot = section.blocks
    assert isinstance(text, Text)
    assert "1 runs had no key" in text.paragraphs[0]
    assert isinstance(variants, Table)
    assert [row[:3] for row in variants.rows] == [("a", "31", "30"), ("b", "30", "30")]
    assert isinstance(differences, Table)
    ((name, ratio, _, _),) = differences.rows
    assert name == "b"
    assert " to " in ratio
    assert isinstance(plot, Distributions)
    assert {name: len(values) for name, values in plot.series.items()} == {"a": 30, "b": 30}
    whole = SuiteReport(
        suite="ab",
        title="A/B",
        hypotheses=(),
        settings={},
        sections=(section,),
        summary=Summary(),
        limitations=("One machine.",),
    )
    assert "Experiment reranker" in to_markdown(whole)


def test_an_experiment_without_runs_is_read() -> None:
    """Dashes, and why; no plot of nothing."""
    section = section_of(compare([], EVEN, experiment="x"))
    assert [type(each) for each in section.blocks] == [Text, Table, Table]
    assert "nan" not in str(dataclasses.asdict(section))
