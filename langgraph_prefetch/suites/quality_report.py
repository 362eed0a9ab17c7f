"""The report of the suite ``quality``, from what the judges found. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from langgraph_prefetch.evaluation.judging import PairSheet, ScoreSheet, Spent
from langgraph_prefetch.evaluation.reporting.values import (
    Distributions,
    Figure,
    Section,
    SuiteReport,
    Summary,
    Text,
)
from langgraph_prefetch.evaluation.statistics.values import MarginTest
from langgraph_prefetch.suites.agents import BARE, WRAPPED
from langgraph_prefetch.suites.became import answers_section
from langgraph_prefetch.suites.cells import estimate, share
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.quality_answers import quality_answers
from langgraph_prefetch.suites.quality_judges import is_scripted
from langgraph_prefetch.suites.quality_measures import ControlFound, by_question, difference, wins, worst_case
from langgraph_prefetch.suites.quality_settings import JudgingSettings
from langgraph_prefetch.suites.quality_tables import (
    agreement_table,
    controls_table,
    groups_table,
    pairs_table,
    places_table,
    scores_table,
    too_few,
    unscored_table,
)
from langgraph_prefetch.suites.suite_file import stated
from langgraph_prefetch.suites.versions import settings_shown, title_shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Everything the judges said.

    Attributes:
        scores: of the answers of both arms, the primary rubric first.
        pairs: bare and wrapped, compared; None if they were not.
        asked_in_both_orders: these pairs and those of the control, for the rate of places.
        controls: what became of them.
        judges: names.
        themselves: judges that are the agent's own model.
        spent: on all of it.
        unpriced: judges whose price the price file does not say.
        broken_lines: lines of the file of verdicts that could not be read.
        texts: figures that need no judge, such as how many answers are the same text.
        untold: why there are none.
    """

    scores: tuple[ScoreSheet, ...]
    pairs: PairSheet | None
    asked_in_both_orders: tuple[PairSheet, ...]
    controls: tuple[ControlFound, ...]
    judges: tuple[str, ...]
    themselves: tuple[str, ...]
    spent: Spent
    unpriced: tuple[str, ...] = ()
    broken_lines: int = 0
    texts: tuple[Figure, ...] = ()
    untold: str | None = None

    @property
    def primary(self) -> ScoreSheet:
        """That of the first rubric."""
        return self.scores[0]

    @property
    def stopped(self) -> tuple[str, ...]:
        """Why judges were not asked everything."""
        sheets = [(sheet.metric, sheet.stopped) for sheet in self.scores]
        sheets += [("pairwise", self.pairs.stopped)] if self.pairs is not None else []
        return tuple(f"{name} is partial: {why}" for name, why in sheets if why is not None)


def quality_report(
    context: SuiteContext,
    settings: JudgingSettings,
    found: Findings,
    described: Mapping[str, str],
    remarks: Sequence[str],
    *,
    partial: bool,
) -> SuiteReport:
    """What the verdicts say."""
    test = _test(found.primary, settings)
    return SuiteReport(
        suite="quality",
        title=title_shown(context),
        hypotheses=(*stated(context.settings), _rule(settings)),
        settings=settings_shown(context, {**described, "judges": ", ".join(found.judges)}),
        sections=_sections(found, settings, smoke=context.smoke),
        summary=_summary(found, settings, test),
        limitations=(*_limitations(context, found), *found.stopped, *remarks),
        failures=(*_failures(context, settings, found, test), *(remarks if partial else ())),
    )


def _test(sheet: ScoreSheet, settings: JudgingSettings) -> MarginTest:
    return difference(by_question(sheet.judged, BARE, WRAPPED), settings.margin, settings.alpha)


def _rule(settings: JudgingSettings) -> str:
    return (
        f"Margin, stated before the run: a mean score lower by less than {settings.margin:g} (of a scale from 0 to 1) "
        f"does not matter; each one-sided test at {settings.alpha:g}; coverage of at least {settings.coverage:.0%}."
    )


def _sections(found: Findings, settings: JudgingSettings, *, smoke: bool) -> tuple[Section, ...]:
    tests = [(sheet, _test(sheet, settings)) for sheet in found.scores]
    worst = worst_case(found.primary.judged, BARE, WRAPPED, settings.margin, settings.alpha)
    paired = by_question(found.primary.judged, BARE, WRAPPED)
    sections = [
        answers_section(quality_answers(tests, found.pairs, found.controls), smoke=smoke),
        Section(
            title="Scores",
            blocks=(
                scores_table(tests, worst),
                Distributions(
                    caption=f"{found.primary.metric}, by question",
                    unit="score",
                    series={BARE: paired.first, WRAPPED: paired.second},
                ),
            ),
        ),
        Section(title="Positive controls", blocks=(controls_table(found.controls),)),
    ]
    if found.pairs is not None:
        blocks = (pairs_table(found.pairs), places_table(found.asked_in_both_orders, found.judges))
        sections.append(Section(title="Compared side by side", blocks=blocks))
    sections += [
        Section(
            title="By language and type of question",
            blocks=(
                groups_table("By language", found.primary, lambda sample: sample.language),
                groups_table("By type", found.primary, lambda sample: sample.kind),
            ),
        ),
        Section(
            title="The judges",
            blocks=(
                agreement_table(found.scores, found.pairs),
                unscored_table(found.scores, found.pairs),
                _told(found),
            ),
        ),
    ]
    return tuple(sections)


