"""Who makes a recorded run: one caller, or a crowd whose calls look alike.

The crowd shares one scope and runs every episode at once, so that only the key stands between a caller and somebody
else's result. Its members differ in one thing each: another user, a ``k`` that is equal in Python but not in type
(``1``, ``True``, ``1.0``, ``"1"``), or one of equal hash (``1`` and ``1 + sys.hash_info.modulus``), given in the
configuration or among the call's arguments. Two members are equal, and so may share.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

LOOKALIKES: tuple[Any, ...] = (1, True, 1.0, "1", 1 + sys.hash_info.modulus)
"""What a careless key takes for one another: the first three are equal, and the last has the hash of the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One caller. ``arguments`` are added to those of every search call it makes."""

    configurable: Mapping[str, Any] = field(hash=False)
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)


def alone(run: int) -> tuple[Member, ...]:
    """The one caller of run number ``run``, in a scope of its own."""
    return (Member(configurable={"run": run}),)


def crowd() -> tuple[Member, ...]:
    """The callers of every run where collisions are injected."""
    first = Member(configurable=_who(user=1, k=1))
    by_user = tuple(Member(configurable=_who(user=user, k=1)) for user in LOOKALIKES[1:])
    by_k = tuple(Member(configurable=_who(user=1, k=k)) for k in LOOKALIKES[1:])
    by_argument = tuple(Member(configurable=_who(user=1, k=1), arguments={"k": k}) for k in LOOKALIKES)
    return (first, first, *by_user, *by_k, *by_argument)


def _who(*, user: Any, k: Any) -> Mapping[str, Any]:
    return {"tenant": "all", "user": user, "k": k}
