"""One frozen event per step of the machine, and the hub that hands them to sinks.

Times ``at`` are seconds of the prefetcher's clock. Query text is left out (None) unless ``log_queries`` is set.
"""

from langgraph_prefetch.events.hub import (
    EventHub,
    EventSink,
)
from langgraph_prefetch.events.kinds import Event, OfNoRun
from langgraph_prefetch.events.near import (
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
)
from langgraph_prefetch.events.next_calls import (
    NextCallEnded,
    NextCallFate,
    NextCallIgnored,
    NextCallStarted,
)
from langgraph_prefetch.events.runs import (
    DRY_RUN,
    Fate,
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

__all__ = [
    "DRY_RUN",
    "BreakerMoved",
    "ComponentCalled",
    "ComponentWarmed",
    "Event",
    "EventHub",
    "EventSink",
    "Fate",
    "NearAnswered",
    "NearChecked",
    "NearFetched",
    "NearIgnored",
    "NearTierChanged",
    "NextCallEnded",
    "NextCallFate",
    "NextCallIgnored",
    "NextCallStarted",
    "OfNoRun",
    "PipelineEnded",
    "RunEnded",
    "RunStarted",
    "SearchCallAnswered",
    "SpeculationEnded",
    "SpeculationIgnored",
    "SpeculationJoined",
    "SpeculationStarted",
    "StagePressure",
    "StageVisited",
    "StepEnded",
    "StepStarted",
    "Trouble",
    "VariantAssigned",
]
