"""What holds for the double holds for PostgreSQL."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import sqlalchemy as sa
from langchain_core.documents import Document as LangChainDocument
from langchain_core.indexing import InMemoryRecordManager

from langgraph_prefetch.errors import IngestError
from langgraph_prefetch.ingest import IngestSettings, ingest
from langgraph_prefetch.ingest.settings import Cleanup
from langgraph_prefetch.ingest.sources import Document
from langgraph_prefetch.ingest.splitting import PIECES
from langgraph_prefetch.ports import PassageStore
from langgraph_prefetch.retrieval import PgVectorStore
from tests.ingest.pipeline.corpus import DIMENSIONS, aembed, by_line, documents, embed, rows_of, store

SMALL = IngestSettings(batch_rows=7, request_items=5, in_flight=3, writers=2)


@pytest.fixture
def real(database_url: str) -> Iterator[PgVectorStore]:
    opened = PgVectorStore(None, url=database_url, dimensions=DIMENSIONS)
    yield opened
    opened.close()


Rows = Callable[[], dict[str, tuple[Any, ...]]]


@pytest.fixture
def rows(real: PgVectorStore, database_url: str) -> Rows:
    """What stands in the store, as ``rows_of`` tells it of the double."""
    table = sa.table(real.collection.table_name, schema=real.collection.schema)
    columns: list[Any] = [sa.column(name) for name in ("id", "source", "text", "metadata", "content_hash")]
    query = sa.select(*columns, sa.literal_column("embedding::real[]")).select_from(table)

    def read() -> dict[str, tuple[Any, ...]]:
        engine = sa.create_engine(database_url, poolclass=sa.NullPool)
        with engine.connect() as connection:
            found = connection.execute(query).all()
        told: dict[str, tuple[Any, ...]] = {}
        for each in found:
            key, source, text, metadata, content, vector = tuple[Any, ...](each)
            told[key] = source, text, json.dumps(metadata, separators=(",", ":")), bytes(content), tuple(vector)
        return told

    return read


def test_it_is_a_store(real: PgVectorStore) -> None:
    """By its shape."""
    assert isinstance(real, PassageStore)


@pytest.mark.parametrize("cleanup", ["incremental", "full", "scoped_full", None])
@pytest.mark.parametrize("recorded", [False, True])
async def test_runs_leave_the_rows_that_the_double_has(
    real: PgVectorStore, rows: Rows, cleanup: Cleanup | None, recorded: bool
) -> None:
    """A first run, an unchanged one, and one with changed, new and missing documents."""
    double = store()
    records: dict[int, Any] = {id(each): InMemoryRecordManager("r") if recorded else None for each in (real, double)}
    first, second = documents(8), [*documents(2), *documents(5, of="b")[3:], *documents(9, lines=1)[8:]]
    for given in (first, first, second):
        reports = [
            await ingest(given, by_line, aembed, each, settings=SMALL, cleanup=cleanup, records=records[id(each)])
            for each in (real, double)
        ]
        assert rows() == rows_of(double)
        assert reports[0].written == reports[1].written
        assert reports[0].deleted == reports[1].deleted
        assert reports[0].unchanged == reports[1].unchanged


async def test_refused_rows_are_left_out(real: PgVectorStore, rows: Rows) -> None:
    """A vector that the column cannot hold costs its own row."""

    def huge(texts: Any) -> Any:
        vectors = embed(texts)
        vectors[[each == "a 1.1" for each in texts]] = float("nan")
        return vectors

    report = await ingest(documents(3), by_line, huge, real, settings=SMALL)
    assert (len(rows()), report.skipped_count) == (8, 1)


async def test_rows_that_the_database_cannot_store_are_named_and_cost_no_other(real: PgVectorStore, rows: Rows) -> None:
    """A NUL, metadata that are no JSON object, a vector that is not finite: in one batch, and each in its own."""
    given = [
        ("a", "fine", "{}"),
        ("b", "n\0l", "{}"),
        ("c", "text", "[1]"),
        ("d", "text", '{"n": "\\u0000"}'),
        ("e", "not a number", "{}"),
        ("f", "fine too", '{"n": 1}'),
    ]
    batch = pa.RecordBatch.from_arrays(
        [pa.array(each, pa.string()) for each in zip(*given, strict=True)], schema=PIECES
    )

    def broken(texts: Sequence[str]) -> Any:
        vectors = embed(texts)
        vectors[[each == "not a number" for each in texts]] = float("nan")
        return vectors

    for settings in (None, IngestSettings(batch_rows=1)):
        report = await ingest(batch, None, broken, real, settings=settings)
        reasons = {each.where: each.reason for each in report.skipped}
        assert reasons.keys() == {"b", "c", "d", "e"}
        for source, word in {"b": "NUL", "c": "object", "d": "NUL", "e": "not finite"}.items():
            assert word in reasons[source]
        assert sorted(row[1] for row in rows().values()) == ["fine", "fine too"]
        assert real.ledger().fingerprints().keys() == {"a", "f"}


@dataclass
class _Part:
    """A user's own, whose names are as long as they like."""

    source: str
    given: list[Document]

    @property
    def fingerprint(self) -> bytes:
        return b"%16d" % len(self.given[0].text)

    def documents(self) -> Iterator[Document]:
        yield from self.given


