"""What a flow does under load, before it is paid for: the queues and policies of the live pools in simulated time."""

from langgraph_prefetch.serving.simulator.arrivals import Arrival, bursts, poisson, recorded
from langgraph_prefetch.serving.simulator.journeys import Journey, journey
from langgraph_prefetch.serving.simulator.results import Finished, PoolFigures, SimulationResult
from langgraph_prefetch.serving.simulator.run import simulate

__all__ = [
    "Arrival",
    "Finished",
    "Journey",
    "PoolFigures",
    "SimulationResult",
    "bursts",
    "journey",
    "poisson",
    "recorded",
    "simulate",
]
