"""The acceptance suite of a cache of speculations: its verbs, its bounds, and what holds when all happen at once."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Callable
from typing import Protocol

from langgraph_prefetch.events import Fate
from langgraph_prefetch.keys import RunScope, Scope, SearchKey, search_key, shared_scope
from langgraph_prefetch.ports import Clock
from langgraph_prefetch.speculation.cache import Entry
from langgraph_prefetch.speculation.flight import Flight
from langgraph_prefetch.testing.clock import FakeClock
from langgraph_prefetch.testing.contract import Contract, fixture
from langgraph_prefetch.values import Output, Source, Speculation


class Cache(Protocol):
    """The verbs of :class:`~langgraph_prefetch.speculation.cache.SpeculationCache`."""

    def __len__(self) -> int: ...
    def peek(self, key: SearchKey) -> Entry | None: ...  # noqa: D102
    def begin(self, key: SearchKey, run_id: str, make: Callable[[], Entry]) -> tuple[Entry, bool]: ...  # noqa: D102
    def claim(self, key: SearchKey) -> Entry | None: ...  # noqa: D102
    def put(self, entry: Entry) -> None: ...  # noqa: D102
    def remove(self, entry: Entry) -> bool: ...  # noqa: D102
    def take(self, wanted: Callable[[Entry], bool]) -> tuple[Entry, ...]: ...  # noqa: D102
    def void(self, scope: Scope) -> tuple[Entry, ...]: ...  # noqa: D102


MakeCache = Callable[[int, Clock], Cache]
HERE, THERE = RunScope("here"), shared_scope("there")


def key_of(query: str, scope: Scope = HERE) -> SearchKey:
    """The key of a search for ``query``."""
    return search_key("search", {"query": query}, (), scope)


class Entries:
    """Makes entries and remembers their fates.

    Attributes:
        fates: how each settled speculation ended, in order.
    """

    def __init__(self, clock: Clock, seconds: float = 60.0) -> None:
        self._clock, self._seconds = clock, seconds
        self.fates: list[tuple[Entry, Fate, str]] = []

    def __call__(self, key: SearchKey, *, running: bool = True) -> Entry:
        """A new entry; its retrieval is under way or still queued."""
        now = self._clock()
        speculation = Speculation(
            id=f"s-{key.arguments}",
            tool="search",
            arguments={},
            source=Source.REASONING,
            probability=0.9,
            cue="test",
            run_id="run",
            step=1,
            dispatched_at=now,
        )
        flight = Flight(self._clock)
        if running:
            flight.start()
        return Entry(key, speculation, flight, now + self._seconds, lambda *fate: self.fates.append(fate))

    def of(self, entry: Entry) -> list[Fate]:
        """The fates of one entry."""
        return [fate for each, fate, _ in self.fates if each is entry]


class CacheContract(Contract):
    """Subclass it and give the fixture ``make_cache``: from a size and a clock to an empty cache."""

    @fixture
    def make_cache(self) -> MakeCache:
        """The implementation under test."""
        raise NotImplementedError("give the suite a fixture named make_cache")

    @fixture
    def clock(self) -> FakeClock:
        """The cache's clock."""
        return FakeClock()

    @fixture
    def cache(self, make_cache: MakeCache, clock: FakeClock) -> Cache:
        """A cache of ten entries."""
        return make_cache(10, clock)

    @fixture
    def entries(self, clock: FakeClock) -> Entries:
        """A maker of entries."""
        return Entries(clock)

    def test_one_begins_and_the_next_joins(self, cache: Cache, entries: Entries) -> None:
        """The second who wants the same gets the first one's retrieval, and both are known to want it."""
        key = key_of("a")
        assert cache.peek(key) is None
        first, new = cache.begin(key, "run 1", lambda: entries(key))
        second, again = cache.begin(key, "run 2", lambda: entries(key))
        assert (new, again) == (True, False)
        assert second is first is cache.peek(key)
        assert first.runs == {"run 1", "run 2"}

    def test_a_cancelled_retrieval_is_not_joined(self, cache: Cache, entries: Entries) -> None:
        """Who comes after a cancellation starts afresh."""
        key = key_of("a")
        first, _ = cache.begin(key, "r", lambda: entries(key))
        first.flight.cancel()
        second, new = cache.begin(key, "r", lambda: entries(key))
        assert new
        assert second is not first

    def test_a_claim_takes_the_entry_out(self, cache: Cache, entries: Entries) -> None:
        """A speculation answers one call: of two equal claims one gets it."""
        key = key_of("a")
        entry, _ = cache.begin(key, "r", lambda: entries(key))
        assert cache.claim(key) is entry
        assert cache.claim(key) is None
        assert len(cache) == 0

    def test_put_gives_way_to_a_newer_entry(self, cache: Cache, entries: Entries) -> None:
        """What is put back never displaces what was begun meanwhile."""
        key = key_of("a")
        old, newer = entries(key), entries(key)
        cache.put(newer)
        cache.put(old)
        assert cache.peek(key) is newer

    def test_remove_takes_exactly_that_entry(self, cache: Cache, entries: Entries) -> None:
        """An entry that is there no more cannot take another out with it."""
        key = key_of("a")
        old, newer = entries(key), entries(key)
        cache.put(newer)
        assert not cache.remove(old)
        assert cache.remove(newer)
        assert not cache.remove(newer)

    def test_keys_differ_in_every_part(self, cache: Cache, entries: Entries) -> None:
        """Type of an argument, caller, tool and scope each make another entry."""
        keys = [
            search_key(tool, {"query": value}, caller, scope)
            for tool in ("search", "find")
            for value in (1, True, 1.0, "1", None)
            for caller in ((), ("u2",))
            for scope in (HERE, THERE)
        ]
        for key in keys[:10]:
            assert cache.begin(key, "r", lambda key=key: entries(key))[1]  # type: ignore[misc]
        assert all(cache.peek(key) is None for key in keys[10:])

    def test_void_keeps_to_its_scope(self, cache: Cache, entries: Entries) -> None:
        """Voiding one scope takes all of it and nothing else."""
        here, there = entries(key_of("a", HERE)), entries(key_of("a", THERE))
        cache.put(here)
        cache.put(there)
        assert cache.void(HERE) == (here,)
        assert cache.peek(there.key) is there

    def test_take_takes_what_is_wanted(self, cache: Cache, entries: Entries) -> None:
        """Taken entries are out of the cache; the others stay."""
        a, b = entries(key_of("a")), entries(key_of("b"))
        cache.put(a)
        cache.put(b)
        assert cache.take(lambda entry: entry is a) == (a,)
        assert cache.peek(a.key) is None
        assert cache.peek(b.key) is b

    def test_expiry(self, cache: Cache, entries: Entries, clock: FakeClock) -> None:
        """After its time an entry is gone: wasted if it was ready, cancelled if it still ran."""
        ready, running = entries(key_of("a")), entries(key_of("b"))
        ready.flight.land(Output("found"))
        cache.put(ready)
        cache.put(running)
        clock.pass_(59.9)
        assert len(cache) == 2
        clock.pass_(0.1)
        assert cache.peek(ready.key) is None
        assert (entries.of(ready), entries.of(running)) == ([Fate.WASTED], [Fate.CANCELLED])
        assert running.flight.state == "cancelled"

    def test_capacity(self, cache: Cache, entries: Entries) -> None:
        """The oldest entries give way, each with one fate; the size stays within the limit."""
        made = [entries(key_of(str(number))) for number in range(25)]
        for entry in made:
            cache.put(entry)
        assert len(cache) == 10
        assert [len(entries.of(entry)) for entry in made] == [1] * 15 + [0] * 10

    def test_a_clock_that_never_stands_still(self, make_cache: MakeCache) -> None:
        """An entry that expires in the middle of an operation makes none of them raise."""
        for step in (4.0 / reads for reads in range(1, 25)):
            for number in range(3):
                clock = _Running(step)
                cache, entries = make_cache(10, clock), Entries(clock, seconds=4.0)
                entry = entries(key_of("a"))
                cache.put(entry)
                cache.peek(entry.key)
                if number == 0:
                    cache.remove(entry)
                elif number == 1:
                    cache.claim(entry.key)
                else:
                    cache.take(lambda _: True)
                cache.void(HERE)

    def test_twenty_threads_begin_once(self, cache: Cache, entries: Entries) -> None:
        """Of twenty threads that miss the same key at once exactly one begins."""
        key, ready, begun = key_of("a"), threading.Barrier(20), []

        def begin() -> None:
            ready.wait()
            begun.append(cache.begin(key, "r", lambda: entries(key)))

        _in_threads([begin] * 20)
        assert sum(new for _, new in begun) == 1
        assert len({id(entry) for entry, _ in begun}) == 1

    def test_twenty_tasks_begin_once(self, cache: Cache, entries: Entries) -> None:
        """So it is with tasks."""
        key = key_of("a")

        async def begin() -> bool:
            await asyncio.sleep(0)
            return cache.begin(key, "r", lambda: entries(key))[1]

        async def begin_often() -> int:
            return sum(await asyncio.gather(*(begin() for _ in range(20))))

        assert asyncio.run(begin_often()) == 1

    def test_thirty_two_threads_at_once(self, make_cache: MakeCache) -> None:
        """All operations at once, with entries that live for 10 ms: nothing raises, and the size stays in its limit."""
        cache, entries = make_cache(50, time.monotonic), Entries(time.monotonic, seconds=0.01)
        errors: list[Exception] = []
        sizes: list[int] = []
        until = time.monotonic() + 1.0

        def mix(seed: int) -> None:
            generator = random.Random(seed)  # noqa: S311 - not for secrets
            try:
                while time.monotonic() < until:
                    _one_operation(cache, entries, generator)
                    sizes.append(len(cache))
            except Exception as error:  # noqa: BLE001 - reported below
                errors.append(error)

        _in_threads([lambda seed=seed: mix(seed) for seed in range(32)])  # type: ignore[misc]
        assert errors == []
        assert max(sizes) <= 50
        once = [id(entry) for entry, _, _ in entries.fates]
        assert len(once) == len(set(once))


class _Running:
    """A clock that moves each time it is read."""

    def __init__(self, step: float) -> None:
        self._now, self._step = 0.0, step

    def __call__(self) -> float:
        self._now += self._step
        return self._now


def _one_operation(cache: Cache, entries: Entries, generator: random.Random) -> None:
    key = key_of(str(generator.randrange(80)), generator.choice((HERE, THERE)))
    match generator.randrange(8):
        case 0 | 1 | 2:
            entry, _ = cache.begin(key, "r", lambda: entries(key))
            generator.choice((lambda: entry.flight.land(Output("x")), entry.flight.cancel, lambda: None))()
        case 3:
            cache.claim(key)
        case 4:
            cache.peek(key)
        case 5:
            if (found := cache.peek(key)) is not None:
                cache.remove(found)
        case 6:
            cache.put(entries(key))
        case _:
            for each in cache.void(key.scope):
                each.abandon("void")


def _in_threads(work: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=each) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
