"""What owns an HTTP client, and closes it."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from langgraph_prefetch.errors import MissingExtraError

try:
    import httpx
except ImportError as error:
    raise MissingExtraError(error.name or "httpx", "serving") from error


class OwnsClient:
    """An async context manager whose client is closed at its end. What the environment says of proxies is not for it.

    Args:
        settings: of `httpx.AsyncClient`.
    """

    def __init__(self, **settings: Any) -> None:
        self._client = httpx.AsyncClient(trust_env=False, **settings)

    async def aclose(self) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        await self.aclose()
