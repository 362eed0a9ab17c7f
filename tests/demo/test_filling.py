"""The demo's store: every passage as it was read, found by the name that the scripted model asks for."""

import sqlalchemy as sa

from langgraph_prefetch.demo.corpus import passages
from langgraph_prefetch.demo.filling import filled_store

CORPUS = passages(("collections", "functools", "heapq", "os", "shlex", "tempfile"))
NAMES = ("functools.lru_cache", "heapq.nlargest", "shlex.split", "tempfile.NamedTemporaryFile", "tempfile.mkstemp")


def test_the_store_holds_the_corpus(database_url: str) -> None:
    """No passage is cut or left out, names are found, and an index is there, as is said above the table."""
    with filled_store(database_url, CORPUS) as store:
        assert store.count() == len(CORPUS)
        longest = max(CORPUS, key=lambda passage: len(passage.page_content))
        (found,) = store.similarity_search("anything", k=1, filter={"source": longest.metadata["source"]})
        assert found.page_content == longest.page_content

        # A query that names a function means that one, also where others speak of it more often.
        for name in NAMES:
            assert name in {found.metadata["source"] for found in store.similarity_search(name, k=3)}

        indexes = sa.text("select count(*) from pg_indexes where indexdef like '%USING hnsw%'")
        assert store.database.run(lambda connection: connection.scalar(indexes)) == 1
