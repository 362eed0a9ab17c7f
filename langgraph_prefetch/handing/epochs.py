"""Handing on what a component tells of the contents that it searches."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from langgraph_prefetch.ports import HasEpoch


class TellsEpoch:
    """Added to a retriever or tool that hands on: it is a :class:`~langgraph_prefetch.ports.HasEpoch`.

    The epoch is that of the component a call of the caller's is meant for, with its name where there are several: equal
    numbers of two components are not the same epoch. A component that tells none stands still.
    """

    handler: Any

    def epoch(self, caller: Any) -> Hashable | None:
        """The component's own."""
        component, name = self.handler.meant_for(getattr(caller, "config", None))
        return _named(component.epoch(caller) if isinstance(component, HasEpoch) else 0, name)

    async def aepoch(self, caller: Any) -> Hashable | None:
        """As ``epoch``, without blocking the event loop."""
        component, name = self.handler.meant_for(getattr(caller, "config", None))
        return _named(await component.aepoch(caller) if isinstance(component, HasEpoch) else 0, name)


def tells_epoch(components: Iterable[object]) -> bool:
    """Whether one or more can tell that what they search has changed."""
    return any(isinstance(each, HasEpoch) for each in components)


def _named(told: Hashable | None, name: str | None) -> Hashable | None:
    return told if told is None or name is None else (name, told)
