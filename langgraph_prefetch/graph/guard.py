"""Between our failures and the agent."""

from __future__ import annotations

from langgraph_prefetch.prefetcher import PrefetchEngine


class Guard:
    """Keeps an exception of ours from the host, and makes it seen. Cancellation and exits pass.

    Args:
        engine: counts and logs it.
        where: what was being done, for the log.
    """

    __slots__ = ("_engine", "_where")

    def __init__(self, engine: PrefetchEngine, where: str) -> None:
        self._engine, self._where = engine, where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        self._engine.trouble(self._where, error)
        return True
