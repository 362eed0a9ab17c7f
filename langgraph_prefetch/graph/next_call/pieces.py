"""What a model gives while it is called in private: its stream, and what it told its run manager, in one order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import (
    AsyncCallbackManagerForLLMRun,
    BaseCallbackHandler,
    CallbackManagerForLLMRun,
)

from langgraph_prefetch.graph.said import Dispatched, Listening, Written


@dataclass(frozen=True, slots=True)
class Given:
    """A chunk or protocol event of the stream; of a model that does not stream, the whole result."""

    value: Any


@dataclass(frozen=True, slots=True)
class Told:
    """The model called this method of its run manager."""

    method: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """The model wrote to the run's custom stream, or dispatched a custom event."""

    what: Written | Dispatched


@dataclass(frozen=True, slots=True)
class Raised:
    """The model failed."""

    error: BaseException


Piece = Given | Told | Said | Raised
Put = Callable[[Piece], None]


class _Hears(BaseCallbackHandler):
    """Writes down what a model tells its run manager."""

    run_inline = True
    raise_error = True

    def __init__(self, put: Put) -> None:
        self._put = put

    def on_llm_new_token(self, token: Any, **kwargs: Any) -> None:
        self._note("on_llm_new_token", (token,), kwargs)

    def on_stream_event(self, event: Any, **kwargs: Any) -> None:
        self._note("on_stream_event", (event,), kwargs)

    def on_text(self, text: str, **kwargs: Any) -> None:
        self._note("on_text", (text,), kwargs)

    def on_retry(self, retry_state: Any, **kwargs: Any) -> None:
        self._note("on_retry", (retry_state,), kwargs)

    def _note(self, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        # The real run manager adds these for itself.
        mine = {name: each for name, each in kwargs.items() if name not in ("run_id", "parent_run_id", "tags")}
        self._put(Told(method, args, mine))


class Overheard(Listening):
    """What a model says past its run manager, kept in order with its pieces."""

    def __init__(self, put: Put) -> None:
        super().__init__()
        self._put = put

    def write(self, value: Any) -> None:
        """Take the place of the run's stream writer."""
        self._put(Said(Written(value)))

    def on_custom_event(self, name: str, data: Any, **kwargs: Any) -> None:
        """Take a custom event."""
        self._put(Said(Dispatched(name, data)))


def private_manager(
    put: Put, run_id: UUID, *, is_async: bool
) -> CallbackManagerForLLMRun | AsyncCallbackManagerForLLMRun:
    """A run manager that tells nobody but ``put``."""
    heard: list[BaseCallbackHandler] = [_Hears(put)]
    kind = AsyncCallbackManagerForLLMRun if is_async else CallbackManagerForLLMRun
    return kind(run_id=run_id, handlers=heard, inheritable_handlers=[])
