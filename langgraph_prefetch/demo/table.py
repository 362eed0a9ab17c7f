"""The demo's table: a row as soon as there is one, in plain text or, on a terminal with rich, drawn."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from langgraph_prefetch.demo.figures import Figures

HEAD = (
    *("question", "bare", "wrapped", "saved", "calls", "served", "hidden", "hideable", "coverage", "accuracy"),
    *("amplif.", "same"),
)
WIDTHS = (25, 8, 8, 6, 5, 9, 7, 8, 8, 8, 7, 4)

AddRow = Callable[[str, Figures], None]


def cells(title: str, figures: Figures) -> tuple[str, ...]:
    """One row of the table. ``served`` is split into those from reasoning and those from sealed calls."""
    return (
        title,
        _seconds(figures.bare_seconds),
        _seconds(figures.wrapped_seconds),
        _saved(figures),
        str(figures.search_calls),
        f"{figures.served} ({figures.served_reasoning}+{figures.served_sealed})",
        _seconds(figures.hidden_seconds),
        _seconds(figures.hideable_seconds),
        _share(figures.coverage),
        _share(figures.accuracy),
        "-" if figures.amplification is None else f"{figures.amplification:.2f}",
        "yes" if figures.equal else "NO",
    )


def aligned(row: Sequence[str]) -> str:
    """A row as plain text: the first cell to the left, figures to the right."""
    first, *rest = (
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(row, WIDTHS, strict=True))
    )
    return "  ".join([first, *rest])


@contextmanager
def table() -> Iterator[AddRow]:
    """Yield a function that adds a row, on standard output."""
    with _drawn() if sys.stdout.isatty() and _has_rich() else _plain() as add_row:
        yield add_row


@contextmanager
def _plain() -> Iterator[AddRow]:
    print(aligned(HEAD), flush=True)
    yield lambda title, figures: print(aligned(cells(title, figures)), flush=True)


@contextmanager
def _drawn() -> Iterator[AddRow]:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    drawn = Table(box=SIMPLE_HEAD)
    for place, name in enumerate(HEAD):
        drawn.add_column(name, justify="right" if place else "left", no_wrap=place > 0)
    with Live(drawn, console=Console()):

        def add_row(title: str, figures: Figures) -> None:
            first, bare, wrapped, saved, *rest = cells(title, figures)
            colour = "green" if figures.saved_seconds > 0 else "yellow"
            drawn.add_row(first, bare, wrapped, f"[{colour}]{saved}[/]", *rest, end_section=False)

        yield add_row


def _has_rich() -> bool:
    try:
        import rich  # noqa: F401
    except ImportError:
        return False
    return True


def _saved(figures: Figures) -> str:
    if not figures.bare_seconds:
        return "-"
    # No minus before what rounds to nothing.
    return f"{round(100 * figures.saved_seconds / figures.bare_seconds)}%"


def _seconds(value: float) -> str:
    return f"{value:.2f} s"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}"