def _told(found: Findings) -> Text:
    lines = [
        "Every reply stands in verdicts.jsonl, with the judge's name, the prompt's version and digest and the whole "
        "transcript; every score in scores.jsonl.",
        f"{found.spent.calls} calls were made, {found.spent.stored} replies were there already.",
    ]
    if found.themselves:
        lines.append(
            f"Judges that are the agent's own model: {', '.join(found.themselves)}. Models favour their own writing."
        )
    if found.broken_lines:
        lines.append(f"{found.broken_lines} lines of verdicts.jsonl could not be read, and were asked again.")
    return Text(paragraphs=tuple(lines))


def _summary(found: Findings, settings: JudgingSettings, test: MarginTest) -> Summary:
    coverage = found.primary.coverage.applicable
    quality = [
        Figure(
            name=f"{found.primary.metric}, wrapped less bare",
            value=estimate(test.difference),
            note=f"non-inferior at {settings.margin:g}: {'yes' if test.not_lower else 'not shown'}",
        ),
        Figure(
            name="positive controls found",
            value=f"{sum(each.detected for each in found.controls)} of {len(found.controls)}",
        ),
        Figure(name="coverage", value=share(coverage.scored, coverage.asked), note=coverage.named_reasons()),
    ]
    if found.pairs is not None:
        first, second, ties = wins(found.pairs)
        quality.insert(1, Figure(name="compared: wrapped better, tie, bare better", value=f"{second}, {ties}, {first}"))
    quality += found.texts
    spent = found.spent
    cost = [
        Figure(name="calls of judges", value=f"{spent.calls:,}", note=f"{spent.stored:,} more were kept from before"),
        Figure(name="tokens of judges", value=f"{spent.input_tokens:,} in, {spent.output_tokens:,} out"),
        _price(found),
    ]
    return Summary(quality=tuple(quality), cost=tuple(cost))


def _price(found: Findings) -> Figure:
    name, money = "price of judging", f"{found.spent.money:.4f}"
    if all(is_scripted(each) for each in found.judges):
        return Figure(name=name, value="none", note="scripted judges cost nothing; a model does")
    if set(found.unpriced) >= {each for each in found.judges if not is_scripted(each)}:
        return Figure(name=name, value="unknown", note="the price file has none of these judges")
    if found.unpriced:
        return Figure(name=name, value=f"at least {money}", note=f"no price is known of {', '.join(found.unpriced)}")
    return Figure(name=name, value=money, note="in the currency of the price file")


def _failures(context: SuiteContext, settings: JudgingSettings, found: Findings, test: MarginTest) -> list[str]:
    said = [
        f"the control was not found: {each.name} ({each.metric})" + (f"; {each.note}" if each.note else "")
        for each in found.controls
        if not each.detected
    ]
    if not found.controls:
        said.append("there was nothing to make a control of: these judges may see no difference at all")
    measured = [(sheet.metric, sheet.coverage.applicable) for sheet in found.scores]
    measured += [("pairwise", found.pairs.coverage)] if found.pairs is not None else []
    for name, coverage in measured:
        if not coverage.reaches(settings.coverage):
            why = f": {coverage.named_reasons()}" if coverage.reasons else ""
            got = f"{coverage.scored} of {coverage.asked}"
            said.append(f"{name}: {got} have a verdict, less than the {settings.coverage:.0%} that was set{why}")
    if context.settings.get("limits", {}).get("non_inferior") and not context.smoke and not test.not_lower:
        needed = too_few(test)
        said.append(
            f"{found.primary.metric}: not shown to be lower by less than {settings.margin:g}"
            + ("" if needed is None else f": none of {test.difference.n} questions differs, but that takes {needed}")
        )
    return said


def _limitations(context: SuiteContext, found: Findings) -> list[str]:
    said = [
        "Judges are instruments with errors of their own: the controls show what they can see, not that they are right."
    ]
    if any(is_scripted(name) for name in found.judges):
        said.append("A scripted judge counts claims that stand in the passages; it understands nothing.")
    if found.themselves:
        said.append("A judge is the agent's own model.")
    elif context.model is None and not all(is_scripted(name) for name in found.judges):
        said.append("Whether a judge is the agent's own model is not known here.")
    if context.make_agent is None and context.model is None and not context.inputs.get("rows"):
        said.append(
            "The agent's model is scripted: it answers from what its searches found, in words written beforehand."
        )
    if found.untold is not None:
        said.append(found.untold)
    if context.smoke:
        said.append("This was a smoke run: its figures mean nothing.")
    return said
