"""Who decides where a call goes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Protocol

from langchain_core.runnables import Runnable, RunnableConfig

Change = Callable[[Any], Runnable[Any, Any]]
"""What is done to a chat model before it is called, such as binding tools to it."""


class Handler(Protocol):
    """Has components, and calls one of them."""

    def invoke(self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any) -> Any:
        """Call whichever it is."""
        ...

    async def ainvoke(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> Any:
        """Call whichever it is."""
        ...

    def stream(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> Iterator[Any]:
        """Stream from whichever it is."""
        ...

    def astream(
        self, given: Any, config: RunnableConfig | None, change: Change | None = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        """Stream from whichever it is."""
        ...

    def behind(self) -> tuple[Any, ...]:
        """The components that calls are meant for, as things stand; what only stands in for them is left out."""
        ...

    def meant_for(self, config: RunnableConfig | None) -> tuple[Any, str | None]:
        """The component that a call under ``config`` is meant for; and its name, where there are others."""
        ...
