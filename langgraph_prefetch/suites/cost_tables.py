"""The sections of the ``cost`` suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langgraph_prefetch.evaluation.costs.bill import Bill, Line
from langgraph_prefetch.evaluation.costs.compare import Difference
from langgraph_prefetch.evaluation.costs.deployment import Deployment
from langgraph_prefetch.evaluation.costs.prices import Prices
from langgraph_prefetch.evaluation.reporting.values import Section, StackedBars, Table, Text
from langgraph_prefetch.evaluation.statistics.values import Estimate
from langgraph_prefetch.money import shown
from langgraph_prefetch.suites.cells import estimate

UNKNOWN = "unknown"
UNUSED = "0"
TOTAL = "total"


def thousand_section(bills: Iterable[Bill]) -> Section:
    """What 1,000 questions cost, each arm a column."""
    bills = tuple(bills)
    table = Table(
        caption=f"Cost of 1,000 questions, {bills[0].currency}",
        head=("component", *(each.arm for each in bills)),
        rows=(
            *((name, *(_of(each, name) for each in bills)) for name in _names(bills)),
            (TOTAL, *(at_least(f"{each.total_per_thousand:.6f}", each.complete) for each in bills)),
        ),
        note="Each component is rounded to a millionth before it is added up, so that the column adds up exactly.",
    )
    bars = StackedBars(
        caption="Cost of 1,000 questions",
        unit=bills[0].currency,
        bars={_bar(each): {name: float(amount) for name, amount in each.groups().items()} for each in bills},
        note=_untold(bills),
    )
    return Section(title="1,000 questions", blocks=(table, bars))


def _bar(each: Bill) -> str:
    return each.arm if each.complete else f"{each.arm}, at least"


def _untold(bills: Sequence[Bill]) -> str:
    partial = [each.arm for each in bills if not each.complete]
    return f"Of {' and '.join(partial)}, the bar shows what is known: it costs at least that." if partial else ""


def run_section(bills: Iterable[Bill]) -> Section:
    """What these very runs cost, to the last digit."""
    return Section(title="The runs themselves, exactly", blocks=tuple(_bill(each) for each in bills))


def difference_section(found: Difference, saved: Estimate, currency: str) -> Section:
    """What an arm costs more than the baseline, and what that buys."""
    price = None if saved.value is None else found.per_saved_second(saved.value)
    if saved.value is None:
        buys = "No question was answered by both arms, so that no saving can be said."
    elif price is None:
        buys = f"{found.second} saves no time: {estimate(saved, 's')} a question."
    else:
        buys = (
            f"{found.second} saves {estimate(saved, 's')} a question (mean over {saved.n} pairs, 95 % interval). "
            f"A saved second costs {shown(price)} {currency}."
        )
        if found.total <= 0:
            buys += " It costs nothing more, so that the time comes free."
        elif saved.interval is not None and saved.interval.low <= 0:
            buys += " The interval of the saving reaches 0, so that what a second costs has no upper bound."
    table = Table(
        caption=f"{found.second} less {found.first}, 1,000 questions, {currency}",
        head=("component", "difference"),
        rows=(
            *((name, UNKNOWN if name in found.unknown else f"{amount:+.6f}") for name, amount in found.lines),
            (TOTAL, f"{found.total:+.6f}"),
        ),
        note="" if found.complete else "Of what is known: some runs did not tell all that they used.",
    )
    return Section(title=f"What {found.second} costs more than {found.first}", blocks=(table, Text(paragraphs=(buys,))))


def prices_section(prices: Prices, model: str, bills: Iterable[Bill], assumed: Deployment) -> Section:
    """The prices that were taken, and where they were read."""
    used = {(line.name, line.group): line for each in bills for line in each.lines}
    sources = _sources(prices, model)
    table = Table(
        caption=f"Prices of {prices.date}, {prices.currency}, from {prices.file}",
        head=("component", "price of one", "unit", "read where"),
        rows=tuple(
            (name, shown(line.unit_price), line.unit, sources.get(group, "")) for (name, group), line in used.items()
        ),
        note=prices.note,
    )
    said = assumed.assumptions()
    text = Text(
        paragraphs=(
            f"Assumed of where speculations run: {'; '.join(said)}."
            if said
            else "Speculations are taken to run in the agent's own process: no queue, no table, no workers.",
        )
    )
    return Section(title="Prices", blocks=(table, text))


def at_least(amount: str, complete: bool) -> str:
    """An amount that is the least that it can be says so."""
    return amount if complete else f"at least {amount}"


def _bill(each: Bill) -> Table:
    return Table(
        caption=f"{each.arm}: {each.questions:,} questions, {each.currency}",
        head=("component", "quantity", "unit", "price of one", "amount"),
        rows=(
            *(
                (line.name, *_quantity(line), shown(line.unit_price), _amount(line, shown(line.amount)))
                for line in each.lines
            ),
            (TOTAL, "", "", "", at_least(shown(each.total), each.complete)),
            ("of it wasted", "", "", "", at_least(shown(each.wasted), each.wasted_complete)),
        ),
    )


def _names(bills: Sequence[Bill]) -> list[str]:
    return list(dict.fromkeys(line.name for each in bills for line in each.lines))


def _of(each: Bill, name: str) -> str:
    for line in each.lines:
        if line.name == name:
            return _amount(line, f"{each.per_thousand(line):.6f}")
    return UNUSED


def _amount(line: Line, amount: str) -> str:
    return at_least(amount, line.quantity.complete) if line.known else UNKNOWN


def _quantity(line: Line) -> tuple[str, str]:
    return (_amount(line, shown(line.quantity.known)), line.unit)


def _sources(prices: Prices, model: str) -> dict[str, str]:
    single = {
        "retrieval": prices.retrieval,
        "queue": prices.queue,
        "cache": prices.cache,
        "worker": prices.worker,
        "model": prices.models.get(model),
    }
    return {
        **{group: each.source for group, each in single.items() if each is not None},
        "embedding": "; ".join(each.source for each in prices.embeddings.values()),
    }
