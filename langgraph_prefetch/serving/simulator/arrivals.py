"""When requests come: drawn from a distribution, or as they were recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from random import Random

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.events import RunStarted, StageVisited
from langgraph_prefetch.observe.event_file import read_events

MAX_ARRIVALS = 2_000_000
OUT_OF_ORDER_SECONDS = 1.0
"""Events of several threads may be written out of order by less; a clock that goes back by more has started anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One request that comes in.

    Attributes:
        at: seconds from the start of the simulation.
        deadline_seconds: from then on; None takes the simulation's.
        speculative: nobody asked for it yet.
        features: what is known of it, for the prediction of what it will need.
    """

    at: float
    deadline_seconds: float | None = None
    speculative: bool = False
    features: tuple[float, ...] = ()


def poisson(rate: float, seconds: float, *, seed: int = 0, speculative: bool = False) -> tuple[Arrival, ...]:
    """Requests that know nothing of each other: ``rate`` a second on average.

    Raises:
        SimulationError: a rate or time that is not above 0, or too many requests.
    """
    return bursts(rate, seconds, seed=seed, speculative=speculative)


def bursts(
    rate: float,
    seconds: float,
    *,
    times: float = 1.0,
    every_seconds: float = 60.0,
    burst_seconds: float = 10.0,
    seed: int = 0,
    speculative: bool = False,
) -> tuple[Arrival, ...]:
    """Requests that come ``times`` as often for the first ``burst_seconds`` of ``every_seconds``.

    Args:
        rate: a second, between the bursts.
        seconds: how long they come.
        times: how much more of them come in a burst; 0 for pauses.
        every_seconds: from the start of one burst to that of the next.
        burst_seconds: length of a burst, at most ``every_seconds``.
        seed: of what is drawn.
        speculative: nobody asked for them yet.

    Raises:
        SimulationError: a value out of its range, or too many requests.
    """
    numbers = (rate, seconds, every_seconds)
    if not all(isfinite(each) and each > 0 for each in numbers) or not 0 <= times < inf:
        raise SimulationError(
            "arrivals need a rate, a time and a period above 0, and bursts of 0 or more times the rate"
        )
    if not 0 <= burst_seconds <= every_seconds:
        raise SimulationError(f"a burst of {burst_seconds} s does not fit into {every_seconds} s")
    most = rate * max(times, 1.0)
    if most * seconds > MAX_ARRIVALS:
        raise SimulationError(f"{most * seconds:,.0f} arrivals are more than the {MAX_ARRIVALS:,} that are simulated")
    random, at, found = Random(f"arrivals {seed}"), 0.0, []  # noqa: S311 - a simulation, no secret
    while (at := at + random.expovariate(most)) < seconds:  # thinning (Lewis and Shedler 1979)
        here = rate * times if at % every_seconds < burst_seconds else rate
        if random.random() * most < here:
            found.append(Arrival(at=at, speculative=speculative))
    return tuple(found)


def recorded(paths: Iterable[str | Path], *, times: float = 1.0) -> tuple[Arrival, ...]:
    """Requests as files of events have them: when each run started, or each request first came to a pool.

    Each file starts at 0, as clocks of different processes have nothing in common; the files play side by side.

    Args:
        paths: of files that `JsonlSink` wrote.
        times: plays them so many times as fast.

    Raises:
        EventFileError: a file cannot be read.
        SimulationError: no file has a run, or ``times`` is not above 0.
    """
    if not (isfinite(times) and times > 0):
        raise SimulationError(f"recorded arrivals are played 0 < times < ∞ as fast, not {times}")
    found = [at / times for path in paths for at in _of_file(path)]
    if not found:
        raise SimulationError("no run starts in these files: record with prefetch's JsonlSink, or give a rate")
    return tuple(Arrival(at=at) for at in sorted(found))


def checked(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """The arrivals in the order of time.

    Raises:
        SimulationError: none, too many, or a time that is negative or not finite.
    """
    if not arrivals:
        raise SimulationError("no arrivals to simulate")
    if len(arrivals) > MAX_ARRIVALS:
        raise SimulationError(f"{len(arrivals):,} arrivals are more than the {MAX_ARRIVALS:,} that are simulated")
    for number, each in enumerate(arrivals):
        if not (isfinite(each.at) and each.at >= 0):
            raise SimulationError(f"arrival {number} comes at {each.at} s: times start at 0")
        check_deadline(each.deadline_seconds, f"arrival {number}")
    return sorted(arrivals, key=lambda each: each.at)


def check_deadline(seconds: float | None, whose: str) -> None:
    """Nothing, for None and for times above 0.

    Raises:
        SimulationError: a deadline that lies before its request, or is no number.
    """
    if seconds is not None and not seconds > 0:
        raise SimulationError(
            f"{whose} has {seconds} s until its deadline: that is over before it begins; None for none"
        )


def _of_file(path: str | Path) -> list[float]:
    runs: list[float] = []
    first: dict[str, float] = {}
    for event in read_events(path):
        if isinstance(event, RunStarted):
            runs.append(event.at)
        elif isinstance(event, StageVisited):
            came = event.at - event.waited_seconds - event.service_seconds
            first[event.request_id] = min(came, first.get(event.request_id, inf))
    return _from_zero(runs or sorted(first.values()))


def _from_zero(times: list[float]) -> list[float]:
    """The times from 0 on. Where the clock went back, as after a restart, what follows goes on from there."""
    moved: list[float] = []
    shift = -times[0] if times else 0.0
    for before, at in zip([*times[:1], *times], times, strict=False):
        if at < before - OUT_OF_ORDER_SECONDS:
            shift += before - at
        moved.append(max(0.0, at + shift))
    return moved
