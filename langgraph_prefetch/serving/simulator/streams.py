"""Streams that go from one stage to the next in pieces, in simulated time, under the live `Chunker`."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from math import isfinite, nan
from random import Random
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, SimulationError
from langgraph_prefetch.serving.granularity.controller import Chunker, Granularity
from langgraph_prefetch.serving.simulator.results import percentile

try:
    import simpy
except ImportError as error:
    raise MissingExtraError(error.name or "simpy", "serving") from error

Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Streams:
    """Streams that come at random times, and the stage they all go to.

    Attributes:
        rate: streams a second.
        tokens: in each.
        token_seconds: from one to the next.
        piece_seconds: what the next stage takes for a piece, however small.
        each_seconds: and for each token in it.
    """

    rate: float
    tokens: int = 200
    token_seconds: float = 0.02
    piece_seconds: float = 0.001
    each_seconds: float = 0.001

    def capacity(self, size: int) -> float:
        """Streams a second that the next stage keeps up with, in pieces of ``size`` tokens."""
        return size / (self.piece_seconds + size * self.each_seconds) / self.tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamResult:
    """What became of them.

    Attributes:
        throughput: tokens a second that the next stage was done with, while streams came.
        offered: tokens a second that came.
        first_seconds, first_p95_seconds: from a stream's first token to the next stage being done with it.
        mean_piece: tokens in a piece.
        busy: share of the time that the next stage worked.
    """

    throughput: float
    offered: float
    first_seconds: float
    first_p95_seconds: float
    mean_piece: float
    busy: float


def simulate_streams(streams: Streams, granularity: Granularity, *, seconds: float, seed: int = 0) -> StreamResult:
    """Let streams come for ``seconds``. ``granularity`` is the object that serves live; it is changed.

    Raises:
        SimulationError: a value that is not above 0.
    """
    numbers = (
        streams.rate,
        streams.tokens,
        streams.token_seconds,
        streams.piece_seconds + streams.each_seconds,
        seconds,
    )
    if not all(isfinite(each) and each > 0 for each in numbers):
        raise SimulationError("streams need a rate, tokens and times above 0")
    return _Stage(streams, granularity, seed).run(seconds)


class _Stage:
    """The next stage: one piece at a time, first come, first served."""

    def __init__(self, streams: Streams, granularity: Granularity, seed: int) -> None:
        self.env, self.streams, self.granularity = simpy.Environment(), streams, granularity
        self.random = Random(f"streams {seed}")  # noqa: S311 - a simulation, no secret
        self.server = simpy.Resource(self.env)
        self.firsts: list[float] = []
        self.came = self.done = self.pieces = 0
        self.worked = self.looked_at = self.worked_before = 0.0

    def run(self, seconds: float) -> StreamResult:
        self.env.process(self.arrive())
        self.env.run(until=seconds)
        firsts = sorted(self.firsts)
        return StreamResult(
            throughput=self.done / seconds,
            offered=self.came / seconds,
            first_seconds=sum(firsts) / len(firsts) if firsts else nan,
            first_p95_seconds=percentile(firsts, 0.95),
            mean_piece=self.done / self.pieces if self.pieces else nan,
            busy=self.worked / seconds,
        )

    def arrive(self) -> Process:
        while True:
            yield self.env.timeout(self.random.expovariate(self.streams.rate))
            chunker: Chunker[float] = Chunker(self.granularity)
            wake = [self.env.event()]
            self.env.process(self.speak(chunker, wake))
            self.env.process(self.hand_over(chunker, wake))

    def speak(self, chunker: Chunker[float], wake: list[simpy.Event]) -> Process:
        for number in range(self.streams.tokens):
            if number:
                yield self.env.timeout(self.streams.token_seconds)
            chunker.add(float(self.env.now), float(self.env.now))
            self.came += 1
            if number == self.streams.tokens - 1:
                chunker.end()
            if not wake[0].triggered:
                wake[0].succeed()

    def hand_over(self, chunker: Chunker[float], wake: list[simpy.Event]) -> Process:
        left, first = self.streams.tokens, True
        while left:
            piece = chunker.take(float(self.env.now))
            if not piece:
                wake[0] = self.env.event()
                due = chunker.due_in(float(self.env.now))
                yield wake[0] if due is None else wake[0] | self.env.timeout(due)
                continue
            with self.server.request() as turn:
                yield turn
                yield from self.serve(piece)
            if first:
                self.firsts.append(float(self.env.now) - piece[0])
            left, first = left - len(piece), False

    def serve(self, piece: tuple[float, ...]) -> Process:
        seconds = self.streams.piece_seconds + len(piece) * self.streams.each_seconds
        yield self.env.timeout(seconds)
        self.worked += seconds
        self.done += len(piece)
        self.pieces += 1
        self.look()

    def look(self) -> None:
        """The share of the time since the last look that the stage worked."""
        now = float(self.env.now)
        if now > self.looked_at:
            self.granularity.see((self.worked - self.worked_before) / (now - self.looked_at), now)
            self.looked_at, self.worked_before = now, self.worked
