"""Hears which nodes the runs of a graph go through, and how long each takes."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler

from langgraph_prefetch.events import EventHub, EventSink, StageVisited
from langgraph_prefetch.locks import ForkSafeLock

MAX_OPEN = 10_000
_ROUND_TAG = "graph:step:"
_PAUSE = "GraphBubbleUp"
"""What the host raises to interrupt a run, by name: only the graph room imports the host."""


@dataclass(slots=True, kw_only=True)
class _Open:
    root: UUID
    stage: str
    round: int
    began_at: float


class VisitRecorder(BaseCallbackHandler):
    """Tells a sink of each visit of a node: ``graph.invoke(…, config={"callbacks": [VisitRecorder(sink)]})``.

    Nodes of the outermost graph only: a subgraph is one stage, that of the node it is in. A visit that pauses (an
    interrupt) is left out; the run that resumes it counts as a request of its own. Each attempt of a node that is
    retried is a visit. One recorder may hear any number of runs, from any thread; it changes nothing in them.

    Args:
        sink: takes a `StageVisited` for each, such as a `JsonlSink` or a `Recording`. One that raises is dropped, and
            said so once.
        clock: seconds.
    """

    run_inline = True  # in order, on the thread of the run: a visit's time is not that of a thread pool
    raise_error = False
    ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self, sink: EventSink, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = EventHub(), clock
        self._tell.subscribe(sink)
        self._lock = ForkSafeLock()
        self._root: OrderedDict[UUID, UUID] = OrderedDict()
        self._visits: OrderedDict[UUID, int] = OrderedDict()
        self._open: OrderedDict[UUID, _Open] = OrderedDict()

    def on_chain_start(
        self,
        serialized: dict[str, Any],
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A run, a node, or something within a node begins."""
        round_ = _round_of(tags or ())
        name = kwargs.get("name")
        with self._lock:
            if round_ is None or not isinstance(name, str):
                if _outermost(parent_run_id, metadata):
                    self._visits[run_id] = 0
                    self._root[run_id] = run_id
            elif parent_run_id is not None and parent_run_id in self._root:
                root = self._root[parent_run_id]
                self._open[run_id] = _Open(root=root, stage=name, round=round_, began_at=self._clock())
            for kept in (self._root, self._visits, self._open):
                while len(kept) > MAX_OPEN:  # runs whose end was never told
                    kept.popitem(last=False)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """It ended."""
        self._ended(run_id, failed=False)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """It raised."""
        paused = any(kind.__name__ == _PAUSE for kind in type(error).__mro__)
        self._ended(run_id, failed=True, counts=not paused)

    def _ended(self, run_id: UUID, *, failed: bool, counts: bool = True) -> None:
        with self._lock:
            self._root.pop(run_id, None)
            self._visits.pop(run_id, None)
            visit = self._open.pop(run_id, None)
            if visit is None or not counts:
                return
            at = self._clock()
            number = self._visits.get(visit.root, 0) + 1
            if visit.root in self._visits:
                self._visits[visit.root] = number
        self._tell(
            StageVisited(
                at=at,
                request_id=visit.root.hex,
                stage=visit.stage,
                visit=number,
                waited_seconds=0.0,
                service_seconds=max(0.0, at - visit.began_at),
                failed=failed,
                round=visit.round,
            )
        )


def _outermost(parent_run_id: UUID | None, metadata: Mapping[str, Any] | None) -> bool:
    """A run that is in no node: of a graph, or of something around one."""
    return parent_run_id is None or "langgraph_node" not in (metadata or {})


def _round_of(tags: Sequence[str]) -> int | None:
    for tag in tags:
        if tag.startswith(_ROUND_TAG) and tag[len(_ROUND_TAG) :].isdigit():
            return int(tag[len(_ROUND_TAG) :])
    return None
