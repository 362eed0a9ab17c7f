"""The words around the drawing: the report's numbers, and a row for each run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from langgraph_prefetch.observe.timeline.data import clip
from langgraph_prefetch.observe.timeline.marks import Ending, RunLine
from langgraph_prefetch.report import Report

_NOT_LOST = (Ending.SERVED, Ending.UNSETTLED, Ending.FETCHED)
_RUN_COLUMNS = ("Run", "Seconds", "Model calls", "Search calls", "Served", "Hidden (s)", "Waited (s)", "Not served")


def numbers(report: Report) -> str:
    """The report as a list of terms and values, in HTML."""
    sources = _parts({name: getattr(report, f"served_{name}") for name in ("reasoning", "sealed", "reuse", "near")})
    endings = _parts({name: getattr(report, name) for name in ("wasted", "cancelled", "failed", "unsettled")})
    runs = f"in {report.runs} run{'' if report.runs == 1 else 's'}, of which {report.idle_runs} streamed nothing"
    facts = [
        ("Hidden", f"{report.hidden_seconds:.2f} s", f"of {report.hideable_seconds:.2f} s hideable"),
        ("Coverage", f"{report.coverage:.0%}", f"{report.served} of {report.search_calls} search calls served"),
        ("Served", str(report.served), sources),
        ("Accuracy", f"{report.accuracy:.0%}", f"{report.served_speculations} of {report.speculations} speculations"),
        ("Speculations not served", str(report.speculations - report.served_speculations), endings),
        ("Timeliness", f"{report.timeliness:.0%}", f"{report.late} served late"),
        ("Amplification", f"{report.amplification:.2f}", "backend starts for each one without prefetch"),
        ("Model calls", str(report.steps), runs),
    ]
    if report.next_calls:
        wasted = f"{report.wasted_input_tokens} tokens read and {report.wasted_output_tokens} written in vain"
        started = f"{report.next_calls_adopted} of {report.next_calls} adopted"
        facts.append(("Next model calls in private", started, f"{report.hidden_model_seconds:.2f} s hidden, {wasted}"))
    if report.near_fetches:
        checked = f"{report.near_audited_wrong} of {report.near_audited} that were searched again were wrong"
        facts.append(("Near misses", f"{report.served_near} served", f"from {report.near_fetches} fetches; {checked}"))
    if report.false_starts:
        facts.append(("False starts", str(report.false_starts), "model calls without a search that started one"))
    if report.troubles:
        facts.append(("Troubles", str(report.troubles), "failures of prefetch, which no agent noticed"))
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd><dd>{escape(note)}</dd></div>"
        for name, value, note in facts
    )


def _parts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "none"


def notes(lines: Iterable[str]) -> str:
    """Paragraphs, in HTML."""
    return "".join(f'<p class="note">{escape(line)}</p>' for line in lines)


def run_table(runs: Sequence[RunLine]) -> str:
    """The runs compared, in HTML; nothing where there is nothing to compare."""
    if len(runs) < 2:
        return ""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _RUN_COLUMNS)
    return (
        '<section aria-labelledby="compared"><h2 id="compared">Runs compared</h2>'
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(map(_row, runs))}</tbody></table></section>"
    )


def _row(run: RunLine) -> str:
    lost = [each for each in run.speculations if not each.is_model_call and each.fate not in _NOT_LOST]
    values = (
        f"{run.end - run.start:.2f}",
        str(run.all_steps),
        str(len(run.calls)),
        str(sum(call.source is not None for call in run.calls)),
        f"{sum(call.hidden for call in run.calls):.2f}",
        f"{sum(call.waited for call in run.calls):.2f}",
        str(len(lost)),
    )
    cells = "".join(f'<td class="number">{value}</td>' for value in values)
    return f'<tr><th scope="row">{escape(clip(run.id))}</th>{cells}</tr>'
