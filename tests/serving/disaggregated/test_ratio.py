"""The closed formula for prefill and decode nodes, and the working set."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.serving.disaggregated.ratio import pd_range, working_set_bytes


def test_the_published_example_comes_out_exactly() -> None:
    """Eight GPUs, one storage NIC as fast as a compute NIC, 500 GB/s of memory: 1/7 to 7/2."""
    found = pd_range(g=8, s=1, M=500, B=50)
    assert (found.least, found.most) == (Fraction(1, 7), Fraction(7, 2))
    assert not found.empty


@pytest.mark.parametrize(
    ("g", "s", "m", "most", "limited_by"),
    [
        (8, 1, 1000, Fraction(7, 2), "decode NIC, writing"),
        (8, 1, 250, Fraction(1), "decode memory"),
        (8, 3.5, 10_000, Fraction(2, 7), "decode NIC, reading"),
    ],
)
def test_what_sets_the_upper_end_is_named(g: int, s: float, m: float, most: Fraction, limited_by: str) -> None:
    """Each of the three limits is the least one somewhere."""
    found = pd_range(g, s, m, 50)
    assert (found.most, found.limited_by) == (most, limited_by)


@given(
    g=st.integers(2, 16),
    s=st.fractions(Fraction(1, 10), 1),
    p=st.integers(1, 12),
    d=st.integers(1, 12),
    memory=st.integers(100, 2000),
)
def test_within_the_range_no_link_carries_more_than_it_can(g: int, s: Fraction, p: int, d: int, memory: int) -> None:
    """The range is the set of ratios at which all four inequalities of its derivation hold."""
    nic = Fraction(50)
    direct, detour = nic * s / (d * g**2), nic * s / (p * g**2)
    holds = (
        (direct + detour) * d * g <= nic
        and (direct + 2 * detour) * p * g <= nic
        and (2 * direct + detour) * p * g <= nic
        and (3 + 2 * Fraction(p, d)) * nic * s <= memory
    )
    share = float(s)
    if Fraction(str(share)) == s:  # what a float cannot say exactly is not compared
        assert pd_range(g, share, memory, 50).holds(p, d) == holds


def test_too_little_memory_leaves_no_ratio() -> None:
    """An empty range is said to be empty rather than turned around."""
    found = pd_range(8, 1, 120, 50)
    assert found.empty
    assert not found.holds(1, 1)


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name in "gsMB" for value in (0, -1, float("nan"), float("inf"), None, "many", 10**400)]
    + [("s", 8), ("s", 9), ("g", 7.5)],
)
def test_impossible_hardware_is_refused(name: str, value: Any) -> None:
    """A value that no node has, or that was never measured, is the caller's mistake, and is named."""
    with pytest.raises(ConfigurationError, match=rf"pd_range: .*\b{name}\b"):
        pd_range(**{"g": 8, "s": 1, "M": 500, "B": 50, name: value})


def test_no_ratio_without_nodes() -> None:
    """P/D is defined for at least one of each."""
    with pytest.raises(ConfigurationError, match="at least 1"):
        pd_range(8, 1, 500, 50).holds(0, 3)


def test_the_working_set_is_half_of_what_the_agents_under_way_end_with() -> None:
    """λ T̄ total / 2; and it grows with the square of the time that tools add."""
    plain = working_set_bytes(arrivals_per_second=0.1, job_seconds=600, tokens=56_000, bytes_per_token=43_000)
    assert plain == pytest.approx(0.1 * 600 * 56_000 * 43_000 / 2)
    idle = working_set_bytes(
        arrivals_per_second=0.1, job_seconds=600, tokens=56_000, bytes_per_token=43_000, idle_factor=3
    )
    assert idle == pytest.approx(9 * plain)


@pytest.mark.parametrize("name", ["arrivals_per_second", "job_seconds", "tokens", "bytes_per_token", "idle_factor"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), None])
def test_a_working_set_of_nothing_measured_is_refused(name: str, value: Any) -> None:
    """Rather than a figure that is none."""
    given = {"arrivals_per_second": 1, "job_seconds": 1, "tokens": 1, "bytes_per_token": 1}
    with pytest.raises(ConfigurationError):
        working_set_bytes(**{**given, name: value})
