"""Counts over events."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict

from langgraph_prefetch.events import (
    DRY_RUN,
    Event,
    Fate,
    NearAnswered,
    NearChecked,
    NearFetched,
    NearIgnored,
    NearTierChanged,
    NextCallEnded,
    NextCallFate,
    NextCallIgnored,
    NextCallStarted,
    RunEnded,
    RunStarted,
    SearchCallAnswered,
    SpeculationEnded,
    SpeculationIgnored,
    SpeculationStarted,
    StepStarted,
    Trouble,
)
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.report.report import DrawsTimeline, PriceList, Report
from langgraph_prefetch.values import Source

MAX_OPEN_RUNS = 4_096
"""For so many runs it is remembered which steps started and searched; of older ones without an end it is forgotten."""


class _Steps:
    """Steps of one run: those that started a guess, and those that searched."""

    __slots__ = ("searched", "started")

    def __init__(self) -> None:
        self.started: set[int] = set()
        self.searched: set[int] = set()


class Tally:
    """An event sink that counts. Safe for threads."""

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._n: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._ignored: Counter[str] = Counter()
        self._next_ignored: Counter[str] = Counter()
        self._near_unserved: Counter[str] = Counter()
        self._near_ignored: Counter[str] = Counter()
        self._unserved: Counter[str] = Counter()
        self._open: OrderedDict[str, _Steps] = OrderedDict()

    def __call__(self, event: Event) -> None:
        """Count one event."""
        with self._lock:
            self._count(event)

    def _count(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._n["runs"] += 1
            case StepStarted():
                self._n["steps"] += 1
            case SpeculationStarted():
                self._n["speculations"] += 1
                if event.source is Source.REASONING:
                    self._steps(event.run_id).started.add(event.step)
            case SpeculationEnded():
                self._n[f"fate.{event.fate}"] += 1
                if event.fate is not Fate.SERVED:
                    self._unserved[event.tool] += 1
            case SpeculationIgnored():
                self._ignored[event.reason] += 1
                if event.reason == DRY_RUN:
                    self._n["would_start"] += 1
                    self._unserved[event.tool] += 1
            case SearchCallAnswered():
                self._n["search_calls"] += 1
                self._n["late"] += event.late
                self._steps(event.run_id).searched.add(event.step)
                if event.source is not None:
                    self._n[f"served.{event.source}"] += 1
                self._seconds["hidden"] += event.hidden_seconds
                self._seconds["hideable"] += event.hideable_seconds
                self._seconds["retrieval"] += event.retrieval_seconds
                if event.forgone == DRY_RUN:
                    self._n["would_serve"] += 1
                    self._unserved[event.tool] -= 1
                    self._seconds["would_hide"] += event.forgone_seconds or 0.0
            case NextCallStarted():
                self._n["next_calls"] += 1
            case NextCallIgnored():
                self._next_ignored[event.reason] += 1
            case NextCallEnded():
                self._n[f"next.{event.fate}"] += 1
                self._n["wasted_input"] += event.wasted_input_tokens
                self._n["wasted_output"] += event.wasted_output_tokens
                self._seconds["hidden_model"] += event.hidden_seconds
            case NearFetched():
                self._n["near_fetches"] += 1
                self._n["near_bytes"] += event.bytes
                self._seconds["near_fetch"] += event.seconds
            case NearIgnored():
                self._near_ignored[event.reason] += 1
            case NearAnswered():
                self._n["near_proved"] += event.served and event.tier == "proved"
                if not event.served:
                    self._near_unserved[event.reason] += 1
            case NearChecked():
                self._n["near_audited"] += event.served
                self._n["near_audited_wrong"] += event.served and event.wrong
            case NearTierChanged():
                self._n["near_closings"] += not event.open
            case RunEnded():
                self._n["idle"] += event.idle
                steps = self._open.pop(event.run_id, _Steps())
                self._n["false_starts"] += len(steps.started - steps.searched)
            case Trouble():
                self._n["troubles"] += 1
            case _:
                pass

    def _steps(self, run_id: str) -> _Steps:
        steps = self._open.setdefault(run_id, _Steps())
        if len(self._open) > MAX_OPEN_RUNS:
            self._open.popitem(last=False)
        return steps

    def report(
        self,
        refusals: tuple[tuple[str, str], ...] = (),
        *,
        left_plain: tuple[str, ...] = (),
        recording: DrawsTimeline | None = None,
        price_list: PriceList | None = None,
    ) -> Report:
        """What was counted so far; with a ``price_list`` also what that was worth."""
        with self._lock:
            n, seconds = self._n.copy(), self._seconds.copy()
            ignored = tuple(self._ignored.most_common())
            next_ignored = tuple(self._next_ignored.most_common())
            near_unserved = tuple(self._near_unserved.most_common())
            near_ignored = tuple(self._near_ignored.most_common())
            unserved = self._unserved.copy()
        net_value = None
        if price_list is not None:
            lost = sum(price_list.prices.get(tool, 0.0) * count for tool, count in unserved.items())
            lost += (n["wasted_input"] + n["wasted_output"]) * price_list.token
            saved = seconds["hidden"] + seconds["would_hide"] + seconds["hidden_model"]
            net_value = saved * price_list.value_of_second - lost
        return Report(
            runs=n["runs"],
            steps=n["steps"],
            search_calls=n["search_calls"],
            served_reasoning=n[f"served.{Source.REASONING}"],
            served_sealed=n[f"served.{Source.SEALED}"],
            served_reuse=n[f"served.{Source.REUSE}"],
            served_near=n[f"served.{Source.NEAR}"],
            late=n["late"],
            speculations=n["speculations"],
            served_speculations=n[f"fate.{Fate.SERVED}"],
            wasted=n[f"fate.{Fate.WASTED}"],
            failed=n[f"fate.{Fate.FAILED}"],
            cancelled=n[f"fate.{Fate.CANCELLED}"],
            ignored=ignored,
            false_starts=n["false_starts"],
            hidden_seconds=seconds["hidden"],
            hideable_seconds=seconds["hideable"],
            retrieval_seconds=seconds["retrieval"],
            idle_runs=n["idle"],
            troubles=n["troubles"],
            refusals=refusals,
            left_plain=left_plain,
            recording=recording,
            would_start=n["would_start"],
            would_serve=n["would_serve"],
            would_hide_seconds=seconds["would_hide"],
            net_value=net_value,
            unit=price_list.unit if price_list is not None else "",
            next_calls=n["next_calls"],
            next_calls_adopted=n[f"next.{NextCallFate.ADOPTED}"],
            next_calls_cancelled=n[f"next.{NextCallFate.CANCELLED}"],
            next_calls_failed=n[f"next.{NextCallFate.FAILED}"],
            next_calls_ignored=next_ignored,
            hidden_model_seconds=seconds["hidden_model"],
            wasted_input_tokens=n["wasted_input"],
            wasted_output_tokens=n["wasted_output"],
            near_fetches=n["near_fetches"],
            near_bytes=n["near_bytes"],
            near_fetch_seconds=seconds["near_fetch"],
            near_proved=n["near_proved"],
            near_unserved=near_unserved,
            near_ignored=near_ignored,
            near_audited=n["near_audited"],
            near_audited_wrong=n["near_audited_wrong"],
            near_closings=n["near_closings"],
        )
