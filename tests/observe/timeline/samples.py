"""Runs made of events, with every fate in them."""

import random
from collections.abc import Iterator

from langgraph_prefetch.events import (
    Event,
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
)
from langgraph_prefetch.values import Source

REASONS = {
    Fate.SERVED: "ready",
    Fate.WASTED: "run ended",
    Fate.FAILED: "its tool gave it up",
    Fate.CANCELLED: "tool write_note ran",
}
PLANS: tuple[list[Fate], ...] = (
    [Fate.SERVED],
    [Fate.WASTED, Fate.SERVED],
    [Fate.CANCELLED, Fate.SERVED],
    [Fate.FAILED],
    [Fate.SERVED],
    [],
)


def run_events(
    run_id: str = "run-1", steps: int = 10, *, at: float = 1_000.0, seed: int = 1, query: str | None = "bridge"
) -> list[Event]:
    """One run; step n follows the n-th of `PLANS`, round and round."""
    dice = random.Random(seed)
    events: list[Event] = [RunStarted(run_id=run_id, at=at)]
    now = at + 0.01
    for step in range(1, steps + 1):
        made = list(_step(run_id, step, now, PLANS[(step - 1) % len(PLANS)], dice, query))
        events += made
        now = max(event.at for event in made) + 0.02
    return [*events, RunEnded(run_id=run_id, at=now, idle=False)]


def _step(
    run_id: str, step: int, at: float, plan: list[Fate], dice: random.Random, query: str | None
) -> Iterator[Event]:
    ended, retrieval = at + dice.uniform(1.5, 3.5), dice.uniform(0.3, 0.9)
    yield StepStarted(run_id=run_id, step=step, at=at)
    started: dict[str, tuple[float, Fate]] = {}
    for number, fate in enumerate(plan, start=1):
        name, begun = f"{run_id}-{step}.{number}", at + (ended - at) * dice.uniform(0.3, 0.8)
        started[name] = begun, fate
        yield SpeculationStarted(
            run_id=run_id,
            step=step,
            at=begun,
            speculation_id=name,
            tool="search",
            source=Source.REASONING,
            probability=0.8,
            cue="en.need_to",
            query=query and f"{query} {step}",
        )
        yield SpeculationJoined(
            run_id=run_id, step=step, at=begun + 0.1, speculation_id=name, tool="search", source=Source.SEALED
        )
    yield SpeculationIgnored(
        run_id=run_id, step=step, at=at + 1.0, tool="search", source=Source.REASONING, reason="budget: per_run"
    )
    slices = (*[0] * 4, *(dice.randrange(2, 9) for _ in range(16)), *[0] * 4)
    yield StepEnded(
        run_id=run_id, step=step, at=ended, pieces=sum(slices) + 6, slices=slices, call_at=at + (ended - at) * 20 / 24
    )
    served = next((name for name, (_, fate) in started.items() if fate is Fate.SERVED), None)
    begun = started[served][0] if served else ended
    waited = max(0.002, begun + retrieval - ended)
    hidden = retrieval - waited if served else 0.0
    yield SearchCallAnswered(
        run_id=run_id,
        step=step,
        at=ended + waited,
        call_id=f"call-{step}",
        tool="search",
        source=Source.REASONING if served else None,
        speculation_id=served,
        late=waited > 0.01 and served is not None,
        reason="" if served else "nothing speculated",
        waited_seconds=waited,
        retrieval_seconds=retrieval,
        lead_seconds=ended - begun,
        hideable_seconds=hidden,
        hidden_seconds=hidden,
        query=query and f"{{'query': '{query} {step}'}}",
    )
    for name, (begun, fate) in started.items():
        yield SpeculationEnded(
            run_id=run_id,
            step=step,
            at=max(begun, ended) + waited,
            speculation_id=name,
            tool="search",
            source=Source.REASONING,
            fate=fate,
            reason=REASONS[fate],
            seconds=retrieval if fate in (Fate.SERVED, Fate.WASTED) else 0.2,
        )
