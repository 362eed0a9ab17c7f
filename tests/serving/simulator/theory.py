"""What queueing theory says, and the flows it says it of."""

from math import factorial

from langgraph_prefetch.serving.flow.values import END, START, Edge, FlowValues, ServiceTime, Stage


def single(mean: float = 1.0, variation: float = 1.0, **given: object) -> FlowValues:
    """One stage."""
    service = ServiceTime(mean=mean, variation=variation)
    return FlowValues(
        name="single",
        stages=(Stage(name="s", resources={}, service=service, **given),),  # type: ignore[arg-type]
        edges=(Edge(source=START, target="s", probability=1), Edge(source="s", target=END, probability=1)),
    )


def mg1_wait(rate: float, mean: float, variation: float) -> float:
    """Pollaczek and Khinchine: M/G/1; M/M/1 with a variation of 1, M/D/1 with one of 0."""
    load = rate * mean
    return load * mean * (1 + variation**2) / (2 * (1 - load))


def mmc_wait(rate: float, mean: float, servers: int) -> float:
    """Erlang's C formula: M/M/c."""
    offered = rate * mean
    load = offered / servers
    last = offered**servers / factorial(servers) / (1 - load)
    waits = last / (sum(offered**k / factorial(k) for k in range(servers)) + last)
    return waits * mean / (servers - offered)
