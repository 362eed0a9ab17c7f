"""A lock that a forked child can take."""

from __future__ import annotations

import os
import threading
import weakref


class ForkSafeLock:
    """Mutual exclusion for a ``with`` block; not re-entrant.

    A fork copies locks as they are. One that another thread held at that moment would stay locked in the child, where
    that thread does not exist; this one is free there.
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _all.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def make_anew(self) -> None:
        """In a forked child: nobody holds it."""
        self._lock = threading.Lock()


_all: weakref.WeakSet[ForkSafeLock] = weakref.WeakSet()


def _after_fork() -> None:
    for lock in list(_all):
        lock.make_anew()


os.register_at_fork(after_in_child=_after_fork)
