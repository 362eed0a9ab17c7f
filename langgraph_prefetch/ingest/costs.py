"""What a run costs, by a formula fitted to what its batches took.

    T ≈ max( Nα/(bP) + Nβ/P of the slowest stage, Nγ ) + Ω

``N`` items in requests of ``b``, ``P`` of them at once: ``α`` seconds a request, ``β`` seconds an item, ``Ω`` seconds
for the rest. The stages of an ingestion overlap, so that the slowest of them is the run. What they cannot overlap is
what each needs of the one interpreter that runs them all: ``γ`` seconds an item, all stages together, once they are
warm; what their first calls cost more is part of ``Ω``. The interpreter is one more resource, and the resource that an
item needs longest sets the pace (the bottleneck law: Denning and Buzen, "The Operational Analysis of Queueing Network
Models", ACM Computing Surveys 10:3, 1978).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError

try:
    import numpy as np
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("numpy", "ingest") from error


OWN_SECONDS = 0.002
"""What a request costs us at least, however fast the embedder answers: two hand-overs between busy threads."""
_HARDLY = 1.05
"""What is so many times slower is hardly slower."""
SHARED = "shared"
"""In place of a stage's name: what all stages need, the interpreter."""
_HEADROOM = 2.0
"""So many times the pace that is to be kept up with: requests vary, and a batch waits for its slowest."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One request, or one batch of a stage: how many items it had and how many seconds it took."""

    items: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StageCost:
    """What one stage costs.

    Attributes:
        alpha: seconds per request.
        beta: seconds per item.
        error: how far the fit is off, as the root mean square of its residuals over the mean time; 0.1 is 10 %.
        samples: how many timings it was fitted to.
    """

    alpha: float
    beta: float
    error: float
    samples: int

    def request_seconds(self, items: float) -> float:
        """One request's time."""
        return self.alpha + self.beta * items

    def seconds(self, items: int, batch: int, workers: int) -> float:
        """``items`` in requests of ``batch``, ``workers`` of them at once: Nα/(bP) + Nβ/P."""
        return items * self.alpha / (batch * workers) + items * self.beta / workers

    def __str__(self) -> str:
        return (
            f"α {self.alpha * 1e3:.2f} ms a request, β {self.beta * 1e6:.1f} µs an item "
            f"(off by {self.error:.0%} over {self.samples})"
        )


