"""A LangGraph store whose writes move an epoch that every process sees."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from langgraph.store.base import BaseStore, Op, PutOp, Result

from langgraph_prefetch.errors import ConfigurationError

ROOT = ("langgraph_prefetch", "epochs")
"""The namespace under which the epochs are kept, beside what they are of."""

KEY = "epoch"

Namespace = tuple[str, ...]
Row = TypeVar("Row")


class EpochStore(BaseStore):
    """A store that marks each write, in the store itself, so that what was read before is known to be out of date.

    A write of an item sets a fresh, random epoch for its namespace and for every one above it (a search reads all
    below), in the same batch and after the item: whoever sees the new epoch sees the item. Two writers need no
    counter in common. The store's own listings and searches leave the epochs out.

    Only writes that go through such a store are marked: compile graphs with it, and wrap the store in every process
    that writes.

    Args:
        inner: any LangGraph store.

    Raises:
        ConfigurationError: not a store, or one that is wrapped already.
    """

    def __init__(self, inner: BaseStore) -> None:
        if not isinstance(inner, BaseStore):
            raise ConfigurationError(f"EpochStore takes a LangGraph store, not {type(inner).__name__}")
        if isinstance(inner, EpochStore):
            raise ConfigurationError("this store marks its writes already: wrap it once")
        self.inner = inner
        self.supports_ttl, self.ttl_config = inner.supports_ttl, inner.ttl_config

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The inner store's, with an epoch for what is written."""
        asked = list(ops)
        return _without_epochs(asked, self.inner.batch([*asked, *_epochs_of(asked)]))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The inner store's, with an epoch for what is written."""
        asked = list(ops)
        return _without_epochs(asked, await self.inner.abatch([*asked, *_epochs_of(asked)]))

    def epoch(self, namespace: Namespace) -> str:
        """Moves with every write below ``namespace``; empty if there was none."""
        return _told(self.inner.get((*ROOT, *namespace), KEY, refresh_ttl=False))

    async def aepoch(self, namespace: Namespace) -> str:
        """:meth:`epoch` without blocking the loop."""
        return _told(await self.inner.aget((*ROOT, *namespace), KEY, refresh_ttl=False))


def _epochs_of(ops: Sequence[Op]) -> list[PutOp]:
    """What marks the writes among ``ops``: in one order whatever theirs, so that two writers never wait in a circle."""
    written = {op.namespace for op in ops if isinstance(op, PutOp)}
    marked = {prefix for namespace in written for prefix in itertools.accumulate((label,) for label in namespace)}
    epoch = uuid.uuid4().hex
    return [PutOp((*ROOT, *prefix), KEY, {"epoch": epoch}, index=False) for prefix in sorted(marked)]


def _without_epochs(asked: Sequence[Op], results: Sequence[Result]) -> list[Result]:
    return [_hidden(result) for result in results[: len(asked)]]


def _hidden(result: Any) -> Any:
    if not isinstance(result, list):
        return result
    return [row for row in result if _namespace(row)[: len(ROOT)] != ROOT]


def _namespace(row: Any) -> Namespace:
    """Of a row of a search, or of one of a listing, which is nothing else."""
    return tuple(getattr(row, "namespace", row))


def _told(item: Any) -> str:
    return "" if item is None else str(item.value.get("epoch", ""))
