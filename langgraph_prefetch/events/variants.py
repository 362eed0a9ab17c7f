"""Which variant of an experiment a run was given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantAssigned:
    """A run asked for the first time which variant it gets.

    Attributes:
        experiment, variant: their names.
        unit: stands for the key it was told by; of equal keys equal within one process. None: the run had no key, and
            the variant is the default.
    """

    run_id: str
    at: float
    experiment: str
    variant: str
    unit: str | None = None
