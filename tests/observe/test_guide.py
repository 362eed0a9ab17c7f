"""The guide names what there is: metrics, attributes and log events."""

import re
from pathlib import Path

from langgraph_prefetch.events import SearchCallAnswered
from langgraph_prefetch.graph.marks import marks_of
from langgraph_prefetch.observe.log import NAMES
from langgraph_prefetch.observe.otel import names
from langgraph_prefetch.observe.otel.metrics import COUNTERS, GAUGES, HISTOGRAMS
from langgraph_prefetch.testing.sink_contract import sample_events

GUIDE = (Path(__file__).parents[2] / "docs/guides/observability.md").read_text(encoding="utf-8")
CONSTANTS = {value for name, value in vars(names).items() if name.isupper() and "." in value}
METRICS = {*COUNTERS, *GAUGES, *HISTOGRAMS, names.EVENTS_DROPPED}


def test_every_metric_is_in_the_guide_with_its_unit_and_its_name_under_prometheus() -> None:
    """An alert is written from the guide."""
    units = {
        **{name: unit for name, (unit, _) in COUNTERS.items()},
        **dict.fromkeys(HISTOGRAMS, "s"),
        **{name: unit for name, (unit, _) in GAUGES.items()},
    }
    rows = re.findall(r"^\| `(langgraph_prefetch\.[\w.]+)` \| `(\S+)` \|.*\| `(\w+)` \|$", GUIDE, re.MULTILINE)
    assert {name: unit for name, unit, _ in rows} == {**units, names.EVENTS_DROPPED: "{event}"}
    for name, unit, prometheus in rows:
        assert prometheus == name.replace(".", "_") + {"s": "_seconds", "By": "_bytes", "1": ""}.get(unit, "_total")


def test_every_attribute_is_in_the_guide() -> None:
    """And nothing of that kind in the guide is made up."""
    told = set(re.findall(r"`((?:langgraph_prefetch|gen_ai|error)\.[a-z_.]+)`", GUIDE))
    told |= {f"langgraph_prefetch.{name}" for name in re.findall(r"`\.([a-z_]+)`", GUIDE)}
    labels_alone = {names.IDLE, names.FAILED, names.WHERE}  # in the metrics' table, by their last part
    assert CONSTANTS - METRICS - labels_alone <= told
    assert all(f"`{name.rpartition('.')[2]}`" in GUIDE for name in labels_alone)
    modules = {"langgraph_prefetch.events", "langgraph_prefetch.observe.otel.names"}
    assert told <= CONSTANTS | modules


def test_the_marks_of_a_served_call_are_attributes_too() -> None:
    """One name for one fact, in spans and in LangSmith."""
    (answered,) = (event for event in sample_events() if isinstance(event, SearchCallAnswered))
    assert set(marks_of(answered)) <= CONSTANTS
    assert all(f"| `{name}` |" in GUIDE for name in marks_of(answered))


def test_every_event_of_the_log_is_in_the_guide() -> None:
    """A filter is written from the guide."""
    assert all(f"`{name}`" in GUIDE for name in NAMES.values())
