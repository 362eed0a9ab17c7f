"""Every kind of event."""

from __future__ import annotations

from langgraph_prefetch.events.near import (
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
)
from langgraph_prefetch.events.next_calls import (
    NextCallEnded,
    NextCallIgnored,
    NextCallStarted,
)
from langgraph_prefetch.events.runs import (
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationJoined,
    SpeculationStarted,
    StepEnded,
    StepStarted,
    Trouble,
)
from langgraph_prefetch.events.serving import (
    BreakerMoved,
    ComponentCalled,
    ComponentWarmed,
    PipelineEnded,
    StagePressure,
    StageVisited,
)
from langgraph_prefetch.events.variants import VariantAssigned

Event = (
    RunStarted
    | StepStarted
    | StepEnded
    | SpeculationStarted
    | SpeculationJoined
    | SpeculationIgnored
    | SpeculationEnded
    | SearchCallAnswered
    | NextCallStarted
    | NextCallIgnored
    | NextCallEnded
    | NearFetched
    | NearIgnored
    | NearAnswered
    | NearChecked
    | NearTierChanged
    | VariantAssigned
    | StageVisited
    | StagePressure
    | ComponentCalled
    | BreakerMoved
    | PipelineEnded
    | ComponentWarmed
    | RunEnded
    | Trouble
)

OfNoRun = (
    NearTierChanged
    | StageVisited
    | StagePressure
    | ComponentCalled
    | BreakerMoved
    | PipelineEnded
    | ComponentWarmed
    | Trouble
)
"""Kinds that belong to the process and to no run of an agent."""
