"""The report: numbers that add up. The words are defined in docs/words.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from langgraph_prefetch.errors import TimelineError


class DrawsTimeline(Protocol):
    """What recorded the events behind a report."""

    def timeline(self, path: str | Path, /) -> Path:
        """Draw them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """What a saved second is worth, and what a call of each tool and a token costs, all in one unit."""

    unit: str
    value_of_second: float
    prices: Mapping[str, float]
    token: float = 0.0


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What prefetch did.

    ``search_calls = served + misses`` and ``speculations = served_speculations + wasted + failed + cancelled +
    unsettled`` always hold.

    Attributes:
        runs, steps: agent runs and model calls listened to.
        search_calls: real calls of the named tools.
        served_reasoning, served_sealed, served_reuse, served_near: calls answered early, by source.
        late: served calls that joined a retrieval still running.
        speculations: background retrievals started.
        served_speculations, wasted, failed, cancelled: how they ended; ``unsettled`` have not yet.
        ignored: signals that started nothing, by reason.
        false_starts: model calls without a search call that started a speculation.
        hidden_seconds: retrieval time the agent did not wait for, at most ``hideable_seconds``.
        retrieval_seconds: retrieval time of all search calls.
        idle_runs: runs whose models streamed nothing, so that nothing could be read.
        troubles: failures inside prefetch, none of which reached the agent.
        refusals: tools that are never run early, and why.
        left_plain: why ``force_streaming="auto"`` did not make a model stream.
        recording: the events, where they are recorded.
        would_start, would_serve, would_hide_seconds: in a dry run, what would have been started and served, and the
            seconds that would have hidden.
        net_value: seconds hidden, times the value of one, less the price of a call for each speculation that ended
            without being served; in a dry run what that would have been. Seconds and tokens of model calls started in
            private count too. None without ``value_of_second``.
        unit: of ``net_value``: ``money`` or ``calls``.
        next_calls: model calls started in private, under ``serve="verified"``.
        next_calls_adopted, next_calls_cancelled, next_calls_failed: how they ended; ``next_calls_unsettled`` have not
            yet. A failed one was made as usual.
        next_calls_ignored: reasons for which one was not started, and how often.
        hidden_model_seconds: time of adopted model calls that the agent did not wait for.
        wasted_input_tokens, wasted_output_tokens: of those that were not adopted, estimated where the provider did
            not tell.
        near_fetches: lists of passages fetched around anchors for near misses; ``near_bytes``, of their vectors, and
            ``near_fetch_seconds``, all taken together.
        near_proved: near misses served that were proved right.
        near_unserved: reasons for which a ranking among fetched passages was not served, and how often.
        near_ignored: reasons for which passages were not fetched, and how often.
        near_audited, near_audited_wrong: near misses served that were searched again, and those that were wrong sets;
            ``near_wrong_low`` and ``near_wrong_high``: Clopper-Pearson interval, 95 %, of their rate.
        near_closings: how often something that was answered before was not any more.
    """

    runs: int = 0
    steps: int = 0
    search_calls: int = 0
    served_reasoning: int = 0
    served_sealed: int = 0
    served_reuse: int = 0
    served_near: int = 0
    late: int = 0
    speculations: int = 0
    served_speculations: int = 0
    wasted: int = 0
    failed: int = 0
    cancelled: int = 0
    ignored: tuple[tuple[str, int], ...] = ()
    false_starts: int = 0
    hidden_seconds: float = 0.0
    hideable_seconds: float = 0.0
    retrieval_seconds: float = 0.0
    idle_runs: int = 0
    troubles: int = 0
    refusals: tuple[tuple[str, str], ...] = field(default=())
    left_plain: tuple[str, ...] = ()
    recording: DrawsTimeline | None = field(default=None, repr=False, compare=False)
    would_start: int = 0
    would_serve: int = 0
    would_hide_seconds: float = 0.0
    net_value: float | None = None
    unit: str = ""
    next_calls: int = 0
    next_calls_adopted: int = 0
    next_calls_cancelled: int = 0
    next_calls_failed: int = 0
    next_calls_ignored: tuple[tuple[str, int], ...] = ()
    hidden_model_seconds: float = 0.0
    wasted_input_tokens: int = 0
    wasted_output_tokens: int = 0
    near_fetches: int = 0
    near_bytes: int = 0
    near_fetch_seconds: float = 0.0
    near_proved: int = 0
    near_unserved: tuple[tuple[str, int], ...] = ()
    near_ignored: tuple[tuple[str, int], ...] = ()
    near_audited: int = 0
    near_audited_wrong: int = 0
    near_wrong_low: float = 0.0
    near_wrong_high: float = 1.0
    near_closings: int = 0

    @property
    def near_wrong_set_rate(self) -> float:
        """Wrong sets / near misses served that were searched again; 0 if none was."""
        return _share(self.near_audited_wrong, self.near_audited)

    @property
    def next_calls_unsettled(self) -> int:
        """Model calls started in private that are under way, or were cancelled and have not stopped yet."""
        return self.next_calls - self.next_calls_adopted - self.next_calls_cancelled - self.next_calls_failed

    @property
    def served(self) -> int:
        """Search calls answered without running the tool for them."""
        return self.served_reasoning + self.served_sealed + self.served_reuse + self.served_near

    @property
    def misses(self) -> int:
        """Search calls the tool ran for."""
        return self.search_calls - self.served

    @property
    def unsettled(self) -> int:
        """Speculations under way, or ready and not claimed yet."""
        return self.speculations - self.served_speculations - self.wasted - self.failed - self.cancelled

    @property
    def coverage(self) -> float:
        """Served / search calls, in [0, 1]."""
        return _share(self.served, self.search_calls)

    @property
    def accuracy(self) -> float:
        """Speculations served / speculations started, cancelled ones included."""
        return _share(self.served_speculations, self.speculations)

    @property
    def timeliness(self) -> float:
        """Served calls whose result was ready when they came / served calls."""
        return _share(self.served - self.late, self.served)

    @property
    def amplification(self) -> float:
        """Backend starts with prefetch, fetches of passages and second searches included / without it."""
        started = self.speculations + self.near_fetches + self.near_audited + self.misses
        return _share(started, self.search_calls) if self.search_calls else 1.0

    def timeline(self, path: str | Path) -> Path:
        """Draw the recorded runs to ``path``, a page for ``.html`` and a picture for ``.png``; returns the path.

        Raises:
            TimelineError: nothing was recorded, or the timeline cannot be drawn or written.
        """
        if self.recording is None:
            raise TimelineError("no events were recorded: call agent.prefetch.record() before the agent runs")
        return self.recording.timeline(path)

    def __str__(self) -> str:
        near = f", near {self.served_near}" if self.served_near else ""
        lines = [
            f"search calls    {self.search_calls}, served {self.served} (coverage {self.coverage:.0%}: "
            f"reasoning {self.served_reasoning}, sealed call {self.served_sealed}, reuse {self.served_reuse}{near})",
            f"speculations    {self.speculations}: served {self.served_speculations}, wasted {self.wasted}, "
            f"failed {self.failed}, cancelled {self.cancelled}, unsettled {self.unsettled} "
            f"(accuracy {self.accuracy:.0%})",
            f"hidden          {self.hidden_seconds:.2f} s of {self.hideable_seconds:.2f} s hideable "
            f"({self.retrieval_seconds:.2f} s of retrieval), timeliness {self.timeliness:.0%}",
            f"amplification   {self.amplification:.2f} backend starts for each one without prefetch",
        ]
        if self.would_start:
            lines.append(
                f"dry run         would have started {self.would_start}, served {self.would_serve}, "
                f"hidden {self.would_hide_seconds:.2f} s"
            )
        if self.next_calls:
            lines.append(
                f"next calls      {self.next_calls} started in private: adopted {self.next_calls_adopted} "
                f"({self.hidden_model_seconds:.2f} s hidden), cancelled {self.next_calls_cancelled}, "
                f"failed {self.next_calls_failed}, unsettled {self.next_calls_unsettled}; wasted tokens: "
                f"{self.wasted_input_tokens} read, {self.wasted_output_tokens} written"
            )
        if self.near_fetches:
            lines.append(
                f"near misses     {self.served_near} served ({self.near_proved} proved) from {self.near_fetches} "
                f"fetches ({self.near_bytes / 1e6:.1f} MB, {self.near_fetch_seconds:.2f} s); searched again "
                f"{self.near_audited}, "
                f"wrong {self.near_audited_wrong} (95 %: {self.near_wrong_low:.1%} to {self.near_wrong_high:.1%})"
            )
        if self.net_value is not None:
            lines.append(f"net value       {self.net_value:+.4g} {self.unit}")
        if self.false_starts:
            lines.append(f"false starts    {self.false_starts} of {self.steps} model calls")
        if self.idle_runs:
            lines.append(
                f"idle            no tokens seen in {self.idle_runs} of {self.runs} runs: stream the agent, or set "
                "force_streaming=True"
            )
            lines.extend(f'                force_streaming="auto" did not: {reason}' for reason in self.left_plain)
        lines.extend(f"not prefetched  {tool}: {reason}" for tool, reason in self.refusals)
        if self.troubles:
            lines.append(f"troubles        {self.troubles} (see the log of langgraph_prefetch)")
        return "\n".join(lines)
