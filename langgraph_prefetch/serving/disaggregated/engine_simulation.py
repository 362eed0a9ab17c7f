"""Sessions on simulated engines with prefix caches: what `EngineChooser`, the very object that works live, is worth.

An engine prefills one request after the other, at a rate; what it has prefilled stays in its cache until newer text
takes the room. Decoding, batches and failures are left out: the time to the first token is waiting and prefill.
"""

from __future__ import annotations

import random
from collections import OrderedDict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import fmean, quantiles
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, SimulationError
from langgraph_prefetch.serving.disaggregated.engine_choice import BLOCK_CHARACTERS, EngineChooser

try:
    import simpy
except ImportError as error:
    raise MissingExtraError(error.name or "simpy", "serving") from error

Process = Generator[simpy.Event, Any, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """What comes in. Sizes in characters, times in seconds.

    Attributes:
        number: of sessions, which begin at random, ``per_second`` on average.
        turns: of a session, each one after the answer to the last and a pause of ``pause_seconds`` on average.
        shared: prefix of all sessions, such as a system prompt.
        first: of a session's own first message.
        appended: by each turn.
    """

    number: int = 60
    per_second: float = 0.5
    turns: int = 8
    pause_seconds: float = 1.0
    shared: int = 4_096
    first: int = 16_384
    appended: int = 1_024

    def __post_init__(self) -> None:
        if min(self.number, self.turns, self.first, self.appended) < 1 or self.shared < 0:
            raise SimulationError("sessions, turns and sizes start at 1, shared at 0")
        if not (self.per_second > 0 and self.pause_seconds >= 0):
            raise SimulationError("per_second must be above 0, pause_seconds 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineResult:
    """How soon the first tokens came.

    Attributes:
        mean_seconds: to the first token.
        p95_seconds: to the first token.
        cached_share: of all characters, those that the engine had already.
    """

    mean_seconds: float
    p95_seconds: float
    cached_share: float


def simulate_engines(
    engines: Sequence[str],
    sessions: Sessions,
    *,
    chooser: EngineChooser | None,
    characters_per_second: float = 20_000.0,
    cache_characters: int = 1_000_000,
    seed: int = 0,
) -> EngineResult:
    """Play the sessions.

    Args:
        engines: names.
        sessions: what comes in.
        chooser: of these engines; None: they take turns.
        characters_per_second: that an engine prefills.
        cache_characters: that an engine keeps.
        seed: of arrivals and pauses, the same whatever chooses.

    Raises:
        SimulationError: no engines, or a rate or size that is not above 0.
    """
    if not engines or not characters_per_second > 0 or cache_characters < 1:
        raise SimulationError("needs engines, and rates and sizes above 0")
    world = _World(engines, chooser, characters_per_second, cache_characters)
    world.env.process(world.arrive(sessions, random.Random(seed)))  # noqa: S311  a simulation
    world.env.run()
    return EngineResult(
        mean_seconds=fmean(world.waits),
        p95_seconds=quantiles(world.waits, n=20)[18] if len(world.waits) > 1 else world.waits[0],
        cached_share=world.cached / world.asked,
    )


class _World:
    def __init__(self, engines: Sequence[str], chooser: EngineChooser | None, rate: float, room: int) -> None:
        self.env = simpy.Environment()
        self.chooser, self.rate, self.room = chooser, rate, room // BLOCK_CHARACTERS
        self.turns = cycle(engines)
        self.free_at = dict.fromkeys(engines, 0.0)
        self.caches: dict[str, OrderedDict[str, None]] = {name: OrderedDict() for name in engines}
        self.waits: list[float] = []
        self.cached = self.asked = 0

    def arrive(self, sessions: Sessions, chance: random.Random) -> Process:
        for number in range(sessions.number):
            yield self.env.timeout(chance.expovariate(sessions.per_second))
            pauses = [chance.expovariate(1.0) * sessions.pause_seconds for _ in range(sessions.turns)]
            self.env.process(self._session(number, sessions, pauses))

    def _session(self, number: int, sessions: Sessions, pauses: Sequence[float]) -> Process:
        name = f"{number:08d}"
        prompt = "s" * sessions.shared + (name * (sessions.first // 8 + 1))[: sessions.first]
        for pause in pauses:
            begun = self.env.now
            lease = None if self.chooser is None else self.chooser.choose(prompt, begun, session=name)
            engine = next(self.turns) if lease is None else lease.engine
            known = self._lookup(engine, prompt)
            self.cached, self.asked = self.cached + known, self.asked + len(prompt)
            self.free_at[engine] = max(self.free_at[engine], begun) + (len(prompt) - known) / self.rate
            yield self.env.timeout(self.free_at[engine] - begun)
            if lease is not None and self.chooser is not None:
                self.chooser.release(lease, self.env.now)
            self.waits.append(float(self.env.now - begun))
            prompt += (name * (sessions.appended // 8 + 1))[: sessions.appended]
            yield self.env.timeout(pause)

    def _lookup(self, engine: str, prompt: str) -> int:
        """Characters of the prefix that are cached; afterwards all of it is."""
        cache, known, whole, block = self.caches[engine], 0, True, ""
        for at in range(BLOCK_CHARACTERS, len(prompt) + 1, BLOCK_CHARACTERS):
            block = f"{at}:{hash((block, prompt[at - BLOCK_CHARACTERS : at]))}"
            whole = whole and block in cache
            known = at if whole else known
            cache[block] = None
            cache.move_to_end(block)
        while len(cache) > self.room:
            cache.popitem(last=False)
        return known
