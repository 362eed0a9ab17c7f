"""Who waits at a pool of replicas, and which replica serves whom. No clock and no I/O: times are passed in.

The live pools and the simulator both run this very object; they differ only in how time passes and in what is done
while a replica is busy.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.errors.serving import QueueFullError
from langgraph_prefetch.events import StagePressure
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting

MAX_WAITING = 1_024
MAX_RESIDENTS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """A request that a replica serves, from ``began_at`` on."""

    waiting: Waiting
    replica: int
    began_at: float


@dataclass(slots=True, kw_only=True)
class _Replica:
    number: int
    busy: int = 0
    retiring: bool = False
    residents: set[str] = field(default_factory=set)


class Desk:
    """The queue of one pool and its replicas.

    Args:
        name: of the pool, for errors.
        policy: who is next.
        replicas: at the start.
        concurrency: visits that one replica serves at once.
        stateful: a request returns to the replica that served it first, until `forget`.
        returns: how likely a request comes back, which counts as load of the replica that it would return to.
        max_waiting: demand beyond is refused; speculation is refused from half of it on.
        demand_reserve: places that speculation never takes, so that demand finds them free.

    Raises:
        ConfigurationError: a value out of its range.
    """

    def __init__(
        self,
        name: str,
        *,
        policy: QueuePolicy,
        replicas: int = 1,
        concurrency: int = 1,
        stateful: bool = False,
        returns: float = 0.0,
        max_waiting: int = MAX_WAITING,
        demand_reserve: int = 0,
    ) -> None:
        if concurrency < 1 or max_waiting < 1 or demand_reserve < 0:
            raise ConfigurationError(f"pool {name!r}: concurrency and max_waiting start at 1, demand_reserve at 0")
        self.name, self.policy, self.stateful = name, policy, stateful
        self._concurrency, self._max_waiting, self._reserve = concurrency, max_waiting, demand_reserve
        self._returns = returns
        self._waiting: list[Waiting] = []
        self._replicas: dict[int, _Replica] = {}
        self._home: dict[str, int] = {}
        self._numbers = self._busy = 0
        # Replicas with room, by how many visits they have; where there are thousands, none is looked at in vain.
        self._open: list[dict[int, _Replica]] = [{} for _ in range(concurrency)]
        self._staying = 0
        self._arrived = self._served = self._refused = 0
        self.resize(replicas)

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Who waits, in the order they came."""
        return tuple(self._waiting)

    @property
    def busy(self) -> int:
        """Visits under way."""
        return self._busy

    @property
    def replicas(self) -> tuple[int, ...]:
        """Numbers of the replicas that take new requests."""
        return tuple(each.number for each in self._replicas.values() if not each.retiring)

    @property
    def numbers(self) -> tuple[int, ...]:
        """Numbers of all replicas, those included that are on their way out."""
        return tuple(self._replicas)

    @property
    def places(self) -> int:
        """Visits that can be under way at once."""
        return self._staying * self._concurrency

    def join(self, waiting: Waiting) -> None:
        """A request begins to wait.

        Raises:
            QueueFullError: too many wait already.
        """
        room = self._max_waiting // 2 if waiting.speculative else self._max_waiting
        if len(self._waiting) >= room:
            self._refused += 1
            raise QueueFullError(self.name, room)
        self._arrived += 1
        self._waiting.append(waiting)

    def leave(self, waiting: Waiting) -> bool:
        """It waits no longer. False: it did not wait."""
        place = self._place(waiting)
        if place is None:
            return False
        del self._waiting[place]
        return True

    def serve(self, now: float) -> Serving | None:
        """Begin the next visit; None where nobody waits or nobody who waits can be served now."""
        eligible = self._eligible() if self._waiting else []
        if not eligible:
            return None
        place = self.policy.choose(eligible, now)
        chosen = eligible[place]
        if chosen.speculative and self._reserve and self._free_places() <= self._reserve:
            return None  # whoever was chosen over demand does not exist: no demand can be served now
        if eligible is not self._waiting:
            place = self._place(chosen) or 0
        del self._waiting[place]
        replica = self._replica_for(chosen)
        self._take(replica, 1)
        if self.stateful and chosen.request_id not in self._home:
            self._settle(chosen.request_id, replica)
        return Serving(waiting=chosen, replica=replica.number, began_at=now)

    def done(self, serving: Serving) -> None:
        """A visit is over, however it ended."""
        self._served += 1
        replica = self._replicas.get(serving.replica)
        if replica is not None:  # None: it was lost meanwhile
            self._take(replica, -1)
            self._retire(replica)

    def forget(self, request_id: str) -> None:
        """The request has left the flow: its replica need not be kept for it."""
        home = self._home.pop(request_id, None)
        if home is not None and home in self._replicas:
            self._replicas[home].residents.discard(request_id)
            self._retire(self._replicas[home])

    def resize(self, replicas: int) -> None:
        """So many replicas from now on. Those too many serve what they have begun, and their residents, and go.

        Raises:
            ConfigurationError: fewer than 0.
        """
        if replicas < 0:
            raise ConfigurationError(f"pool {self.name!r}: {replicas} replicas; there are 0 or more")
        staying = [each for each in self._replicas.values() if not each.retiring]
        for each in self._replicas.values():  # one that was on its way out is there already: it stays
            if each.retiring and len(staying) < replicas:
                each.retiring = False
                staying.append(each)
                self._staying += 1
                self._take(each, 0)
        while len(staying) < replicas:
            staying.append(_Replica(number=self._numbers))
            self._replicas[self._numbers] = staying[-1]
            self._numbers += 1
            self._staying += 1
            self._take(staying[-1], 0)
        for each in sorted(staying, key=self._load)[: len(staying) - replicas]:
            each.retiring = True
            self._staying -= 1
            self._take(each, 0)
            self._retire(each)

    def lost(self, replica: int) -> None:
        """A replica is gone; whoever would return to it is served by another."""
        gone = self._replicas.pop(replica, None)
        if gone is None:
            return
        self._staying -= not gone.retiring
        gone.retiring = True
        self._take(gone, -gone.busy)
        for request_id in gone.residents:
            self._home.pop(request_id, None)

    def pressure(self, now: float) -> StagePressure:
        """How hard pressed the pool is; what is counted is counted from the last time this was asked."""
        told = StagePressure(
            at=now,
            pool=self.name,
            replicas=self._staying,
            places=self.places,
            busy=self.busy,
            waiting=len(self._waiting),
            speculative=sum(each.speculative for each in self._waiting),
            oldest_seconds=max(0.0, now - self._waiting[0].queued_at) if self._waiting else 0.0,
            arrived=self._arrived,
            served=self._served,
            refused=self._refused,
        )
        self._arrived = self._served = self._refused = 0
        return told

    def _eligible(self) -> list[Waiting]:
        open_to_all = any(self._open)
        if not self._home:
            return self._waiting if open_to_all else []
        return [each for each in self._waiting if self._servable(each, open_to_all)]

    def _servable(self, waiting: Waiting, open_to_all: bool) -> bool:
        home = self._home.get(waiting.request_id)
        return open_to_all if home is None else self._replicas[home].busy < self._concurrency

    def _take(self, replica: _Replica, visits: int) -> None:
        """So many more visits for it, or fewer; and its place among those with room."""
        if replica.busy < self._concurrency:
            self._open[replica.busy].pop(replica.number, None)
        replica.busy += visits
        self._busy += visits
        if replica.busy < self._concurrency and not replica.retiring:
            self._open[replica.busy][replica.number] = replica

    def _place(self, waiting: Waiting) -> int | None:
        return next((place for place, each in enumerate(self._waiting) if each is waiting), None)

    def _settle(self, request_id: str, replica: _Replica) -> None:
        if len(self._home) >= MAX_RESIDENTS:  # requests that never said they left
            self.forget(next(iter(self._home)))
        self._home[request_id] = replica.number
        replica.residents.add(request_id)

    def _replica_for(self, chosen: Waiting) -> _Replica:
        home = self._home.get(chosen.request_id)
        if home is not None:
            return self._replicas[home]
        if self.stateful:
            return min((each for room in self._open for each in room.values()), key=self._load)
        return next(each for room in self._open for each in room.values())

    def _load(self, replica: _Replica) -> tuple[float, int]:
        """Visits under way and those that residents are predicted to make."""
        return replica.busy + self._returns * len(replica.residents), replica.number

    def _free_places(self) -> int:
        return sum((self._concurrency - busy) * len(room) for busy, room in enumerate(self._open))

    def _retire(self, replica: _Replica) -> None:
        if replica.retiring and not replica.busy and not replica.residents:
            del self._replicas[replica.number]
