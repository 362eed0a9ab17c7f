"""The near misses of all runs of one prefetcher: which tools have them, and what is known of each."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import Context
from typing import TYPE_CHECKING

from langgraph_prefetch.errors import EmbedderMismatchError
from langgraph_prefetch.events import NearTierChanged
from langgraph_prefetch.graph.near.runs import RunNear
from langgraph_prefetch.graph.near.trust import NEEDED, Change, Trust
from langgraph_prefetch.graph.near.view import View
from langgraph_prefetch.graph.near.viewed import Viewed, in_thread
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.near.control import Figures
from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.reach import EVERYWHERE
from langgraph_prefetch.speculation.session import Session

if TYPE_CHECKING:
    from langgraph_prefetch.prefetcher import PrefetchEngine

MAX_CHECKED = 1_024
NOT_AS_STATED = "the tool's results are not what render makes of the source's"
_REASONS: dict[Change, str] = {
    "trusted": f"the tool's results were what render makes of the source's {NEEDED} times",
    "lost": NOT_AS_STATED,
    "closed": f"{NOT_AS_STATED}, {NEEDED} times",
}


class NearMisses:
    """A :class:`~langgraph_prefetch.prefetcher.nearness.Nearness`. Safe for threads.

    Args:
        engine: whose runs these are.
    """

    def __init__(self, engine: PrefetchEngine) -> None:
        self.engine = engine
        self.views: dict[str, View] = {}
        self.controls: dict[str, Controls] = {}
        self.seconds: dict[str, float] = {}
        self._lock = ForkSafeLock()
        self._trust = Trust()
        self._checked: dict[Hashable, None] = {}
        self._closed: dict[str, str] = {}
        self._state: dict[tuple[str, Hashable], Figures] = {}

    def take(self, view: View) -> None:
        """A tool was taken in, possibly anew."""
        self.controls.setdefault(view.name, Controls(view.settings))
        self.views = {**self.views, view.name: view}

    def begin(self, session: Session) -> RunNear | None:
        """A run begins."""
        return RunNear(self, session) if self.views else None

    # --- is a tool what its user says?

    def trusts(self, viewed: Viewed) -> bool:
        """Whether enough of the tool's results were seen to be what ``render`` makes of the source's."""
        with self._lock:
            return self._trust.holds(viewed.trust)

    def may_serve(self, viewed: Viewed) -> bool:
        """Whether any ranking could be served now: the tool is trusted, and a tier may answer."""
        if not self.trusts(viewed):
            return False
        with self.controls[viewed.view.name].of(viewed.view.name, viewed.scope) as control:
            return viewed.may_prove or control.serves(EVERYWHERE, proved=False) is not None

    def closed(self, viewed: Viewed) -> bool:
        """Nothing is fetched or answered any more for this tool and caller."""
        with self._lock:
            return viewed.view.name in self._closed or self._trust.is_closed(viewed.trust)

    def compared(self, viewed: Viewed, *, equal: bool) -> None:
        """One of the tool's results was compared with what ``render`` makes of the source's own answer."""
        with self._lock:
            change = self._trust.note(viewed.trust, equal=equal)
        if change is None:
            return
        self._changed(viewed.view.name, "all", open=change == "trusted", reason=_REASONS[change])
        if change == "closed":
            self.engine.warn_once(
                f"near misses of {viewed.view.name}",
                "%s: its results are not what NearMiss(render=…) makes of what NearMiss(source=…, k=…) finds, so none "
                "is answered; a near miss needs a plain search for the k passages nearest to the query",
            )

    def close_tool(self, name: str, reason: str) -> None:
        """The tool's near misses cannot be answered at all."""
        with self._lock:
            if name in self._closed:
                return
            self._closed[name] = reason
        self._changed(name, "all", open=False, reason=reason)
        self.engine.warn_once(f"near misses of {name}: {reason}", "%s are not answered: %s")

    # --- does the embedder speak the source's language?

    def check_once(self, viewed: Viewed, check: Callable[[], None]) -> None:
        """Run ``check`` unless it was, for this tool and caller.

        Raises:
            EmbedderMismatchError: what it raises.
        """
        if self._begin_check(viewed):
            check()

    def check_soon(self, viewed: Viewed, check: Callable[[], None], context: Context) -> None:
        """:meth:`check_once` on a thread of its own."""
        if not self._begin_check(viewed):
            return

        def run() -> None:
            try:
                check()
            except EmbedderMismatchError as error:
                self.close_tool(viewed.view.name, str(error))
            except Exception as error:  # noqa: BLE001 - a failure of the user's embedder is a miss
                self.engine.trouble("near check", error)

        in_thread(run, context)

    def _begin_check(self, viewed: Viewed) -> bool:
        with self._lock:
            if viewed.trust in self._checked:
                return False
            self._checked[viewed.trust] = None
            if len(self._checked) > MAX_CHECKED:
                del self._checked[next(iter(self._checked))]
            return True

    # --- what is learned

    def took(self, tool: str, seconds: float) -> None:
        """A real search of the tool took so long."""
        before = self.seconds.get(tool)
        self.seconds[tool] = seconds if before is None else before + 0.1 * (seconds - before)

    def figures(self, viewed: Viewed) -> Figures | None:
        """What is known of the tool's traffic in this scope; a change of it is told."""
        name = viewed.view.name
        now = self.controls[name].figures().get((name, viewed.scope))
        if now is None:
            return None
        with self._lock:
            before = self._state.get((name, viewed.scope))
            self._state[name, viewed.scope] = now
            if len(self._state) > MAX_CHECKED:
                del self._state[next(iter(self._state))]
        was_open = before is not None and before.state == "open"
        alarms = now.alarms - (before.alarms if before is not None else 0)
        if (now.state == "open") != was_open or alarms:
            reason = (
                "too many were wrong" if alarms else "enough is known" if now.state == "open" else "too few were right"
            )
            self._changed(name, "likely", open=now.state == "open", reason=reason, threshold=now.threshold)
        return now

    def _changed(self, tool: str, tier: str, *, open: bool, reason: str, threshold: float | None = None) -> None:  # noqa: A002
        self.engine.events(
            NearTierChanged(
                at=self.engine.shared.clock(), tool=tool, tier=tier, open=open, reason=reason, threshold=threshold
            )
        )
