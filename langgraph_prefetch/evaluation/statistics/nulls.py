"""Exact distributions of rank statistics where nothing differs and nothing is tied.

Counts are only ever added up, so even the smallest tail keeps its digits.
"""

from __future__ import annotations

from functools import lru_cache

from langgraph_prefetch.evaluation.statistics._scipy import Array, np


@lru_cache(maxsize=64)
def rank_sum(m: int, n: int) -> Array:
    """P(U <= u) for u = 0 ... m*n: the share of the orders of m and n numbers in which at most u pairs are reversed.

    The recursion of Mann & Whitney, Annals of Mathematical Statistics 18 (1947): the largest is of one or the other.
    """
    size = m * n + 1
    none = np.zeros(size)
    none[0] = 1.0
    row = [none] * (n + 1)
    for _ in range(m):
        for j in range(1, n + 1):
            ways = row[j - 1].copy()
            ways[j:] += row[j][: size - j]
            row[j] = ways
    shares: Array = np.cumsum(row[n]) / row[n].sum()
    return shares


@lru_cache(maxsize=64)
def signed_rank(n: int) -> Array:
    """P(V <= v) for v = 0 ... n(n+1)/2: the share of the sets of ranks 1 ... n whose sum is at most v.

    Wilcoxon, Biometrics Bulletin 1 (1945).
    """
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    shares: Array = np.cumsum(ways) / ways.sum()
    return shares