@dataclass
class _Parts:
    given: list[_Part]

    def parts(self) -> Iterator[_Part]:
        yield from self.given


async def test_sources_of_any_length(real: PgVectorStore, rows: Rows) -> None:
    """An address longer than an index has room for is one of a document like any other, however documents are given."""
    addresses = ["short", *(f"https://example.org/?q={random.Random(seed).randbytes(3_000).hex()}" for seed in (1, 2))]
    given = [LangChainDocument(f"text {at}", metadata={"source": each}) for at, each in enumerate(addresses)]
    ours = [Document(source=each, text=f"ours {at}", fingerprint=b"%d" % at) for at, each in enumerate(addresses)]
    for documents_ in (given, ours):
        first = await ingest(documents_, None, embed, real, cleanup="full")
        assert (first.written.added, first.skipped_count, first.deleted) == (3, 0, 0 if documents_ is given else 3)
        for again in (documents_, iter(documents_)):
            report = await ingest(again, None, embed, real, cleanup="full")
            assert (report.unchanged, report.documents, report.deleted) == (3, 0, 0)
    assert len({row[1] for row in rows().values()}) == 3
    await ingest(ours[1:], None, embed, real, cleanup="full")
    assert real.count() == 2
    parts = _Parts([_Part(each.source, [each]) for each in ours])
    first = await ingest(parts, None, embed, real, cleanup="full")
    second = await ingest(parts, None, embed, real, cleanup="full")
    assert (first.written.added + first.written.unchanged, first.skipped_count, real.count()) == (3, 0, 3)
    assert second.unchanged == 3


async def test_a_store_that_is_gone_stops_the_run(real: PgVectorStore) -> None:
    """With one error, and nothing left waiting."""
    real.close()
    tasks = asyncio.all_tasks()
    with pytest.raises(Exception, match=r"closed|stopped"):
        await ingest(documents(3), by_line, embed, real)
    assert asyncio.all_tasks() == tasks


async def test_an_embedder_of_another_length_writes_nothing(real: PgVectorStore, rows: Rows) -> None:
    """And says both lengths."""
    with pytest.raises(IngestError, match="vectors of length 3, and the store's have 4"):
        await ingest(documents(3), by_line, lambda texts: embed(texts)[:, :3], real)
    assert rows() == {}


@pytest.mark.slow
def test_killed_at_any_moment_and_run_again_the_rows_are_the_same(
    real: PgVectorStore, rows: Rows, database_url: str
) -> None:
    """A process is killed in the middle of its work, again and again, while documents change from run to run."""
    chance = random.Random(4)
    program = [sys.executable, str(Path(__file__).with_name("killed.py")), database_url]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    for version in ("1", "2", "3"):
        with subprocess.Popen([*program, version], env=environment, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            enough = chance.randrange(1, 800)
            assert any(int(line) >= enough for line in process.stdout)
            time.sleep(chance.uniform(0, 0.02))
            process.send_signal(signal.SIGKILL)
        assert any(text.startswith(f"{version} ") for _, text, *_ in rows().values())
        assert len(real.ledger().fingerprints()) < 300
    subprocess.run([*program, "3"], env=environment, check=True, timeout=90, stdout=subprocess.DEVNULL)
    double = store()
    asyncio.run(ingest(documents(300, of="3"), by_line, embed, double))
    assert {key: row[:4] for key, row in rows().items()} == {key: row[:4] for key, row in rows_of(double).items()}
    assert real.ledger().fingerprints().keys() == double.remembered.keys()
