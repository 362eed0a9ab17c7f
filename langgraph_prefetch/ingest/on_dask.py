"""The same plan on a Dask cluster: it splits and embeds there; loading, the shuffle and the writers stay here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.ingest.embedders import Embedder
from langgraph_prefetch.ingest.engines import Answer, Cut, answered, cut
from langgraph_prefetch.ingest.sources.shapes import Document
from langgraph_prefetch.ingest.splitting.shapes import Splitter
from langgraph_prefetch.ingest.workers import Workers

try:
    import distributed
except ImportError as error:
    raise MissingExtraError("distributed", "dask") from error

if TYPE_CHECKING:
    from distributed import Client

T = TypeVar("T")


class DaskEngine:
    """Tasks on a cluster that somebody else started and goes on to own.

    Splitter and embedder are sent to the workers once, by Dask's own means, so that they must be such that it can: a
    function of a module, an object without open connections. An embedder's coroutine gets an event loop on the worker.

    Args:
        client: the cluster's; the current one for None.
        at_once: most tasks that are waited for.

    Raises:
        ConfigurationError: there is no client.
    """

    def __init__(self, client: Client | None, at_once: int) -> None:
        if client is None:
            try:
                client = distributed.default_client()  # type: ignore[no-untyped-call]
            except ValueError as error:
                raise ConfigurationError("engine='dask' needs client=, or a current dask.distributed.Client") from error
        if client.asynchronous:
            raise ConfigurationError("engine='dask' needs a client made without asynchronous=True")
        self._client = client
        self._waiting = Workers(at_once, "langgraph-prefetch-dask")
        self._sent: dict[int, tuple[Any, Any]] = {}

    async def split(self, splitter: Splitter, documents: Sequence[Document], embedder: bytes) -> Cut:
        """Cut documents on the cluster."""
        found: Cut = await self._waiting.run(self._run, cut, splitter, documents, embedder)
        return replace(found, cpu_seconds=0.0)  # what a thread of the cluster computed

    async def embed(self, embedder: Embedder, texts: Sequence[str]) -> Answer:
        """Answer a request on the cluster."""
        answer: Answer = await self._waiting.run(self._run, answered, embedder, list(texts))
        return Answer(answer.matrix)  # likewise: it says nothing about those of this process

    def _run(self, work: Callable[..., T], tool: object, *args: Any) -> T:
        future = self._client.submit(work, self._held(tool), *args, pure=False)
        try:
            result: T = future.result()
        except BaseException:
            future.cancel()
            raise
        finally:
            future.release()
        return result

    def _held(self, tool: object) -> Any:
        """A splitter or embedder as the cluster has it."""
        if id(tool) not in self._sent:
            self._sent[id(tool)] = tool, self._client.scatter(tool, broadcast=True, hash=False)
        return self._sent[id(tool)][1]

    async def close(self) -> None:
        """Nothing of this run stays on the cluster."""
        await self._waiting.close()
        for _, sent in self._sent.values():
            sent.release()
        self._sent.clear()
