"""What a tool says while it runs: kept from a speculation, said again when its result is served."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, adispatch_custom_event, dispatch_custom_event
from langgraph.config import get_stream_writer


@dataclass(frozen=True, slots=True)
class Written:
    """A value that the tool wrote to the run's custom stream."""

    value: Any


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A custom event that the tool dispatched."""

    name: str
    data: Any


class Listening(BaseCallbackHandler):
    """Hears a speculation's custom writes and events, in order; the run itself hears none of them."""

    run_inline = True

    def __init__(self) -> None:
        self.said: list[Written | Dispatched] = []

    def write(self, value: Any) -> None:
        """Take the place of the run's stream writer."""
        self.said.append(Written(value))

    def on_custom_event(self, name: str, data: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Take a custom event."""
        self.said.append(Dispatched(name, data))


def say_again(said: Iterable[Any]) -> None:
    """Say it in the present run, inside a tool's own run."""
    for each in said:
        match each:
            case Written(value):
                get_stream_writer()(value)
            case Dispatched(name, data):
                dispatch_custom_event(name, data)


async def asay_again(said: Iterable[Any]) -> None:
    """:func:`say_again` for coroutines."""
    for each in said:
        match each:
            case Written(value):
                get_stream_writer()(value)
            case Dispatched(name, data):
                await adispatch_custom_event(name, data)
