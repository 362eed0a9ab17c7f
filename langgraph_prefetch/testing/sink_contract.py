"""The acceptance suite of event sinks."""

from __future__ import annotations

import threading
from typing import Any, get_args

from langgraph_prefetch.events import (
    BreakerMoved,
    ComponentCalled,
    ComponentWarmed,
    Event,
    EventHub,
    EventSink,
    Fate,
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
    NextCallEnded,
    NextCallFate,
    NextCallIgnored,
    NextCallStarted,
    PipelineEnded,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationJoined,
    SpeculationStarted,
    StagePressure,
    StageVisited,
    StepEnded,
    StepStarted,
    Trouble,
    VariantAssigned,
)
from langgraph_prefetch.testing.contract import Contract, fixture
from langgraph_prefetch.values import Source


def sample_events(run_id: str = "run-1") -> tuple[Event, ...]:
    """One run's events, every kind at least once, in an order in which they may come."""
    about: dict[str, Any] = {"run_id": run_id, "step": 1, "tool": "search", "source": Source.REASONING}
    name = f"{run_id}-1"
    weighed: dict[str, Any] = {"run_id": run_id, "step": 2, "guesses": "stale", "p_equal": 0.8, "saved_seconds": 0.5}
    seconds = {"waited": 0.1, "retrieval": 0.5, "lead": 0.4, "hideable": 0.4, "hidden": 0.4}
    answered: dict[str, Any] = {f"{each}_seconds": value for each, value in seconds.items()}
    return (
        RunStarted(run_id=run_id, at=1.0),
        StepStarted(run_id=run_id, step=1, at=1.1),
        SpeculationStarted(**about, at=1.3, speculation_id=name, probability=0.9, cue="en.need_to"),
        SpeculationJoined(**about, at=1.4, speculation_id=name),
        SpeculationIgnored(**about, at=1.5, reason="budget: per_run"),
        StepEnded(run_id=run_id, step=1, at=1.6, pieces=12),
        SpeculationEnded(**about, at=1.8, speculation_id=name, fate=Fate.SERVED, reason="late", seconds=0.5),
        SearchCallAnswered(**about, **answered, at=1.8, call_id="call_1", speculation_id=name, late=True, reason=""),
        NextCallIgnored(**weighed, at=1.85, reason="next call: budget: per_run"),
        NextCallStarted(**weighed, at=1.85, next_call_id=f"{run_id}-2"),
        NextCallEnded(
            run_id=run_id,
            step=2,
            at=1.88,
            next_call_id=f"{run_id}-2",
            fate=NextCallFate.CANCELLED,
            reason="the request differs",
            seconds=0.03,
            wasted_input_tokens=100,
            wasted_output_tokens=5,
        ),
        NextCallStarted(**weighed, at=1.88, next_call_id=f"{run_id}-3"),
        NextCallEnded(
            run_id=run_id,
            step=2,
            at=1.89,
            next_call_id=f"{run_id}-3",
            fate=NextCallFate.ADOPTED,
            reason="the request is the same",
            seconds=0.01,
            hidden_seconds=0.01,
        ),
        NearFetched(
            run_id=run_id,
            step=1,
            at=1.6,
            tool="search",
            kind="thought",
            passages=500,
            bytes=768_000,
            seconds=0.2,
            exact=True,
        ),
        NearIgnored(run_id=run_id, step=1, at=1.6, tool="search", kind="name", reason="budget: neighbourhoods_per_run"),
        NearAnswered(
            run_id=run_id,
            step=1,
            at=1.8,
            tool="search",
            served=True,
            tier="likely",
            reason="",
            passages=900,
            seconds=0.02,
            reach=0.4,
        ),
        NearChecked(
            run_id=run_id,
            step=1,
            at=1.89,
            tool="search",
            served=True,
            wrong=False,
            audited=40,
            audited_wrong=0,
            low=0.0,
            high=0.0881,
            state="open",
            known=400,
            needed=700,
        ),
        NearTierChanged(at=1.89, tool="search", tier="likely", open=False, reason="too many were wrong"),
        VariantAssigned(run_id=run_id, at=1.0, experiment="reranker", variant="with", unit="0a1b2c"),
        StageVisited(
            at=1.9, request_id=f"{run_id}-4", stage="grade", visit=3, waited_seconds=0.1, service_seconds=0.2, round=2
        ),
        StagePressure(
            at=1.9,
            pool="grade",
            replicas=2,
            places=4,
            busy=3,
            waiting=5,
            speculative=1,
            oldest_seconds=0.4,
            arrived=9,
            served=7,
            refused=0,
            cpu_share=1.6,
            memory_bytes=200_000_000,
        ),
        ComponentCalled(
            at=1.9,
            gateway="grader",
            component="large",
            outcome="degraded",
            seconds=0.3,
            waited_seconds=0.1,
            first_token_seconds=0.2,
            pipeline="answer",
            variant="new",
            reason="ConnectError",
            cost="0.00125",
        ),
        BreakerMoved(at=1.9, gateway="grader", component="large", state="opened"),
        PipelineEnded(at=1.9, pipeline="answer", seconds=1.2, calls=4, degraded=1, failed=1, cost="0.004"),
        ComponentWarmed(at=1.9, component="large", cause="intent", seconds=2.5),
        Trouble(at=1.9, where="token", error="ValueError"),
        RunEnded(run_id=run_id, at=2.0, idle=False),
    )


class EventSinkContract(Contract):
    """Subclass it and give the fixture ``sink``."""

    @fixture
    def sink(self) -> EventSink:
        """The implementation under test."""
        raise NotImplementedError("give the suite a fixture named sink")

    def test_every_kind_of_event_is_taken(self, sink: EventSink) -> None:
        """No event makes the sink raise, or the hub would drop it."""
        assert {type(event) for event in sample_events()} == set(get_args(Event))
        for event in sample_events():
            sink(event)

    def test_events_out_of_order_are_taken(self, sink: EventSink) -> None:
        """A sink may be subscribed in the middle of a run, and runs overlap."""
        for event in reversed(sample_events()):
            sink(event)

    def test_many_threads_at_once(self, sink: EventSink) -> None:
        """Events come from the threads of models, tools and retrievals."""
        hub, dropped = EventHub(), []
        hub.subscribe(sink)

        def send(number: int) -> None:
            for _ in range(20):
                for event in sample_events(f"run-{number}"):
                    try:
                        sink(event)
                    except Exception as error:  # noqa: BLE001 - whatever it is, the hub would drop the sink
                        dropped.append(error)

        threads = [threading.Thread(target=send, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert dropped == []
