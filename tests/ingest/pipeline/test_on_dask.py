"""The same plan on a Dask cluster gives the same rows."""

import asyncio
from collections.abc import Iterator

import dask
import pytest
from distributed import Client, LocalCluster

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.ingest import IngestSettings, ingest
from tests.ingest.pipeline.corpus import aembed, by_line, documents, embed, rows_of, store


@pytest.fixture
def client() -> Iterator[Client]:
    # Its profiler asks for the frames of all threads, in which Python 3.11 may lock up for good when it collects
    # garbage just then (CPython issue 106883).
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=1, threads_per_worker=2, processes=False, protocol="tcp", host="127.0.0.1", dashboard_address=None
        ) as cluster,
        Client(cluster) as connected,  # type: ignore[no-untyped-call]
    ):
        yield connected


async def test_a_cluster_gives_the_same_rows(client: Client) -> None:
    """Given or current, with a function or a coroutine as the embedder; nothing of the run stays there."""
    settings = IngestSettings(batch_rows=5, request_items=4, in_flight=2, writers=2)
    here = store()
    expected = await ingest(documents(9), by_line, embed, here, settings=settings, trace=True, embedder_identity="one")
    for embedder, given in ((embed, client), (aembed, None)):
        there = store()
        report = await ingest(
            documents(9),
            by_line,
            embedder,
            there,
            settings=settings,
            trace=True,
            engine="dask",
            client=given,
            embedder_identity="one",
        )
        assert rows_of(there) == rows_of(here)
        assert report.trace == expected.trace
    async with asyncio.timeout(20):
        while client.futures:  # noqa: ASYNC110 - its own thread takes note of what was released
            await asyncio.sleep(0.01)


async def test_without_a_cluster_it_says_what_is_missing() -> None:
    """No cluster is started behind anybody's back."""
    with pytest.raises(ConfigurationError, match="client="):
        await ingest(documents(1), by_line, embed, store(), engine="dask")
