"""The callback handler that hears a run's tokens without owning its stream."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage

from langgraph_prefetch.graph.caller import ambient_config, running_loop, user_configurable
from langgraph_prefetch.graph.conversation import question_in, results_in
from langgraph_prefetch.graph.current import current_run
from langgraph_prefetch.graph.guard import Guard
from langgraph_prefetch.graph.hearing import Hearing, streams_anyway
from langgraph_prefetch.graph.streaming_models import why_not_auto
from langgraph_prefetch.intent.stream import deltas_of_chunk, deltas_of_event
from langgraph_prefetch.prefetcher import PrefetchEngine, Run
from langgraph_prefetch.values import Delta, TextDelta

MAX_OPEN_RUNS = 1_000
MAX_KNOWN_IDS = 10_000

_MIDDLEWARE_HOOKS = (".before_agent", ".before_model", ".after_model", ".after_agent")
_TAPS = ("tap_output_aiter", "tap_output_iter")

_makes_model_stream: ContextVar[StreamListener | None] = ContextVar(
    "langgraph_prefetch_makes_model_stream", default=None
)
"""The listener that makes the present model call stream. Its own affair: another one must not switch it off."""


class StreamListener(BaseCallbackHandler):
    """Hears one graph's model calls.

    langchain-core streams a model under plain ``invoke`` if a handler passes ``isinstance`` of its streaming protocol.
    Passing always would turn streaming on for every model, and make runnables that stream hand this handler their
    output in place of the host's own; so it passes only in the context of a model call that is to be streamed.

    Args:
        engine: told what is heard.
        run: the run all of it belongs to; None to open one for each root run heard (the handler may then be shared).
        loop: the event loop the run is on, if it is async.
        outer: listeners of the graphs around the one listened to; they leave what runs in it alone.
    """

    run_inline = True  # in order, on the thread that streams
    raise_error = False
    ignore_retriever = True

    def __init__(
        self,
        engine: PrefetchEngine,
        run: Run | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
        outer: Iterable[StreamListener] = (),
    ) -> None:
        self.engine = engine
        self._run, self._loop = run, loop
        self._outer = tuple(outer)
        self._lock = threading.Lock()
        self._roots: OrderedDict[UUID, UUID] = OrderedDict()
        self._runs: OrderedDict[UUID, Run] = OrderedDict()
        self._elsewhere: OrderedDict[UUID, None] = OrderedDict()
        self._models: OrderedDict[UUID, Hearing] = OrderedDict()

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What ``isinstance`` is told; see the class's docstring."""
        return _Tapping if _makes_model_stream.get() is self else StreamListener

    def __getattr__(self, name: str) -> Any:
        if name in _TAPS and _makes_model_stream.get() is self:
            return _pass_through
        raise AttributeError(name)

    def run_of(self, run_id: UUID | None) -> Run | None:
        """The run that ``run_id`` (of any chain, model or tool in it) belongs to."""
        if self._run is not None or run_id is None:
            return self._run
        with self._lock:
            return self._runs.get(self._roots.get(run_id, run_id))

    def is_elsewhere(self, run_id: UUID | None) -> bool:
        """Models below ``run_id`` are not the agent's own: they run in a tool, or in a graph wrapped by itself."""
        return run_id in self._elsewhere

    def leave_alone(self, run_id: UUID) -> None:
        """Models in this chain are not the agent's own: a graph that is wrapped by itself hears them."""
        with self._lock:
            self._elsewhere[run_id] = None
            _keep_last(self._elsewhere, MAX_KNOWN_IDS)

    # --- what runs inside what

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A chain or graph begins; the first one heard is the graph listened to."""
        outer, self._outer = self._outer, ()
        for listener in outer:
            listener.leave_alone(run_id)
        self._enter(run_id, parent_run_id, tool=False)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """A tool begins: models inside it are not the agent's own."""
        self._enter(run_id, parent_run_id, tool=True)

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A chain or graph ended."""
        self._leave(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A chain or graph failed."""
        self._leave(run_id)

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool ended."""
        self._leave(run_id)

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A tool failed."""
        self._leave(run_id)

    # --- what a model says

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A chat model is called."""
        self._stop_forcing()
        if self._is_not_the_agents(parent_run_id, metadata):
            return
        with self._guard("model start"):
            forced = self._forces(serialized, kwargs.get("invocation_params") or {})
            self._begin(run_id, parent_run_id, messages[0] if messages else [], forced=forced)
            if forced:
                _makes_model_stream.set(self)

    def on_llm_start(
        self,
        serialized: dict[str, Any],
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        metadata: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """A plain text model is called."""
        if not self._is_not_the_agents(parent_run_id, metadata):
            with self._guard("model start"):
                self._begin(run_id, parent_run_id, [], forced=False)

    def on_llm_new_token(self, token: Any, *, run_id: UUID, chunk: Any = None, **kwargs: Any) -> None:
        """A chunk of a model's stream. Bedrock and Anthropic give ``token`` as a list of blocks."""
        hearing = self._models.get(run_id)
        if hearing is None or not hearing.takes("chunks"):
            return
        try:  # what a Guard does, at no cost for a token that goes well
            message = getattr(chunk, "message", None)
            if message is not None:
                deltas = deltas_of_chunk(message)
            else:
                deltas = (TextDelta(token),) if isinstance(token, str) and token else ()
            self._hear(run_id, hearing, deltas)
        except Exception as error:  # noqa: BLE001 - a failure of ours is a miss
            self.engine.trouble("token", error)

    def on_stream_event(self, event: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """An event of the streaming protocol (v3)."""
        hearing = self._models.get(run_id)
        if hearing is None or not hearing.takes("events"):
            return
        with self._guard("stream event"):
            self._hear(run_id, hearing, deltas_of_event(event))

    def on_llm_end(self, response: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """A model call ended."""
        self._stop_forcing()
        hearing = self._forget(run_id)
        if hearing is not None:
            with self._guard("model end"):
                hearing.restore(response)
                hearing.run.end_step(run_id)
        self._leave(run_id)  # called outside any chain, the model is a run of its own

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """A model call failed: what it said goes with it."""
        self._stop_forcing()
        hearing = self._forget(run_id)
        if hearing is not None:
            with self._guard("model error"):
                hearing.run.drop_step(run_id)
        self._leave(run_id)

    # --- the shell behind

    def _guard(self, where: str) -> Guard:
        return Guard(self.engine, where)

    def _hear(self, run_id: UUID, hearing: Hearing, deltas: tuple[Delta, ...]) -> None:
        if deltas:
            if hearing.forced:
                hearing.note(deltas)
            hearing.run.hear(run_id, deltas, hearing.caller)

    def _forces(self, serialized: Mapping[str, Any], invocation: Mapping[str, Any]) -> bool:
        """True if this model call streams because of us, and only because of us."""
        wanted = self.engine.options.force_streaming
        if not wanted or not self.engine.enabled or not self.engine.tools:
            return False
        callbacks = (ambient_config() or {}).get("callbacks")
        others = [each for each in getattr(callbacks, "handlers", ()) if each is not self]
        if streams_anyway(others, serialized, invocation):
            return False
        reason = why_not_auto(serialized, invocation, undoes_partial_calls=True) if wanted == "auto" else None
        if reason is not None:
            self.engine.leave_plain(reason)
        return reason is None

    def _stop_forcing(self) -> None:
        if _makes_model_stream.get() is self:
            _makes_model_stream.set(None)

    def _is_not_the_agents(self, parent_run_id: UUID | None, metadata: Mapping[str, Any] | None) -> bool:
        node = str((metadata or {}).get("langgraph_node", ""))
        return parent_run_id in self._elsewhere or node.endswith(_MIDDLEWARE_HOOKS)

    def _enter(self, run_id: UUID, parent_run_id: UUID | None, *, tool: bool) -> None:
        with self._lock:
            if tool or parent_run_id in self._elsewhere:
                self._elsewhere[run_id] = None
                _keep_last(self._elsewhere, MAX_KNOWN_IDS)
            if self._run is None:
                self._roots[run_id] = self._roots.get(parent_run_id, run_id) if parent_run_id else run_id
                _keep_last(self._roots, MAX_KNOWN_IDS)

    def _leave(self, run_id: UUID) -> None:
        with self._lock:
            self._elsewhere.pop(run_id, None)
            self._roots.pop(run_id, None)
            run = self._runs.pop(run_id, None)
        if run is not None:
            with self._guard("run end"):
                run.close()

    def _begin(
        self, run_id: UUID, parent_run_id: UUID | None, messages: Sequence[BaseMessage], *, forced: bool
    ) -> None:
        run = self._run or current_run(self.engine) or self._run_for(run_id, parent_run_id)
        with self._lock:
            self._models[run_id] = Hearing(run, forced=forced, loop=self._loop or running_loop())
            _keep_last(self._models, MAX_OPEN_RUNS)
        run.begin_step(run_id, question_in(messages), results_in(messages), self._models[run_id].caller)

    def _run_for(self, run_id: UUID, parent_run_id: UUID | None) -> Run:
        root = self._roots.get(parent_run_id, parent_run_id) if parent_run_id is not None else run_id
        with self._lock:
            run = self._runs.get(root)
            if run is None:
                run = self._runs[root] = self.engine.open_run(user_configurable(ambient_config()))
            dropped = _keep_last(self._runs, MAX_OPEN_RUNS)
        for each in dropped:
            each.close()
        return run

    def _forget(self, run_id: UUID) -> Hearing | None:
        with self._lock:
            return self._models.pop(run_id, None)


class _Tapping(StreamListener):
    """The class a listener seems to have while a model is asked whether it should stream."""

    def tap_output_aiter(self, run_id: UUID, output: AsyncIterator[Any]) -> AsyncIterator[Any]:
        return output

    def tap_output_iter(self, run_id: UUID, output: Iterator[Any]) -> Iterator[Any]:
        return output


def _pass_through(run_id: UUID, output: Any) -> Any:
    return output


def _keep_last(held: OrderedDict[UUID, Any], limit: int) -> list[Any]:
    dropped = []
    while len(held) > limit:
        dropped.append(held.popitem(last=False)[1])
    return dropped
