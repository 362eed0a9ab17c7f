"""The controls of all tools and scopes of a process: one for each pair, bounded in number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager

from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near.control import Control, Figures
from langgraph_prefetch.near.settings import NearSettings


class Controls:
    """Hands out the control of a tool and scope; safe for threads.

    The least recently used one is forgotten first, and so learns anew: what was lost serves less, never more.
    """

    def __init__(self, settings: NearSettings) -> None:
        self._settings = settings
        self._lock = ForkSafeLock()
        self._held: OrderedDict[tuple[str, Hashable], Control] = OrderedDict()

    @contextmanager
    def of(self, tool: str, scope: Hashable) -> Iterator[Control]:
        """The control of ``tool`` in ``scope``, for a few steps of arithmetic: others wait meanwhile."""
        with self._lock:
            control = self._held.pop((tool, scope), None) or Control(self._settings)
            self._held[tool, scope] = control
            if len(self._held) > self._settings.max_states:
                self._held.popitem(last=False)
            yield control

    def figures(self) -> dict[tuple[str, Hashable], Figures]:
        """What is known of each, most recently used last."""
        with self._lock:
            return {name: control.figures() for name, control in self._held.items()}
