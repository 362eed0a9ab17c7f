"""Pools of threads for boto3's blocking calls, which work in a forked child too."""

from __future__ import annotations

import os
import weakref

from langgraph_prefetch.aws.threads import Threads

_pools: weakref.WeakSet[Threads] = weakref.WeakSet()


def pool(name: str, size: int) -> Threads:
    """At most ``size`` threads, started as they are needed; a forked child starts its own."""
    made = Threads(f"langgraph-prefetch-{name}", size)
    _pools.add(made)
    return made


def _after_fork() -> None:
    for each in list(_pools):
        each.after_fork()


os.register_at_fork(after_in_child=_after_fork)
