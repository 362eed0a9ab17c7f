"""The queues of a flow in simulated time.

What decides is what decides live: the `Desk` of each pool with its policy, the `Estimates`, and the sizing. Simulated
are only the passing of time and the visits, which take as long as they were drawn. Left out: the network between the
stages, what replicas do to each other on one machine, failures, and callers that give up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from langgraph_prefetch.errors import MissingExtraError, QueueFullError, SimulationError
from langgraph_prefetch.serving.flow.values import FlowValues
from langgraph_prefetch.serving.queueing.desk import MAX_WAITING, Desk
from langgraph_prefetch.serving.queueing.estimates import Estimates, Visit
from langgraph_prefetch.serving.queueing.expectations import expected
from langgraph_prefetch.serving.queueing.policies import DEFAULT_POLICY
from langgraph_prefetch.serving.queueing.sizing import PoolSizing
from langgraph_prefetch.serving.queueing.waiting import QueuePolicy, Waiting
from langgraph_prefetch.serving.simulator.arrivals import Arrival, check_deadline, checked
from langgraph_prefetch.serving.simulator.checks import HasReplicas, checked_flow, pools_of, replicas_of
from langgraph_prefetch.serving.simulator.journeys import Journey, JourneyMaker
from langgraph_prefetch.serving.simulator.pool import SimulatedPool
from langgraph_prefetch.serving.simulator.results import Finished, SimulationResult

try:
    import simpy
except ImportError as error:
    raise MissingExtraError(error.name or "simpy", "serving") from error

Process = Generator[simpy.Event, Any, None]


def simulate(
    flow: FlowValues,
    plan: HasReplicas | Mapping[str, int],
    arrivals: Sequence[Arrival],
    policy: QueuePolicy = DEFAULT_POLICY,
    *,
    seed: int = 0,
    deadline_seconds: float | None = None,
    estimates: Estimates | None = None,
    sizing: PoolSizing | None = None,
    sizing_seconds: float = 10.0,
    shared: Mapping[str, Sequence[str]] | None = None,
    max_waiting: int = MAX_WAITING,
    demand_reserve: int = 0,
    warm_up_seconds: float = 0.0,
    journeys: Iterable[Journey] | None = None,
) -> SimulationResult:
    """Play ``arrivals`` through ``flow`` until the last request has left.

    Args:
        flow: stages, edges and what they were measured to take.
        plan: replicas of each pool; a plan, or stage -> replicas.
        arrivals: when requests come.
        policy: who is served next; the very object that live pools use.
        seed: of the routes and times, the same for every policy: request n is the same request under all of them.
        deadline_seconds: from arrival, for requests without one of their own; None for no deadline.
        estimates: predict what a request still needs, and learn from those that finish; new ones from the flow if None.
        sizing: resizes the pools while they serve; new replicas come after the stage's cold start.
        sizing_seconds: how often it is asked.
        shared: pool -> stages that its replicas serve together, such as two prompts of one model.
        max_waiting: a request that meets a longer queue is refused, which counts as late.
        demand_reserve: places of each pool that speculation never takes.
        warm_up_seconds: requests that come before then are served, and left out of the figures.
        journeys: what each request goes through, one for each arrival, in their order; drawn from the flow if None.

    Raises:
        SimulationError: a flow, plan or arrivals that cannot be simulated; the message names what is wrong.
        ConfigurationError: requests go round for ever, or another value out of its range.
    """
    flow = checked_flow(flow)
    check_deadline(deadline_seconds, "a request")
    if not sizing_seconds > 0:
        raise SimulationError(f"sizing_seconds must be above 0, not {sizing_seconds}")
    if not warm_up_seconds >= 0:
        raise SimulationError(f"warm_up_seconds must be 0 or more, not {warm_up_seconds}")
    world = _World(flow, policy, deadline_seconds, estimates or Estimates(flow))
    world.open(plan, shared or {}, max_waiting=max_waiting, demand_reserve=demand_reserve)
    drawn = iter(journeys) if journeys is not None else map(JourneyMaker(flow, seed).draw, range(len(arrivals)))
    arriving = world.env.process(world.arrive(checked(arrivals), drawn))
    if sizing is not None:
        world.env.process(world.resize(sizing, sizing_seconds))
    world.env.run(until=arriving)
    return world.result(seed, warm_up_seconds)


class _World:
    """The state of one simulation."""

    def __init__(
        self, flow: FlowValues, policy: QueuePolicy, deadline_seconds: float | None, estimates: Estimates
    ) -> None:
        self.env = simpy.Environment()
        self.flow, self.policy = flow, policy
        self.deadline_seconds, self.estimates = deadline_seconds, estimates
        self.pools: dict[str, SimulatedPool] = {}
        self.pool_of: dict[str, SimulatedPool] = {}
        self.finished: list[Finished] = []

    def open(
        self,
        plan: HasReplicas | Mapping[str, int],
        shared: Mapping[str, Sequence[str]],
        *,
        max_waiting: int,
        demand_reserve: int,
    ) -> None:
        stages = {each.name: each for each in self.flow.stages}
        returns = expected(self.flow).returns
        pools = pools_of(self.flow, shared)
        replicas = replicas_of(self.flow, plan, pools)
        for name, members in pools.items():
            first = stages[members[0]]
            desk = Desk(
                name,
                policy=self.policy,
                replicas=replicas[name],
                concurrency=first.concurrency,
                stateful=first.stateful,
                returns=max(returns[each] for each in members),
                max_waiting=max_waiting,
                demand_reserve=demand_reserve,
            )
            cold_start = max(stages[each].cold_start_seconds for each in members)
            self.pools[name] = SimulatedPool(self.env, desk, cold_start)
            self.pool_of.update(dict.fromkeys(members, self.pools[name]))

    def arrive(self, arrivals: Sequence[Arrival], journeys: Iterable[Journey]) -> Process:
        begun, given = [], iter(journeys)
        for number, arrival in enumerate(arrivals):
            journey = next(given, None)
            if journey is None:
                raise SimulationError(f"{number} journeys for {len(arrivals)} arrivals: each needs one")
            if unknown := {step.stage for step in journey.steps} - self.pool_of.keys():
                raise SimulationError(f"journey {number} goes to {min(unknown)!r}, no stage of flow {self.flow.name!r}")
            if arrival.at > self.env.now:
                yield self.env.timeout(arrival.at - self.env.now)
            begun.append(self.env.process(_Request(self, number, arrival, journey).run()))
        yield self.env.all_of(begun)

    def resize(self, sizing: PoolSizing, every: float) -> Process:
        while True:
            yield self.env.timeout(every)
            now = float(self.env.now)
            for name, replicas in sizing.sizes([each.desk.pressure(now) for each in self.pools.values()], now).items():
                if name in self.pools:
                    self.pools[name].resize(replicas)

    def result(self, seed: int, warm_up_seconds: float) -> SimulationResult:
        kept = sorted((e for e in self.finished if e.arrived_at >= warm_up_seconds), key=lambda e: e.number)
        seconds = float(self.env.now)
        return SimulationResult(
            flow=self.flow.name,
            policy=self.policy.name,
            seed=seed,
            seconds=seconds,
            requests=tuple(kept),
            pools=tuple(each.figures() for each in self.pools.values()),
        )


class _Request:
    """One request on its way."""

    def __init__(self, world: _World, number: int, arrival: Arrival, journey: Journey) -> None:
        self.world, self.number, self.arrival, self.journey = world, number, arrival, journey
        self.id = str(number)
        self.at = float(world.env.now)
        seconds = arrival.deadline_seconds if arrival.deadline_seconds is not None else world.deadline_seconds
        self.deadline = None if seconds is None else self.at + seconds
        self.waited = 0.0
        self.visits: list[Visit] = []
        self.refused = False

    def run(self) -> Process:
        world = self.world
        yield from self._all(self.journey.first, 0)
        for pool in world.pools.values():
            if pool.desk.stateful:
                pool.desk.forget(self.id)
        if not self.refused:
            world.estimates.learn(self.visits, self.arrival.features)
        world.finished.append(
            Finished(
                number=self.number,
                arrived_at=self.at,
                finished_at=float(world.env.now),
                deadline=self.deadline,
                visits=len(self.visits),
                waited_seconds=self.waited,
                service_seconds=sum(each.service_seconds for each in self.visits),
                speculative=self.arrival.speculative,
                refused=self.refused,
            )
        )

    def _all(self, places: Sequence[int], visits: int) -> Process:
        while len(places) == 1:  # a chain, however long, is one process
            yield from self._visit(places[0], visits)
            places, visits = () if self.refused else self.journey.steps[places[0]].then, visits + 1
        if places:
            branches = [self.world.env.process(self._all((each,), visits)) for each in places]
            yield self.world.env.all_of(branches)

    def _visit(self, place: int, visits: int) -> Process:
        step, now, estimates = self.journey.steps[place], float(self.world.env.now), self.world.estimates
        features = self.arrival.features
        waiting = Waiting(
            request_id=self.id,
            stage=step.stage,
            arrived_at=self.at,
            queued_at=now,
            deadline=self.deadline,
            remaining_seconds=estimates.remaining(step.stage, visits, features),
            likely_seconds=estimates.likely(step.stage, visits, features),
            service_seconds=estimates.service(step.stage, visits, features),
            visits=visits,
            speculative=self.arrival.speculative,
        )
        try:
            self.waited += yield from self.world.pool_of[step.stage].visit(waiting, step.seconds)
        except QueueFullError:
            self.refused = True
            return
        self.visits.append(Visit(stage=step.stage, visits=visits, service_seconds=step.seconds))
