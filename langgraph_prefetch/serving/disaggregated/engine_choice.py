"""Which of several engines takes a request: by session, by shared prefix, by load. No I/O, and no clock of its own.

Live with the base addresses of OpenAI-compatible servers, and in the simulation of their caches, it is the same object.
The prefix is followed in blocks of text, since a client does not know a server's tokens; what an engine really has in
its cache is guessed from what was sent to it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from cachetools import LRUCache

from langgraph_prefetch.errors import ConfigurationError, NoEngineError
from langgraph_prefetch.serving.disaggregated.choice import GATES, Gates, PathLoad, choose_engine

BLOCK_CHARACTERS = 256
RETRY_SECONDS = 30.0
MAX_SESSIONS = 10_000
MAX_BLOCKS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """An engine that takes a request, until `EngineChooser.release`.

    Attributes:
        engine: its name, as it was given; live, its base address.
        characters: of the request.
        shared: characters of its prefix that the engine has seen before.
        session: whose request it is.
        blocks: hashes of the prefix.
        life: how often the engine had failed by then.
        home: the session's engine until then.
    """

    engine: str
    characters: int
    shared: int
    session: str | None
    blocks: tuple[bytes, ...]
    life: int = 0
    home: str | None = None


@dataclass(slots=True)
class _Engine:
    unfinished: float = 0.0
    requests: int = 0
    life: int = 0
    failed_at: float = inf


class EngineChooser:
    """Chooses among engines.

    A request costs an engine what waits there already, and the part of its prompt that the engine has not seen. Of the
    engines that are up and not overloaded the cheapest is taken, and the session's own
    where that is no dearer.

    Args:
        engines: names, or base addresses.
        characters_per_second: that an engine prefills; with ``gates`` it says when one is overloaded.
        gates: see `choose_engine`; where all are overloaded, the one with least to do is taken all the same.
        retry_seconds: how long an engine that failed is skipped.
        max_sessions: that are remembered; the ones longest unused are forgotten.
        max_blocks: of prefixes, of all engines together, likewise.

    Raises:
        ConfigurationError: no engines, one twice, or a number out of its range.
    """

    def __init__(
        self,
        engines: Sequence[str],
        *,
        characters_per_second: float = inf,
        gates: Gates = GATES,
        retry_seconds: float = RETRY_SECONDS,
        max_sessions: int = MAX_SESSIONS,
        max_blocks: int = MAX_BLOCKS,
    ) -> None:
        if not engines or len(set(engines)) < len(engines):
            raise ConfigurationError("a chooser needs engines, each once")
        if not (characters_per_second > 0 and retry_seconds > 0 and max_sessions > 0 and max_blocks > 0):
            raise ConfigurationError("rates, times and sizes are above 0")
        self._engines = {name: _Engine() for name in engines}
        self._rate, self._gates, self._retry_seconds = characters_per_second, gates, retry_seconds
        self._homes: LRUCache[str, str] = LRUCache(max_sessions)
        self._seen: LRUCache[tuple[str, int, bytes], None] = LRUCache(max_blocks)

    def choose(
        self, prompt: str, now: float, *, session: str | None = None, without: frozenset[str] = frozenset()
    ) -> Lease:
        """The engine that takes a request.

        Args:
            prompt: its text, from the beginning; kept as hashes only.
            now: seconds, of any clock; where it goes back, engines that failed are asked again.
            session: whose request it is.
            without: engines that have failed this request.

        Raises:
            NoEngineError: all have failed, within ``retry_seconds``.
        """
        up = [name for name in self._engines if not self._down(name, now) and name not in without]
        if not up:
            raise NoEngineError(len(self._engines), f"each has failed in the last {self._retry_seconds:g} s")
        blocks = _blocks(prompt)
        shared = {name: self._shared(name, blocks, len(prompt)) for name in up}
        loads = [self._load(name) for name in up]
        open_ones = [load for load in loads if not self._gates.overloaded(load)]
        if not open_ones:
            chosen = min(loads, key=lambda load: load.unfinished).name
        else:
            best = choose_engine([_with(load, len(prompt) - shared[load.name]) for load in open_ones])
            assert best is not None
            home = self._homes.get(session) if session is not None else None
            costs = {load.name: load.unfinished + len(prompt) - shared[load.name] for load in open_ones}
            chosen = home if home in costs and costs[home] <= costs[best.name] + BLOCK_CHARACTERS else best.name
        return self._take(chosen, prompt, shared[chosen], session, blocks)

    def release(self, lease: Lease, now: float, *, failed: bool = False, unused: bool = False) -> None:
        """The request is done.

        Args:
            lease: what was chosen.
            now: as in `choose`.
            failed: the engine could not be reached, or is out of order; it is skipped for a while.
            unused: nothing was sent, so that the engine has seen no more than before.
        """
        engine = self._engines[lease.engine]
        engine.unfinished = max(0.0, engine.unfinished - (lease.characters - lease.shared))
        engine.requests -= 1
        if failed:  # it may have started anew: nothing that it had seen counts any more, whoever sent it
            engine.failed_at, engine.life = now, engine.life + 1
        elif unused:
            for block in lease.blocks[lease.shared // BLOCK_CHARACTERS :]:
                self._seen.pop((lease.engine, lease.life, block), None)
        if (failed or unused) and lease.session is not None and self._homes.get(lease.session) == lease.engine:
            self._homes.pop(lease.session)
            if lease.home is not None and not (failed and lease.home == lease.engine):
                self._homes[lease.session] = lease.home

    def busy(self, engine: str) -> int:
        """Requests that it has now."""
        return self._engines[engine].requests

    def _down(self, name: str, now: float) -> bool:
        failed_at = self._engines[name].failed_at
        return failed_at <= now < failed_at + self._retry_seconds

    def _take(self, name: str, prompt: str, shared: int, session: str | None, blocks: tuple[bytes, ...]) -> Lease:
        engine = self._engines[name]
        engine.unfinished += len(prompt) - shared
        engine.requests += 1
        home = None
        if session is not None:
            home, self._homes[session] = self._homes.get(session), name
        for block in reversed(blocks):  # the beginning is forgotten last, for without it the rest is no prefix
            self._seen[name, engine.life, block] = None
        return Lease(
            engine=name,
            characters=len(prompt),
            shared=shared,
            session=session,
            blocks=blocks,
            life=engine.life,
            home=home,
        )

    def _load(self, name: str) -> PathLoad:
        return PathLoad(name=name, unfinished=self._engines[name].unfinished, handle_rate=self._rate)

    def _shared(self, name: str, blocks: tuple[bytes, ...], characters: int) -> int:
        life = self._engines[name].life
        for number, block in enumerate(blocks):
            if (name, life, block) not in self._seen:
                return number * BLOCK_CHARACTERS
        return min(characters, len(blocks) * BLOCK_CHARACTERS)


def _with(load: PathLoad, more: float) -> PathLoad:
    return PathLoad(name=load.name, unfinished=load.unfinished + more)


def _blocks(prompt: str) -> tuple[bytes, ...]:
    """A hash for each whole block, of everything up to its end."""
    running, found = hashlib.blake2b(digest_size=16), []
    for at in range(0, len(prompt) - BLOCK_CHARACTERS + 1, BLOCK_CHARACTERS):
        running.update(prompt[at : at + BLOCK_CHARACTERS].encode("utf-8", "surrogatepass"))
        found.append(running.digest())
    return tuple(found)
