"""Advice as a report: Markdown, JSON and one page, through the writers that all reports go through."""

from __future__ import annotations

from langgraph_prefetch.evaluation.advice.readable import EARLY_SECONDS, QUANTILES
from langgraph_prefetch.evaluation.advice.values import Advice, Advised, Verdict
from langgraph_prefetch.evaluation.advice.words import (
    LEGEND,
    MODE_HEAD,
    about,
    headline,
    mode_row,
    notes,
    number,
    percent,
    readable_words,
    timing_words,
)
from langgraph_prefetch.evaluation.reporting.values import (
    Block,
    Figure,
    Lines,
    Section,
    SuiteReport,
    Summary,
    Table,
    Text,
)

_LIMITATIONS = (
    "Traces are the past: other questions, another prompt or another model are other traffic.",
    "What may run early is judged by a tool's name and your word; a trace does not show what a tool does.",
    "Recorded calls hold no schemas: an argument that all calls have is taken for a required one.",
    "Searches are replayed with their recorded durations, and a backend under more load may be slower.",
)


def report_of(advised: Advised) -> SuiteReport:
    """The report; it holds no query."""
    return SuiteReport(
        suite="advise",
        title="Would prefetch help?",
        hypotheses=("None: these are estimates from recorded runs, played to the real machine on virtual time.",),
        settings={
            "files": ", ".join(f"{file.rpartition('/')[2]} ({form})" for file, form, _, _ in advised.files),
            "runs": f"{advised.runs:,}",
            "model calls": f"{advised.model_calls:,}",
            "timing": timing_words(advised),
            **{f"assumed {number}": said for number, said in enumerate(advised.assumptions, start=1)},
        },
        sections=(*(_section(each, advised) for each in advised.advice), *_code(advised)),
        summary=_summary(advised),
        limitations=_LIMITATIONS,
    )


def _section(advice: Advice, advised: Advised) -> Section:
    evidence = advice.evidence
    blocks: list[Block] = [Text(paragraphs=tuple(_sentence(each) for each in (*advice.reasons, about(advice))))]
    if evidence.readable is not None and evidence.measured:
        blocks.append(Text(paragraphs=(_sentence(readable_words(evidence.readable)),)))
        points = tuple(zip(evidence.readable.seconds, (1 - each for each in QUANTILES), strict=True))
        blocks.append(
            Lines(
                caption=f"{advice.tool}: share of queries that are readable so early",
                x="seconds before the call",
                y="share of calls",
                series={advice.tool: points},
            )
        )
    if evidence.modes:
        blocks.append(
            Table(
                caption=f"{advice.tool}: what each serve mode would bring",
                head=MODE_HEAD,
                rows=tuple(mode_row(each, advised.prices) for each in evidence.modes.values()),
                note=" ".join(_sentence(each) for each in (LEGEND, *notes(evidence.modes.values()))),
            )
        )
    return Section(title=headline(advice), blocks=tuple(blocks))


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _code(advised: Advised) -> tuple[Section, ...]:
    named = [name for name, code in (("settings.py", advised.code), ("verified.py", advised.verified_code)) if code]
    said = f"To be pasted: {' and '.join(named)}, beside this report." if named else "Nothing: leave prefetch off."
    rows = tuple((name, *mode_row(each, advised.prices)[1:]) for name, each in advised.pasted.items())
    tables = (Table(caption="With exactly the settings of settings.py", head=("tool", *MODE_HEAD[1:]), rows=rows),)
    return (Section(title="Settings", blocks=(Text(paragraphs=(said,)), *(tables if rows else ()))),)


def _summary(advised: Advised) -> Summary:
    measured = [each for each in advised.advice if each.evidence.modes]
    best = [(each, each.evidence.modes.get(each.mode) or next(iter(each.evidence.modes.values()))) for each in measured]
    on = {Verdict.RECOMMENDED: "turn it on"}
    return Summary(
        speed=tuple(
            Figure(
                name=f"{each.tool}: hidden seconds a call",
                value=number(mode.hidden),
                note=on.get(each.verdict, str(each.verdict)),
            )
            for each, mode in best
        ),
        cost=tuple(
            Figure(
                name=f"{each.tool}: extra calls for each 100",
                value="-" if mode.extra.value is None else f"{100 * mode.extra.value:+.1f}",
                note=f"coverage {percent(mode.coverage)}; readable {EARLY_SECONDS:g} s early or more",
            )
            for each, mode in best
        ),
    )
