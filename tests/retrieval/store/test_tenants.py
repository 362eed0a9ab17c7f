"""A tenant is a column and part of every query; nobody gets at another's passages by anything that can be passed in."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval import PgVectorStore
from tests.retrieval.search.made import DIMENSIONS, Given

HOSTILE = {"tenant": "b", "$or": [{"tenant": "b"}, {"x": 1}]}
VECTOR = [1.0] * DIMENSIONS


@pytest.fixture
def both(shared_database_url: str, request: pytest.FixtureRequest) -> Iterator[tuple[PgVectorStore, PgVectorStore]]:
    name = request.node.name[:200]
    options: dict[str, Any] = {"collection": name, "text_search": "simple"}
    with PgVectorStore(Given(), url=shared_database_url, tenant="a", **options) as a:
        b = a.for_tenant("b")
        a.add_texts(["shared words", "only of a"], [{"tenant": "b"}, {}], ids=["1", "2"])
        b.add_texts(["shared words", "only of b"], [{"tenant": "a"}, {}], ids=["1", "3"])
        yield a, b


def everything(store: PgVectorStore) -> list[str]:
    """The texts that each way to read gives, with arguments that try to get at others'."""
    words = "shared words of b tenant"
    texts = [each.page_content for each in store.get_by_ids(["1", "2", "3"])]
    texts += [each.page_content for each in store.similarity_search(words, 10)]
    texts += [each.page_content for each in store.similarity_search(words, 10, filter={"tenant": "b"})]
    texts += [each.page_content for each in store.similarity_search_by_vector(VECTOR, 10, exact=False)]
    texts += [each.page_content for each in store.max_marginal_relevance_search(words, 10)]
    texts += [each.page_content for each in store.hybrid_search(words, 10)]
    texts += [each.page_content for each in store.as_retriever(k=10).invoke("tenant: b' or tenant = 'b")]
    texts += store.neighbourhood(VECTOR, 10).texts
    return texts


def test_reading(both: tuple[PgVectorStore, PgVectorStore]) -> None:
    """No way to read shows a passage of another tenant."""
    for indexed in (False, True):
        if indexed:
            both[0].create_index()
        assert set(everything(both[0])) == {"shared words", "only of a"}
        assert set(everything(both[1])) == {"shared words", "only of b"}
        assert both[0].count() == both[1].count() == 2


def test_writing_and_deleting(both: tuple[PgVectorStore, PgVectorStore]) -> None:
    """An id is a tenant's own: writing or deleting it leaves the others' as they are."""
    a, b = both
    a.add_texts(["changed"], ids=["1"])
    assert b.get_by_ids(["1"])[0].page_content == "shared words"
    a.delete(["1", "3"])
    a.delete(filter={"tenant": "a"})
    a.delete(everything=True)
    assert (a.count(), b.count()) == (0, 2)


def test_no_tenant_is_one_of_its_own(both: tuple[PgVectorStore, PgVectorStore]) -> None:
    """A store without tenants sees none of those with, and they none of its."""
    nobody = both[0].for_tenant(None)
    assert (nobody.tenant, nobody.count()) == (None, 0)
    nobody.add_texts(["of nobody"])
    assert everything(both[0]).count("of nobody") == 0


def test_no_query_is_without_a_tenant(both: tuple[PgVectorStore, PgVectorStore]) -> None:
    """Every statement that is sent about passages, by every method, names the tenant in each place it reads them."""
    store = both[0]
    table = store.collection.table_name
    seen: list[tuple[str, Any]] = []

    def note(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if table in statement:
            seen.append((statement, parameters))

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        store.create_index()
        seen.clear()
        for each in (store, store.for_tenant("b")):
            everything(each)
            each.nearest(VECTOR, 3, exact=True, filter=HOSTILE)
            each.count({"tenant": "b"})
            each.add_texts(["new"], [HOSTILE], ids=["new"])
            each.delete(["new"])
            each.delete(filter={"x": 1})
            each.delete(everything=True)
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)
    assert len(seen) > 20
    for statement, parameters in seen:
        reads = len(re.findall(rf"(?:FROM|from|INTO|into) [\w.]*{table}\b", statement))
        said = len(re.findall(r"tenant = %\(tenant\)s|select %\(tenant\)s", statement))
        assert reads == said > 0, statement
        assert parameters["tenant"] in ("a", "b")


@pytest.mark.parametrize("tenant", ["", "x" * 257, "a\0", 3, "\ud800"])
def test_a_tenant_that_is_none_is_refused(both: tuple[PgVectorStore, PgVectorStore], tenant: Any) -> None:
    """An empty name would be that of those without tenants."""
    with pytest.raises(ConfigurationError, match="a tenant is text"):
        both[0].for_tenant(tenant)
    with pytest.raises(ConfigurationError, match="a tenant is text"):
        PgVectorStore(Given(), url="postgresql://nowhere/x", tenant=tenant)
