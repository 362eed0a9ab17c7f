"""Runs of an experiment, drawn."""

import numpy as np

from langgraph_prefetch.observe.variants import VariantRun

EVEN = {"a": 1.0, "b": 1.0}


def run(variant: str, seconds: float, unit: str | None, number: int = 0) -> VariantRun:
    return VariantRun(run_id=f"{variant}-{unit}-{number}", variant=variant, unit=unit, seconds=seconds)


def drawn(
    chance: np.random.Generator,
    keys: int,
    *,
    change: float = 0.0,
    spread: float = 0.3,
    runs_of_key: int = 1,
    between_keys: float = 0.0,
) -> list[VariantRun]:
    """``keys`` in each of two variants, lognormal about 6 s; ``b`` by ``change`` slower; each key with its own pace."""
    found = []
    for variant, factor in (("a", 1.0), ("b", 1.0 + change)):
        for key in range(keys):
            pace = 6.0 * factor * chance.lognormal(0, between_keys)
            found += [
                run(variant, pace * chance.lognormal(0, spread), f"{variant}{key}", number)
                for number in range(runs_of_key)
            ]
    return found
