"""Searches of the store against SQLAlchemy by hand, on the same table of a real PostgreSQL.

    python benchmarks/search.py [CORPUS.jsonl …] [--rows 18000] [--queries 400] [--url URL] [--json OUT]

A corpus is JSON lines with a "text" (and a "title"), and its vectors are made by feature hashing; without one, passages
of made-up words and clustered vectors. Vectors have 384 numbers; queries are passages that were left out. The server is
one of its own from the wheel, or `--url`.

- **top 10**: the store's search, and the same query through an SQLAlchemy session with pgvector's own column type, both
  through the same HNSW index, in turns. At most 1.1 times as long at p50 and p95.
- **neighbourhood**: 500 passages with ids, texts, metadata and vectors, against their 500 ids alone with the same
  `ef_search`. At most 1.3 times as long. The same rows one by one, by hand, stand beside it.
- **filtered**: recall@10 of a filter that 1 % of the passages fit, against comparing all of them. At least 0.95. Beside
  it the same query without iterative scan, and how many rows that found.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import sqlalchemy as sa  # noqa: E402
from langchain_core.embeddings import Embeddings  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from pgvector.sqlalchemy import VECTOR  # noqa: E402
from sqlalchemy.dialects.postgresql import JSONB  # noqa: E402
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column  # noqa: E402

from langgraph_prefetch.demo.server import postgres  # noqa: E402
from langgraph_prefetch.retrieval import PgVectorStore  # noqa: E402
from langgraph_prefetch.retrieval.embedders.hashing import HashingEmbeddings  # noqa: E402

DIMENSIONS, K, NEIGHBOURS, PARTS = 384, 10, 500, 100
LIMITS = {"top 10 p50": 1.1, "top 10 p95": 1.1, "neighbourhood p50": 1.3}
LEAST_RECALL = 0.95


class Made(Embeddings):
    """Vectors that are there already, in the order in which they are asked for."""

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self._vectors, self._given = vectors, 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        start, self._given = self._given, self._given + len(texts)
        return list(self._vectors[start : self._given])

    def embed_query(self, text: str) -> list[float]:
        raise NotImplementedError


def passages(files: Sequence[Path], rows: int, queries: int) -> list[str]:
    """That many texts, and as many again to search with as there are queries."""
    if files:
        lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
        found = [f"{row.get('title', '')} {row['text']}".strip() for row in map(json.loads, lines)]
        random.Random(7).shuffle(found)
        return list(dict.fromkeys(found))[: rows + queries]
    dice = random.Random(7)
    words = ["".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randint(3, 9))) for _ in range(8_000)]
    topics = [dice.sample(words, 60) for _ in range(300)]
    return [
        " ".join(dice.choices(dice.choice(topics), k=60) + dice.choices(words, k=20)) for _ in range(rows + queries)
    ]


def clustered(count: int) -> NDArray[np.float32]:
    """Unit vectors around some hundred directions, as those of texts are."""
    dice = np.random.default_rng(7)
    centres = dice.standard_normal((300, DIMENSIONS), np.float32)
    vectors = centres[dice.integers(0, 300, count)] + dice.standard_normal((count, DIMENSIONS), np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@contextmanager
def server(url: str | None) -> Iterator[str]:
    """The URL of a server."""
    if url is not None:
        yield url
        return
    with postgres() as own:
        yield own.url


def in_turns(runs: dict[str, Callable[[int], object]], times: int) -> dict[str, list[float]]:
    """Milliseconds of each, one after the other so that all meet the same load; the first tenth is not counted."""
    took: dict[str, list[float]] = {name: [] for name in runs}
    for turn in range(times):
        for name in sorted(runs, key=lambda each: hash((turn, each))):
            began = time.perf_counter()
            runs[name](turn)
            took[name].append((time.perf_counter() - began) * 1e3)
    return {name: each[len(each) // 10 :] for name, each in took.items()}


def by_hand(store: PgVectorStore, url: str) -> tuple[Any, sa.Engine]:
    """The store's own table, as a user would map it."""

    class Base(DeclarativeBase):
        pass

    class Passage(Base):
        __tablename__ = store.collection.table_name
        tenant: Mapped[str] = mapped_column(primary_key=True)
        id: Mapped[str] = mapped_column(primary_key=True)
        text: Mapped[str]
        meta: Mapped[dict[str, Any]] = mapped_column("metadata", JSONB)
        embedding = mapped_column(VECTOR(DIMENSIONS))

    return Passage, sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))


def must_use_the_index(session: Session, statement: sa.Select[Any]) -> None:
    """A comparison with a plan that does other work would be none."""
    compiled = statement.compile(session.get_bind(), compile_kwargs={"render_postcompile": True})
    parameters = {
        name: str(value.tolist()) if isinstance(value, np.ndarray) else value for name, value in compiled.params.items()
    }
    plan = session.connection().exec_driver_sql(f"explain {compiled.string}", parameters).scalars().all()
    assert any("_hnsw" in line for line in plan), plan