def fit(timings: Sequence[Timing]) -> StageCost:
    """The ``α`` and ``β``, neither below 0, with the least squared error over the timings; all 0 for none.

    With two unknowns, non-negative least squares is the free fit if that is not negative, or else the better of the two
    with one unknown (Lawson and Hanson, "Solving Least Squares Problems", 1974).
    """
    if not timings:
        return StageCost(alpha=0.0, beta=0.0, error=0.0, samples=0)
    items = np.array([each.items for each in timings], dtype=np.float64)
    seconds = np.array([each.seconds for each in timings], dtype=np.float64)
    columns = np.stack([np.ones_like(items), items], axis=1)
    candidates: list[NDArray[np.floating[Any]]] = []
    if len(set(items.tolist())) > 1:
        free = np.linalg.lstsq(columns, seconds, rcond=None)[0]
        if (free >= 0).all():
            candidates.append(free)
    if not candidates:
        candidates = [
            np.array([seconds.mean(), 0.0]),
            np.array([0.0, float(items @ seconds) / max(float(items @ items), 1.0)]),
        ]
    # For requests of one size both fit alike; what is paid per item is then the safer guess.
    best = min(reversed(candidates), key=lambda each: round(float(((columns @ each - seconds) ** 2).sum()), 15))
    off = float(np.sqrt(((columns @ best - seconds) ** 2).mean()))
    mean = float(seconds.mean())
    return StageCost(alpha=float(best[0]), beta=float(best[1]), error=off / mean if mean else 0.0, samples=len(timings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """How a stage was run: items per request, and requests at once."""

    batch: int
    workers: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CostModel:
    """What an ingestion costs, stage by stage.

    Attributes:
        stages: what each costs, by its name.
        loads: how each was run.
        omega: seconds that the slowest does not explain, for ``items`` items.
        items: how many passages it was fitted to.
        shared: γ, the seconds that all stages together take of the interpreter for an item.
    """

    stages: Mapping[str, StageCost]
    loads: Mapping[str, Load]
    omega: float
    items: int
    shared: float = 0.0

    def slowest(self, items: int, loads: Mapping[str, Load] | None = None) -> str:
        """The stage that sets the pace; ``SHARED`` where that is the interpreter, of which all stages need some."""
        found = max(self.stages, key=lambda name: self._stage_seconds(name, items, loads), default="embed")
        return SHARED if self.shared * items > self._stage_seconds(found, items, loads) else found

    def predict(self, items: int, loads: Mapping[str, Load] | None = None) -> float:
        """Seconds for ``items`` passages, run as ``loads`` say; as they were, where nothing is said."""
        return self._stage_seconds(self.slowest(items, loads), items, loads) + self.omega

    def error(self, items: int, seconds: float, loads: Mapping[str, Load] | None = None) -> float:
        """How far a prediction is from what a run took: 0.2 is 20 %."""
        return abs(self.predict(items, loads) - seconds) / seconds if seconds else 0.0

    def per_item(self, name: str) -> float:
        """Seconds that a stage takes per passage, as it was run."""
        return self._stage_seconds(name, self.items, None) / self.items if self.items else 0.0

    def _stage_seconds(self, name: str, items: int, loads: Mapping[str, Load] | None) -> float:
        if name == SHARED:
            return self.shared * items
        load = (loads or {}).get(name) or self.loads.get(name) or Load(batch=1, workers=1)
        return self.stages[name].seconds(items, load.batch, load.workers) if name in self.stages else 0.0

    def __str__(self) -> str:
        lines = [
            f"{name:<6} {cost}, b {self.loads[name].batch}, P {self.loads[name].workers}"
            for name, cost in self.stages.items()
        ]
        lines.append(f"{SHARED:<6} γ {self.shared * 1e6:.1f} µs an item, of the interpreter that all stages share")
        return "\n".join([*lines, f"Ω      {self.omega * 1e3:.0f} ms; the slowest is {self.slowest(self.items)}"])

    def explain(self) -> str:
        """The model in lines, and why as many writers were at work as there were."""
        return f"{self}\n{self._of_writers()}"

    def _of_writers(self) -> str:
        load = self.loads.get("upsert")
        if load is None or not self.items:
            return "writers: nothing was written"
        each = self.per_item("upsert") * load.workers
        names = [name for name in (*self.stages, SHARED) if name != "upsert"]
        other = max(names, key=self.per_item, default=SHARED)
        pace = self.per_item(other)
        now, more = max(each / load.workers, pace), max(each / (load.workers + 1), pace)
        saved = 1 - more / now if now else 0.0
        return (
            f"writers: {load.workers}; a passage takes one {each * 1e6:.1f} µs, and {pace * 1e6:.1f} µs of the slowest "
            f"other, {other}: one more would save {saved:.0%}"
        )


def model_of(
    timings: Mapping[str, Sequence[Timing]],
    loads: Mapping[str, Load],
    *,
    items: int,
    seconds: float,
    shared: float = 0.0,
) -> CostModel:
    """The model of a run that took ``seconds`` for ``items``, and ``shared`` seconds of the interpreter."""
    stages = {name: fit(each) for name, each in timings.items()}
    # Where native code of an embedder is counted in, it may be more than the run; no more can be what did not overlap.
    each = min(shared, seconds) / items if items else 0.0
    bare = CostModel(stages=stages, loads=dict(loads), omega=0.0, items=items, shared=each)
    omega = max(seconds - bare.predict(items), 0.0)
    return CostModel(stages=stages, loads=dict(loads), omega=omega, items=items, shared=each)


def writers_for(upsert: float, others: float, most: int) -> int:
    """The fewest writers that are hardly slower than ``most``, by the model.

    Args:
        upsert: seconds a passage takes one writer.
        others: seconds it takes of the slowest of everything else, which more writers do not speed up.
        most: how many there may be.
    """
    best = max(upsert / most, others)
    return next((count for count in range(1, most) if max(upsert / count, others) <= _HARDLY * best), most)


def choose(cost: StageCost, *, pace: float, max_batch: int, max_workers: int) -> Load:
    """The smallest requests that cost hardly more than the largest, and twice as many at once as keep up with ``pace``.

    Args:
        cost: what a request costs.
        pace: seconds per item of the stage that is to be kept up with; 0 for as fast as possible.
        max_batch: most items in a request.
        max_workers: most requests at once.

    Raises:
        ConfigurationError: a limit is below 1.
    """
    if max_batch < 1 or max_workers < 1:
        raise ConfigurationError(f"limits must be at least 1, not {max_batch} and {max_workers}")
    alpha = max(cost.alpha, OWN_SECONDS)
    least = alpha / max_batch + cost.beta
    sizes = (size for power in range(6, 31) if (size := 2**power) < max_batch)
    batch = next((size for size in sizes if alpha / size + cost.beta <= 1.1 * least), max_batch)
    each = alpha / batch + cost.beta
    workers = math.ceil(min(_HEADROOM * each / pace, max_workers)) if pace > 0 else max_workers
    return Load(batch=batch, workers=max(workers, 1))
