"""The Prometheus endpoint, and that the dashboard asks for what it gives."""

import json
import re
import socket
import subprocess
import sys
import textwrap
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from langgraph_prefetch.events import EventSink
from langgraph_prefetch.observe.prometheus import DEFAULT_PORT, PrometheusSink, prometheus_sink
from langgraph_prefetch.testing.sink_contract import EventSinkContract, sample_events
from tests.observe.otel.events import many_runs

ROOT = Path(__file__).parents[2]
DASHBOARD = ROOT / "docs/dashboards/grafana.json"
OURS = re.compile(r"langgraph_prefetch_[a-z_]+")


class TestPrometheusSink(EventSinkContract):
    @pytest.fixture
    def sink(self) -> Iterator[EventSink]:
        made = prometheus_sink(0)
        yield made
        made.close()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[PrometheusSink]:
    """One that has counted every kind of event."""
    made = prometheus_sink(0)
    for event in (*sample_events(), *many_runs()):
        made(event)
    assert made.flush()
    yield made
    made.close()


def scraped(endpoint: PrometheusSink) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{endpoint.port}/metrics", timeout=30) as answer:
        return str(answer.read().decode())


def series(endpoint: PrometheusSink) -> dict[str, list[Any]]:
    """Samples by name."""
    found: dict[str, list[Any]] = {}
    for family in text_string_to_metric_families(scraped(endpoint)):
        for sample in family.samples:
            found.setdefault(sample.name, []).append(sample)
    return found


def test_counts_can_be_scraped(endpoint: PrometheusSink) -> None:
    """Under Prometheus's own naming: `_total` for counters, `_seconds` for times."""
    found = series(endpoint)
    calls = [event for event in (*sample_events(), *many_runs()) if type(event).__name__ == "SearchCallAnswered"]
    assert sum(each.value for each in found["langgraph_prefetch_search_call_answered_total"]) == len(calls)
    hidden = sum(each.value for each in found["langgraph_prefetch_search_call_hidden_seconds_sum"])
    assert hidden == pytest.approx(sum(getattr(call, "hidden_seconds", 0.0) for call in calls))


def test_it_listens_on_this_machine_alone(endpoint: PrometheusSink) -> None:
    """Nobody publishes tool names to a network without having said so."""
    assert endpoint._server.server_address[0] == "127.0.0.1"
    assert DEFAULT_PORT == 9464


def test_a_taken_port_is_an_error_at_once() -> None:
    """Not silence, and not another port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            prometheus_sink(taken.getsockname()[1])


def test_closing_twice_is_closing_once() -> None:
    """The port is free afterwards."""
    made = prometheus_sink(0)
    assert made.close()
    assert made.close()
    with socket.socket() as again:
        again.bind(("127.0.0.1", made.port))


def panels() -> list[dict[str, Any]]:
    return [each for each in json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"] if each["type"] != "row"]


def queries() -> list[str]:
    found = [target["expr"] for panel in panels() for target in panel["targets"]]
    variables = json.loads(DASHBOARD.read_text(encoding="utf-8"))["templating"]["list"]
    return [*found, *(each["query"] for each in variables if each["type"] == "query")]


def test_every_metric_and_label_of_the_dashboard_exists(endpoint: PrometheusSink) -> None:
    """A panel over a name that nobody exports would stay empty, and look like good news."""
    found = series(endpoint)
    labels = {label for samples in found.values() for sample in samples for label in sample.labels}
    for query in queries():
        # Labels begin with a name of their own; what is left over names a metric.
        named = {name for name in OURS.findall(query) if name not in labels}
        assert named, query
        assert named <= set(found), query
        asked = re.findall(r"by \(([^)]*)\)", query) + re.findall(r"[{,]\s*(\w+)\s*(?:=|!=|=~|!~)", query)
        assert {name.strip() for part in asked for name in part.split(",")} <= labels, query


def test_every_metric_is_on_the_dashboard(endpoint: PrometheusSink) -> None:
    """What is measured is shown."""
    shown = " ".join(queries())
    exported = {
        re.sub(r"_(bucket|sum|count)$", "", name)
        for name in series(endpoint)
        if OURS.fullmatch(name) and not name.endswith("_created")
    }
    assert {name for name in exported if name not in shown} == set()


def test_panels_can_be_read() -> None:
    """Each has a title of its own, a description, a unit, and lies beside the others, not over them."""
    assert len({panel["title"] for panel in panels()}) == len(panels())
    cells: set[tuple[int, int]] = set()
    for panel in panels():
        assert panel["description"]
        assert panel["fieldConfig"]["defaults"]["unit"]
        at = panel["gridPos"]
        own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert max(x for x, _ in own) < 24
        assert not own & cells
        cells |= own


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("otel", 'opentelemetry-api is not installed: pip install "langgraph-prefetch[otel]"'),
        (
            "prometheus",
            'opentelemetry-exporter-prometheus is not installed: pip install "langgraph-prefetch[prometheus]"',
        ),
    ],
)
def test_a_missing_extra_is_named_with_its_command(module: str, command: str) -> None:
    """Who lacks the library reads what to type."""
    script = f"""
        import sys
        import langgraph_prefetch
        there = [name for name in sys.modules if name.partition(".")[0] == "opentelemetry"]
        sys.modules.update(dict.fromkeys([*there, "opentelemetry"]))
        try:
            import langgraph_prefetch.observe.{module}
        except ImportError as error:
            print(error)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    assert ran.stdout.strip() == command, ran.stderr
