"""The exact store in memory keeps the contract of a neighbourhood source."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.passages import Metric
from langgraph_prefetch.ports import NeighbourhoodSource
from tests.near.stores import METRICS, kinds_of_vectors, names, searched, seeds, store


@settings(max_examples=80, deadline=None)
@given(
    seed=seeds,
    kind=st.sampled_from(("random", "clusters", "grid", "duplicates", "lengths")),
    metric=st.sampled_from(METRICS),
    n=st.integers(1, 40),
)
def test_it_lists_the_nearest_in_order_and_ties_by_id(seed: int, kind: str, metric: Metric, n: int) -> None:
    rng = np.random.default_rng(seed)
    vectors = kinds_of_vectors(rng, kind, 30, 5)
    anchor = rng.normal(size=5).astype(np.float32)
    found = store(metric, vectors).neighbourhood(anchor, n)
    wanted = searched(metric, names(30), vectors, anchor, n)
    if kind in ("random", "clusters", "lengths"):
        assert found.ids == wanted
    rows = [int(name[1:]) for name in found.ids]
    assert np.array_equal(found.vectors, vectors[rows])
    equal = [(vectors[one] == vectors[other]).all() for one, other in itertools.pairwise(rows)]
    assert all(one < other for one, other, same in zip(rows, rows[1:], equal, strict=False) if same)
    assert found.whole == (n > 30)
    assert found.exact


def test_it_is_a_source_and_changes_its_epoch() -> None:
    source = store("cosine", np.eye(3, dtype=np.float32))
    assert isinstance(source, NeighbourhoodSource)
    assert (source.metric, source.dimensions, len(source), source.epoch()) == ("cosine", 3, 3, 0)
    source.replace(["a"], np.ones((1, 3), dtype=np.float32))
    assert (len(source), source.epoch(), source.search(np.ones(3, dtype=np.float32), 5)) == (1, 1, ("a",))


async def test_it_has_an_async_form() -> None:
    source = store("cosine", np.eye(3, dtype=np.float32))
    found = await source.aneighbourhood(np.ones(3, dtype=np.float32), 2)
    assert found.ids == ("p00000", "p00001")


def test_its_lists_cannot_be_written_to() -> None:
    found = store("cosine", np.eye(3, dtype=np.float32)).neighbourhood(np.ones(3, dtype=np.float32), 2)
    with pytest.raises(ValueError, match="read-only"):
        found.vectors[0, 0] = 5


@pytest.mark.parametrize(
    ("ids", "vectors"),
    [
        (["a", "a"], np.eye(2)),
        (["a"], np.eye(2)),
        (["a"], np.ones(2)),
        (["a"], np.full((1, 2), np.nan)),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(ids: list[str], vectors: NDArray[np.float64]) -> None:
    with pytest.raises(ConfigurationError):
        MemorySource(ids, vectors.astype(np.float32))
