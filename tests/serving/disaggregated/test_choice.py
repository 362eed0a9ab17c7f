"""Which path reads, and which engine works."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.disaggregated.choice import GATES, Gates, PathLoad, choose_engine, choose_path

PATHS = st.lists(
    st.builds(
        PathLoad,
        name=st.integers().map(str),
        read_queue=st.floats(0, 100),
        unfinished=st.floats(0, 100),
        read_rate=st.floats(0.5, 20),
        handle_rate=st.floats(0.5, 20),
    ),
    max_size=6,
    unique_by=lambda path: path.name,
)


@given(paths=PATHS)
def test_an_overloaded_one_is_never_taken(paths: list[PathLoad]) -> None:
    """Neither as a path nor as an engine; where all are, the answer is to wait."""
    for choose in (choose_path, choose_engine):
        chosen = choose(paths)
        if chosen is None:
            assert all(GATES.overloaded(path) for path in paths)
        else:
            assert chosen in paths
            assert not GATES.overloaded(chosen)


@given(paths=PATHS)
def test_a_long_read_queue_is_taken_only_where_no_short_one_is_open(paths: list[PathLoad]) -> None:
    """Otherwise a link that has little to read would soon have nothing."""
    chosen = choose_engine(paths)
    if chosen is not None and not GATES.short(chosen):
        assert not any(GATES.short(path) and not GATES.overloaded(path) for path in paths)


@given(paths=PATHS)
def test_no_open_path_has_a_shorter_queue_than_the_one_chosen(paths: list[PathLoad]) -> None:
    """Of those that are not overloaded, the shortest in seconds reads."""
    chosen = choose_path(paths)
    if chosen is not None:
        assert chosen.read_seconds == min(path.read_seconds for path in paths if not GATES.overloaded(path))


def test_a_side_reads_that_has_the_shorter_queue_and_an_engine_works_that_has_the_fewest_tokens() -> None:
    """The same two loads, two questions."""
    idle_link = PathLoad(name="idle link", read_queue=1, unfinished=9, read_rate=1, handle_rate=10)
    idle_gpu = PathLoad(name="idle gpu", read_queue=2, unfinished=3, read_rate=1, handle_rate=10)
    assert choose_path([idle_gpu, idle_link]) == idle_link
    assert choose_engine([idle_link, idle_gpu]) == idle_gpu


def test_queues_compare_in_seconds() -> None:
    """Twice the queue on a link four times as fast is the shorter one."""
    slow = PathLoad(name="slow", read_queue=100, read_rate=10)
    fast = PathLoad(name="fast", read_queue=200, read_rate=40)
    assert choose_path([slow, fast]) == fast


def test_the_thresholds_are_those_of_the_gates() -> None:
    """Exactly at a threshold is within."""
    at = PathLoad(name="at", read_queue=30, unfinished=50, read_rate=10, handle_rate=10)
    assert GATES.short(at)
    assert not GATES.overloaded(at)
    assert Gates(short_seconds=2.9, overload_seconds=4.9).overloaded(at)


def test_nothing_to_choose_from_is_nothing_chosen() -> None:
    """No paths is no error: there may be some later."""
    assert choose_path([]) is None


BAD = [(name, value) for name in ("read_queue", "unfinished") for value in (-1, float("nan"), float("inf"))]
BAD += [(name, value) for name in ("read_rate", "handle_rate") for value in (0, -1, float("nan"))]


@pytest.mark.parametrize(("name", "value"), [*BAD, ("read_rate", float("inf"))])
def test_impossible_loads_are_refused(name: str, value: float) -> None:
    """Queues start at 0, rates above; and what has no end compares with nothing."""
    with pytest.raises(ConfigurationError, match="'x'"):
        PathLoad(**{"name": "x", name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"short_seconds": -1}, {"short_seconds": float("nan")}, {"overload_seconds": 0}])
def test_impossible_gates_are_refused(bad: dict[str, float]) -> None:
    """A gate that lets nobody through is none."""
    with pytest.raises(ConfigurationError):
        Gates(**bad)
