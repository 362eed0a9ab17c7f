"""The figures of bounded serving, as objects of the replay's JSON and as a table a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.evaluation.near.observed import Observed, Played
from langgraph_prefetch.evaluation.near.rivals import Arm
from langgraph_prefetch.evaluation.near.splits import Measured, calibrated, halves, measure
from langgraph_prefetch.evaluation.table import aligned
from langgraph_prefetch.near.settings import NearSettings

TOGETHER = "together"
RATES = (0.01, 0.02)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFigures:
    """One file, or all together: means over the splits, each of its measured half.

    Attributes:
        file: its name, or ``"together"``.
        search_calls: of the whole file.
        accepted_share: calls answered from the neighbourhood / calls.
        proved_share: calls answered by the certificate / calls.
        wrong_set_rate: wrong sets / accepted.
        wrong_set_upper95: the one-sided 95 % Clopper-Pearson bound of that rate, from the calls of one half.
        wrong_set_rate_max: of the worst split.
        broken_splits: share of the splits whose measured rate is above epsilon.
        recall_at_k: share of the right passages in accepted answers.
        right_share: calls whose local answer is right, whether accepted or not: no score can accept more without error.
    """

    file: str
    search_calls: int
    accepted_share: float
    proved_share: float
    wrong_set_rate: float
    wrong_set_upper95: float
    wrong_set_rate_max: float
    broken_splits: float
    recall_at_k: float
    right_share: float

    def as_json(self) -> dict[str, Any]:
        """The figures without the file's name; numbers are rounded to a millionth."""
        names = (name for name in self.__slots__ if name != "file")
        values = ((name, getattr(self, name)) for name in names)
        return {name: round(value, 6) if isinstance(value, float) else value for name, value in values}


def near_figures(played: Played, settings: NearSettings, *, splits: int, seed: int) -> tuple[NearFigures, ...]:
    """One object a file, in their order, and one of all together at the end.

    The files are taken for the traffic of one tool in one scope: each split calibrates once, on half of all questions,
    and every file's figures come from its calls in the other half.
    """
    files = list(dict.fromkeys(call.file for call in played.calls))
    measured: dict[str, list[Measured]] = {name: [] for name in (*files, TOGETHER)}
    for number, (known, rest) in enumerate(halves(played.calls, splits, seed)):
        threshold = calibrated(known, settings, f"{seed} {number}")
        measured[TOGETHER].append(measure(rest, threshold))
        for name in files:
            measured[name].append(measure([call for call in rest if call.file == name], threshold))
    calls = {name: [call for call in played.calls if name in (call.file, TOGETHER)] for name in measured}
    return tuple(_figures(name, calls[name], each, settings.epsilon) for name, each in measured.items())


def _figures(name: str, calls: Sequence[Observed], halves: Sequence[Measured], epsilon: float) -> NearFigures:
    accepted = sum(each.accepted for each in halves)
    return NearFigures(
        file=name,
        search_calls=len(calls),
        accepted_share=_mean(each.accepted / max(1, each.calls) for each in halves),
        proved_share=_mean(each.proved / max(1, each.calls) for each in halves),
        wrong_set_rate=_mean(each.rate for each in halves),
        wrong_set_upper95=_mean(each.upper95 for each in halves),
        wrong_set_rate_max=max((each.rate for each in halves), default=0.0),
        broken_splits=_mean(float(each.rate > epsilon) for each in halves),
        recall_at_k=sum(each.recall for each in halves) / accepted if accepted else 0.0,
        right_share=_mean(float(not call.wrong) for call in calls),
    )


def near_table(figures: Iterable[NearFigures], rivals: Iterable[Arm]) -> str:
    """Ours by file, then the others on all calls."""
    head = ("bounded", "calls", "accepted", "proved", "wrong sets", "upper 95 %", "worst split", "recall", "right")
    ours = [
        (
            each.file.rpartition("/")[2],
            str(each.search_calls),
            f"{each.accepted_share:.1%}",
            f"{each.proved_share:.1%}",
            f"{each.wrong_set_rate:.2%}",
            f"{each.wrong_set_upper95:.2%}",
            f"{each.wrong_set_rate_max:.2%}",
            f"{each.recall_at_k:.4f}",
            f"{each.right_share:.1%}",
        )
        for each in figures
    ]
    other_head = ("other ways, all calls", "hits", "wrong sets", *(f"at most {rate:.0%}*" for rate in RATES))
    others = [
        (
            arm.name,
            f"{arm.hits:.1%}",
            f"{arm.wrong_set_rate:.1%}" if arm.hits else "-",
            *(f"{arm.best_share(rate):.1%}" for rate in RATES),
        )
        for arm in rivals
    ]
    note = "* the share answered with so few wrong sets by the best threshold of its similarity, chosen in hindsight"
    return "\n\n".join((aligned([head, *ours]), f"{aligned([other_head, *others])}\n{note}"))


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return sum(held) / len(held) if held else 0.0