def measure(store: PgVectorStore, url: str, anchors: NDArray[np.float32], queries: int) -> dict[str, Any]:
    passage, engine = by_hand(store, url)
    distance = [passage.embedding.cosine_distance(each) for each in anchors]

    def hand(turn: int) -> object:
        with Session(engine) as session:
            statement = (
                sa.select(passage.id, passage.text, passage.meta, distance[turn].label("distance"))
                .where(passage.tenant == "")
                .order_by(distance[turn])
                .limit(K)
            )
            if turn == 0:
                must_use_the_index(session, statement)
            return session.execute(statement).all()

    def rows_by_hand(turn: int, *columns: Any) -> object:
        with Session(engine) as session:
            # Left alone, PostgreSQL takes so wide a search for dearer than sorting the whole table, wrongly.
            session.execute(sa.text(f"set local hnsw.ef_search = {NEIGHBOURS}; set local enable_sort = off"))
            statement = sa.select(*columns).where(passage.tenant == "").order_by(distance[turn]).limit(NEIGHBOURS)
            if turn == 0:
                must_use_the_index(session, statement)
            return session.execute(statement).all()

    top = in_turns({"store": lambda turn: store.nearest(anchors[turn], K), "hand": hand}, queries)
    around = in_turns(
        {
            "ids": lambda turn: rows_by_hand(turn, passage.id),
            "rows": lambda turn: rows_by_hand(turn, passage.id, passage.text, passage.meta, passage.embedding),
            "neighbourhood": lambda turn: store.neighbourhood(anchors[turn], NEIGHBOURS),
        },
        max(queries // 2, 20),
    )
    engine.dispose()
    return {"top 10": top, "neighbourhood": around}


def filtered(store: PgVectorStore, anchors: NDArray[np.float32]) -> dict[str, float]:
    """Recall of a filter that one in a hundred fits; through the index, whatever the planner thinks of it."""
    recalls, plain, took = [], [], []
    for at, anchor in enumerate(anchors):
        fits = {"part": at % PARTS}
        truth = {hit.id for hit in store.nearest(anchor, K, filter=fits, exact=True).hits}
        began = time.perf_counter()
        found = store.nearest(anchor, K, filter=fits)
        took.append((time.perf_counter() - began) * 1e3)
        recalls.append(len(truth & {hit.id for hit in found.hits}) / len(truth))
        plain.append(_without_iteration(store, anchor, at % PARTS))
    return {
        "recall": statistics.mean(recalls),
        "milliseconds p50": statistics.median(took),
        "rows without iterative scan": statistics.mean(plain),
    }


def _without_iteration(store: PgVectorStore, anchor: NDArray[np.float32], part: int) -> int:
    statement = sa.text(
        f"select count(*) from (select id from {store.collection.table_name} where tenant = '' "
        "and metadata @> jsonb_build_object('part', cast(:part as int)) order by embedding <=> cast(:q as vector) "
        f"limit {K}) as found"
    )

    def work(connection: sa.Connection) -> int:
        for setting in ("enable_seqscan = off", "enable_sort = off"):
            connection.exec_driver_sql(f"set local {setting}")
        return connection.scalar(statement, {"part": part, "q": str(anchor.tolist())}) or 0

    return store.database.run(work)


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def report(figures: dict[str, Any], recall: dict[str, float], rows: int) -> dict[str, Any]:
    ratios: dict[str, float] = {}
    print(f"{rows:,} passages, {DIMENSIONS} numbers, HNSW\n")
    print(f"{'':<32}{'p50 ms':>9}{'p95 ms':>9}{'ratio p50':>11}{'p95':>7}")
    for group, base in (("top 10", "hand"), ("neighbourhood", "ids")):
        for name, took in figures[group].items():
            p50, p95 = quantile(took, 0.5), quantile(took, 0.95)
            over50, over95 = p50 / quantile(figures[group][base], 0.5), p95 / quantile(figures[group][base], 0.95)
            print(f"{group + ': ' + name:<32}{p50:>9.2f}{p95:>9.2f}{over50:>11.2f}{over95:>7.2f}")
            if name in ("store", "neighbourhood"):
                ratios[f"{group} p50"], ratios[f"{group} p95"] = over50, over95
    print(
        f"\nfiltered to 1 %: recall@{K} {recall['recall']:.3f} in {recall['milliseconds p50']:.2f} ms; "
        f"without iterative scan {recall['rows without iterative scan']:.1f} of {K} rows"
    )
    return {"ratios": ratios, "filtered": recall, "milliseconds": figures, "rows": rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="*")
    parser.add_argument("--rows", type=int, default=18_000)
    parser.add_argument("--queries", type=int, default=400)
    parser.add_argument("--url", help="a database that is there; its collection 'benchmark' is made anew")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    texts = passages(arguments.corpus, arguments.rows, arguments.queries)
    vectors = HashingEmbeddings(DIMENSIONS).embed_matrix(texts) if arguments.corpus else clustered(len(texts))
    rows = len(texts) - arguments.queries
    with server(arguments.url) as url:
        PgVectorStore(url=url, collection="benchmark", dimensions=DIMENSIONS).drop_collection()
        with PgVectorStore(Made(vectors), url=url, collection="benchmark", dimensions=DIMENSIONS) as store:
            store.add_texts(texts[:rows], [{"part": number % PARTS} for number in range(rows)])
            store.create_index(memory_mb=512)
            store.database.run(lambda connection: connection.exec_driver_sql("analyze"))
            anchors = vectors[rows:]
            figures = measure(store, url, anchors, arguments.queries)
            result = report(figures, filtered(store, anchors[:100]), rows)
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    ratios = result["ratios"]
    missed = [f"{name} {ratios[name]:.2f} > {most}" for name, most in LIMITS.items() if ratios[name] > most]
    if result["filtered"]["recall"] < LEAST_RECALL:
        missed.append(f"recall {result['filtered']['recall']:.3f} < {LEAST_RECALL}")
    print("\nmissed: " + "; ".join(missed) if missed else "\nall within their limits")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
