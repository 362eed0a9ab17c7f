"""Which variant a key gets: stable, without memory, and the same in every process.

A key is hashed together with the experiment's name to a point in [0, 1), and the variants lie there side by side, as
wide as their weights. So one experiment says nothing about another, and a change of weights moves only the keys whose
point changes hands.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from uuid import UUID

from langgraph_prefetch.errors import ConfigurationError, did_you_mean

Key = str | Callable[[Mapping[str, object]], Hashable | None]
"""A name under ``configurable``, or a function of that mapping; texts, whole numbers and UUIDs are keys."""

_POINTS = 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a run was given.

    Attributes:
        experiment, variant: their names.
        key: what it was told by, as text; None: there was none, and the variant is the default.
    """

    experiment: str
    variant: str
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Variants with weights, and the key that tells a run's.

    Attributes:
        name: also the salt: under another name the same keys are dealt out anew.
        weights: of each variant, in any unit, 0 or more; their order is the order in which they lie side by side.
        key: from the run's own trusted ``configurable`` values to who is assigned: a user, a tenant, a thread.
        default: the variant of runs without a key; the first if None.
    """

    name: str
    weights: Mapping[str, float]
    key: Key = "thread_id"
    default: str | None = None

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ConfigurationError("an experiment needs a name: keys are dealt out by it")
        if not isinstance(self.weights, Mapping) or len(self.weights) < 1:
            raise ConfigurationError(f"weights takes a number for each variant's name, not {self.weights!r}")
        for variant, weight in self.weights.items():
            if not variant or not isinstance(variant, str):
                raise ConfigurationError(f"a variant has a name, not {variant!r}")
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
                raise ConfigurationError(f"the weight of {variant!r} is a number from 0, not {weight!r}")
        if not any(self.weights.values()):
            raise ConfigurationError("all weights are 0: some variant must get the runs")
        if not isinstance(self.key, str) and not callable(self.key):
            raise ConfigurationError(f"key takes a name under configurable or a function of it, not {self.key!r}")
        if self.default is not None and self.default not in self.weights:
            raise ConfigurationError(
                f"default={self.default!r} is none of the variants: {', '.join(self.weights)}."
                f"{did_you_mean(self.default, self.weights)}"
            )

    def assign(self, configurable: Mapping[str, object]) -> Assignment:
        """The variant of a run. Never raises: a run without a usable key gets the default, and says so."""
        key = self._key_in(configurable)
        if key is None:
            variant = self.default if self.default is not None else next(iter(self.weights))
            return Assignment(experiment=self.name, variant=variant, key=None)
        return Assignment(experiment=self.name, variant=self.variant_of(key), key=str(key))

    def variant_of(self, key: str | int | UUID) -> str:
        """The variant of a key."""
        point = _point(self.name, key) * math.fsum(self.weights.values())
        reached = 0.0
        last = ""
        for variant, weight in self.weights.items():
            if weight <= 0:
                continue
            reached, last = reached + weight, variant
            if point < reached:
                break
        return last

    def _key_in(self, configurable: Mapping[str, object]) -> str | int | UUID | None:
        try:
            found = configurable.get(self.key) if isinstance(self.key, str) else self.key(configurable)
        except Exception:  # noqa: BLE001 - a key that cannot be told is none
            return None
        usable = isinstance(found, str | int | UUID) and not isinstance(found, bool) and found != ""
        return found if usable else None  # type: ignore[return-value]


def _point(name: str, key: str | int | UUID) -> float:
    """In [0, 1): the first 64 bits of SHA-256, which are uniform and the same everywhere. Types are told apart."""
    kind = "int" if isinstance(key, int) else "uuid" if isinstance(key, UUID) else "str"
    text = str(int(key)) if isinstance(key, int) else str(key)
    told = json.dumps([name, kind, text], ensure_ascii=True).encode()
    # 53 bits are what a float holds: more of them could round up to 1.
    return (int.from_bytes(hashlib.sha256(told).digest()[:8], "big") >> 11) / (_POINTS >> 11)
