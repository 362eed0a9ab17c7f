"""Reports with every kind of block in them."""

import math
import random
from dataclasses import replace

from langgraph_prefetch.evaluation.reporting.values import (
    Distributions,
    Figure,
    Lines,
    PairedDifferences,
    Reliability,
    ReliabilityBin,
    RunTimeline,
    Section,
    StackedBars,
    SuiteReport,
    Summary,
    Table,
    Text,
)
from langgraph_prefetch.evaluation.statistics.values import Interval
from tests.observe.timeline.samples import run_events

ARMS = {"bare": 6.25, "wrapped, cold": 5.6, "wrapped, warm": 5.3, "direct": 6.0}


def seconds(n: int, middle: float, seed: int) -> tuple[float, ...]:
    """Times with a long tail to the right, as those of agents are."""
    dice = random.Random(seed)
    return tuple(middle * dice.lognormvariate(0, 0.18) for _ in range(n))


def bins(shift: float) -> tuple[ReliabilityBin, ...]:
    found = []
    for at in range(10):
        predicted, n = at / 10 + 0.05, 40 - 3 * at
        observed = min(1.0, max(0.0, predicted + shift * math.sin(3 * predicted)))
        around = Interval(low=max(0.0, observed - 1 / math.sqrt(n)), high=min(1.0, observed + 1 / math.sqrt(n)))
        found.append(ReliabilityBin(predicted=predicted, observed=observed, n=n, interval=around))
    return tuple(found)


def full_report(n: int = 120) -> SuiteReport:
    """One such as the speed suite might write."""
    times = {name: seconds(n, middle, at) for at, (name, middle) in enumerate(ARMS.items(), 1)}
    dice = random.Random(9)
    saved = tuple(dice.gauss(-0.6, 0.5) for _ in range(n))
    speed = Section(
        title="End to end",
        blocks=(
            Text(paragraphs=("Pairs share a question and a repeat; their order was balanced.",)),
            Distributions(caption="Seconds from the question to the last token", unit="s", series=times),
            PairedDifferences(
                caption="What each question gained", unit="s", first="bare", second="wrapped", differences=saved
            ),
            Table(
                caption="Tests",
                head=("Test", "statistic", "p", "effect", "n"),
                rows=(
                    ("Mann-Whitney U", "3120", "< 0.001", "Cliff's delta -0.61 [-0.70, -0.51]", "120, 120"),
                    ("paired permutation", "-0.62", "< 0.001", "Hodges-Lehmann -0.60 s [-0.69, -0.51]", "120"),
                ),
                note="Two-sided, at a level of 5 %.",
            ),
        ),
    )
    intent = Section(
        title="P(search)",
        blocks=(
            Reliability(caption="Reliability by language", series={"English": bins(0.12), "Korean": bins(-0.1)}),
            Lines(
                caption="Sweep of the threshold",
                x="threshold",
                y="share",
                series={
                    "coverage": tuple((t / 20, 1 - (t / 20) ** 2) for t in range(1, 20)),
                    "waste": tuple((t / 20, (1 - t / 20) ** 2 / 2) for t in range(1, 20)),
                    "accuracy": tuple((t / 20, 0.4 + t / 40) for t in range(1, 20)),
                },
            ),
        ),
    )
    cost = Section(
        title="Cost",
        blocks=(
            StackedBars(
                caption="Cost of 1,000 questions",
                unit="USD",
                bars={
                    "bare": {"input tokens": 2.1, "output tokens": 3.3, "retrievals": 0.4},
                    "wrapped": {
                        "input tokens": 2.1,
                        "output tokens": 3.3,
                        "retrievals": 0.4,
                        "retrievals in vain": 0.18,
                        "cache": 0.05,
                        "queue": 0.02,
                    },
                },
            ),
            RunTimeline(caption="The wrapped run of median length", events=tuple(run_events(steps=4))),
        ),
    )
    return SuiteReport(
        suite="speed",
        title="Speed: bare, wrapped and direct on the same searches",
        hypotheses=(
            "Primary endpoint: the median of the paired ratio wrapped / bare is below 0.97.",
            "Warm runs are at least as fast as cold ones.",
        ),
        settings={"model": "scripted", "seed": "7", "questions": "30", "when": "2026-11-29", "version": "0.1.0"},
        sections=(speed, intent, cost),
        summary=Summary(
            speed=(
                Figure(name="median of the paired ratio", value="0.89 [0.87, 0.91]", note="primary endpoint"),
                Figure(name="p95, wrapped", value="7.31 s [7.02, 7.80]"),
            ),
            cost=(Figure(name="per 1,000 questions", value="6.05 USD", note="bare: 5.80 USD"),),
        ),
        limitations=("The model is scripted: its pauses are those of a recording.", "One machine, one day."),
    )


def failed_report() -> SuiteReport:
    """One that says so."""
    return replace(full_report(20), failures=("Coverage of verdicts is 71 %, below the 90 % that was set.",))
