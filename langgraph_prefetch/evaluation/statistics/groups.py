"""Three groups or more: does any differ, by how much, and which?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from langgraph_prefetch.evaluation.statistics._scipy import np, scipy
from langgraph_prefetch.evaluation.statistics.corrections import holm
from langgraph_prefetch.evaluation.statistics.samples import ALL_EQUAL, joined, named_samples
from langgraph_prefetch.evaluation.statistics.two_samples import CLIFFS_DELTA, cliffs_delta
from langgraph_prefetch.evaluation.statistics.values import Comparison, Estimate, TestResult

EPSILON_SQUARED = "epsilon squared"


def kruskal_wallis(groups: Mapping[str, Sequence[float]]) -> TestResult:
    """Kruskal and Wallis's H, corrected for ties, with epsilon squared as its effect.

    Kruskal & Wallis, Journal of the American Statistical Association 47 (1952); epsilon squared = H / (n - 1), 0 where
    ranks do not depend on the group, 1 where they follow from it (Tomczak & Tomczak, *The need to report effect size
    estimates revisited*, Trends in Sport Sciences 21, 2014). The p-value is that of chi-square, rough below 5 a group.

    Raises:
        SampleError: a value that is not finite; the message names the group.
    """
    samples, without = named_samples(groups)
    name, n = "Kruskal-Wallis H", tuple(each.size for each in samples.values())
    left_out = f"without observations: {', '.join(without)}" if without else ""
    if len(samples) < 2:
        return TestResult(
            name=name, statistic=None, p_value=None, n=n, note=joined("fewer than two groups have any", left_out)
        )
    everything = np.concatenate(list(samples.values()))
    if np.ptp(everything) == 0:
        h, p = 0.0, 1.0
        left_out = joined(ALL_EQUAL, left_out)
    else:
        found = scipy.stats.kruskal(*samples.values())
        h, p = float(found.statistic), float(found.pvalue)
    few = "fewer than 5 in a group: the p-value is rough" if min(n) < 5 else ""
    return TestResult(
        name=name,
        statistic=h,
        p_value=p,
        n=n,
        effect=Estimate(value=h / (everything.size - 1), n=everything.size),
        effect_name=EPSILON_SQUARED,
        note=joined(few, left_out),
    )


def dunn(groups: Mapping[str, Sequence[float]], *, level: float = 0.95) -> tuple[Comparison, ...]:
    """Dunn's test of every pair of groups, two-sided, corrected after Holm, with Cliff's delta of each pair.

    z = (mean rank of the second - of the first) / sqrt((N(N+1)/12 - sum(t^3 - t)/(12(N-1))) (1/m + 1/n)), with the
    ranks among all N observations and t the sizes of ties (Dunn, *Multiple comparisons using rank sums*, Technometrics
    6, 1964). Groups without observations have no pairs; ``level`` is that of each delta's interval.

    Raises:
        SampleError: a value that is not finite; the message names the group.
    """
    samples, _ = named_samples(groups)
    if len(samples) < 2:
        return ()
    everything = np.concatenate(list(samples.values()))
    total = everything.size
    ranks = scipy.stats.rankdata(everything)
    _, ties = np.unique(everything, return_counts=True)
    spread = total * (total + 1) / 12 - float((ties.astype(np.float64) ** 3 - ties).sum()) / (12 * max(total - 1, 1))
    ends = np.cumsum([each.size for each in samples.values()])
    mean_ranks = {name: float(part.mean()) for name, part in zip(samples, np.split(ranks, ends[:-1]), strict=True)}
    results = []
    for one, two in itertools.combinations(samples, 2):
        m, n = samples[one].size, samples[two].size
        z = 0.0 if spread <= 0 else (mean_ranks[two] - mean_ranks[one]) / math.sqrt(spread * (1 / m + 1 / n))
        results.append(
            TestResult(
                name="Dunn z",
                statistic=z,
                p_value=min(1.0, 2 * float(scipy.stats.norm.sf(abs(z)))),
                n=(m, n),
                effect=cliffs_delta(samples[one].tolist(), samples[two].tolist(), level=level),
                effect_name=CLIFFS_DELTA,
                note=ALL_EQUAL if spread <= 0 else "",
            )
        )
    adjusted = holm([each.p_value or 0.0 for each in results])
    return tuple(
        Comparison(first=one, second=two, result=result, adjusted_p=p)
        for (one, two), result, p in zip(itertools.combinations(samples, 2), results, adjusted, strict=True)
    )
