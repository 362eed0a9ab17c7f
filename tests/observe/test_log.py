"""Log records: one line each, fields under documented names, few warnings."""

import logging
from collections.abc import Iterator
from typing import Any

import pytest

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.events import Event, EventSink, Fate, SpeculationEnded, SpeculationStarted, Trouble
from langgraph_prefetch.observe.log import LOGGER, NAMES, LogSink, level_of
from langgraph_prefetch.testing.sink_contract import EventSinkContract, sample_events
from langgraph_prefetch.testing.tools import CountingSearch
from langgraph_prefetch.values import Source
from tests.graph.cases.rigs import DONE, GO, created, model, thinks


@pytest.fixture(autouse=True)
def _all_levels(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.DEBUG, LOGGER):
        yield


class TestLogSink(EventSinkContract):
    @pytest.fixture
    def sink(self) -> EventSink:
        return LogSink()


def fields(record: logging.LogRecord) -> dict[str, Any]:
    return {
        name.removeprefix("prefetch_"): value for name, value in vars(record).items() if name.startswith("prefetch_")
    }


def test_a_record_has_the_events_fields_and_a_line_for_people(caplog: pytest.LogCaptureFixture) -> None:
    """A JSON formatter finds each field under `prefetch_` and its own name; a person reads one line."""
    for event in sample_events():
        LogSink()(event)
    for event, record in zip(sample_events(), caplog.records, strict=True):
        assert fields(record) == {
            "event": NAMES[type(event)],
            **{name: getattr(event, name) for name in type(event).__dataclass_fields__},
        }
        assert "\n" not in record.getMessage()
    answered = next(each for each in caplog.records if fields(each)["event"] == "search_call_answered")
    assert answered.getMessage() == (
        "search_call_answered run_id=run-1 step=1 at=1.8 call_id=call_1 tool=search source=reasoning "
        "speculation_id=run-1-1 late=True reason='' waited_seconds=0.1 retrieval_seconds=0.5 lead_seconds=0.4 "
        "hideable_seconds=0.4 hidden_seconds=0.4 failed=False"
    )
    assert type(answered.prefetch_source) is str  # type: ignore[attr-defined]


def ended(fate: Fate, reason: str = "x", at: float = 0.0, tool: str = "search") -> SpeculationEnded:
    return SpeculationEnded(
        run_id="r", step=1, at=at, speculation_id="s", tool=tool, source=Source.SEALED, fate=fate, reason=reason
    )


def test_levels() -> None:
    """What may need somebody is a warning, what a call cost is information, the rest is for debugging."""
    levels = {NAMES[type(event)]: logging.getLevelName(level_of(event)) for event in sample_events()}
    assert levels == {
        "run_started": "DEBUG",
        "step_started": "DEBUG",
        "step_ended": "DEBUG",
        "speculation_started": "DEBUG",
        "speculation_joined": "DEBUG",
        "speculation_ignored": "DEBUG",
        "speculation_ended": "DEBUG",
        "search_call_answered": "INFO",
        "next_call_started": "DEBUG",
        "next_call_ignored": "DEBUG",
        "next_call_ended": "DEBUG",
        "near_fetched": "DEBUG",
        "near_ignored": "DEBUG",
        "near_answered": "DEBUG",
        "near_checked": "DEBUG",
        "near_tier_changed": "WARNING",
        "variant_assigned": "DEBUG",
        "stage_visited": "DEBUG",
        "stage_pressure": "DEBUG",
        "component_called": "DEBUG",
        "breaker_moved": "WARNING",
        "pipeline_ended": "INFO",
        "component_warmed": "DEBUG",
        "run_ended": "INFO",
        "trouble": "WARNING",
    }
    assert {fate: level_of(ended(fate)) for fate in Fate if level_of(ended(fate)) != logging.DEBUG} == {
        Fate.FAILED: logging.WARNING
    }


def test_warnings_are_few_and_say_how_many_they_stand_for(caplog: pytest.LogCaptureFixture) -> None:
    """A backend that is down for an hour fills no disk."""
    sink = LogSink(warnings_per_minute=2)
    for second in range(0, 150, 1):
        sink(ended(Fate.FAILED, "ConnectionError", at=float(second)))
    sink(Trouble(at=149.0, where="token", error="E"))
    told = [(fields(record)["at"], fields(record).get("suppressed")) for record in caplog.records]
    assert told == [(0.0, None), (1.0, None), (60.0, 58), (61.0, None), (120.0, 58), (121.0, None), (149.0, None)]
    assert caplog.records[2].getMessage().endswith("(58 more like it left out)")


def test_no_limit_on_what_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    """Answered calls are each logged: they are what is counted."""
    sink = LogSink(warnings_per_minute=1)
    for event in sample_events() * 5:
        sink(event)
    assert sum(fields(record)["event"] == "search_call_answered" for record in caplog.records) == 5


@pytest.mark.parametrize("text", ["a\nprefetch forged=1", "a\u2028b", "a\x1b[31mb", "a=b", "two words", "it's"])
def test_no_text_begins_a_line_or_looks_like_a_field(text: str, caplog: pytest.LogCaptureFixture) -> None:
    """What a tool or a model names itself stays within its quotes."""
    LogSink()(ended(Fate.FAILED, text, tool=text))
    (record,) = caplog.records
    line = record.getMessage()
    assert line.isprintable()
    assert f"tool={text!r} " in line
    assert record.prefetch_reason == text  # type: ignore[attr-defined]


def test_a_long_text_is_cut_in_the_line_alone(caplog: pytest.LogCaptureFixture) -> None:
    """A line stays a line; the field has all of it."""
    LogSink()(ended(Fate.WASTED, "x" * 10_000))
    (record,) = caplog.records
    assert len(record.getMessage()) < 1_000
    assert len(record.prefetch_reason) == 10_000  # type: ignore[attr-defined]


@pytest.mark.parametrize("log_queries", [False, True])
def test_queries_are_logged_only_where_asked(log_queries: bool, caplog: pytest.LogCaptureFixture) -> None:
    """One option decides over query text in events and in logs."""
    agent = with_prefetch(
        created(model(thinks("Lake Baikal"), DONE), [CountingSearch().tool]), tools=["search"], log_queries=log_queries
    )
    agent.prefetch.subscribe(LogSink())
    for _ in agent.stream(GO):
        pass
    ours = [record for record in caplog.records if record.name == LOGGER]
    assert len(ours) > 5
    assert any("Baikal" in f"{record.getMessage()} {vars(record)}" for record in ours) is log_queries


def test_a_logger_that_is_off_costs_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Below its level nothing is formatted, and no warning is used up."""

    class Exploding(str):
        __slots__ = ()

        def __str__(self) -> str:
            raise AssertionError("formatted for nobody")

    event: Event = SpeculationStarted(
        run_id="r",
        step=1,
        at=0.0,
        speculation_id="s",
        tool=Exploding("t"),
        source=Source.SEALED,
        probability=1.0,
        cue="c",
    )
    with caplog.at_level(logging.INFO, LOGGER):
        LogSink()(event)
    assert caplog.records == []


def test_another_logger_can_be_given(caplog: pytest.LogCaptureFixture) -> None:
    """An application has its own tree of loggers."""
    with caplog.at_level(logging.INFO, "app.search"):
        LogSink(logging.getLogger("app.search"))(sample_events()[7])
    assert [record.name for record in caplog.records] == ["app.search"]


def test_no_warnings_at_all_is_not_a_limit() -> None:
    """That is what levels are for."""
    with pytest.raises(ConfigurationError, match="warnings_per_minute must be at least 1"):
        LogSink(warnings_per_minute=0)
