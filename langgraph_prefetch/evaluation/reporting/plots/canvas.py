"""What plots are drawn on: measured in CSS pixels, coloured by roles that the page's style gives their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import FuncFormatter, MaxNLocator

from langgraph_prefetch.evaluation.reporting.plain import columns, label, shown

WIDE, NARROW = 680, 330
TEXT = 12
LEGEND_ROW = 20
AXIS = 40
"""Room under a plot for its axis."""

# Stand-ins: `svg` writes the names in their place.
INK, MUTED, GRID, PAGE = "#010000", "#020000", "#030000", "#040000"
SERIES = ("#010100", "#020100", "#030100", "#040100", "#050100", "#060100")
ROLES = {INK: "ink", MUTED: "muted", GRID: "grid", PAGE: "page"} | {
    each: f"c{number}" for number, each in enumerate(SERIES, 1)
}

# Their numbers have no divisor in common, so that what has the same colour differs in the rest.
HATCHES = ("", "///", "---", "\\\\\\", "xxx")
MARKERS = ("o", "s", "^", "D", "v")
DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 2)), (0, (8, 2, 2, 2)), (0, (1, 1.5)))


@dataclass(frozen=True, slots=True)
class Look:
    """How a series differs from the others."""

    colour: str
    hatch: str
    marker: str
    dash: Any

    @classmethod
    def of(cls, number: int) -> Look:
        """Of the ``number``-th series, from 0."""
        kind = number % len(HATCHES)
        return cls(SERIES[number % len(SERIES)], HATCHES[kind], MARKERS[kind], DASHES[kind])


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a legend: a bar, a line with its marker, or a bare outline."""

    text: str
    look: Look
    line: bool = False
    hollow: bool = False


class Canvas:
    """A figure of ``width`` by ``height`` pixels."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.figure = Figure(figsize=(width / 72, height / 72), dpi=72, facecolor="none")

    @property
    def is_wide(self) -> bool:
        """Whether two things fit side by side."""
        return self.width >= WIDE

    def axes(self, *, left: float = 8, top: float = 0, right: float = 12, bottom: float = AXIS) -> Axes:
        """Axes that leave so many pixels free around them."""
        width, height = self.width - left - right, self.height - top - bottom
        place = (left / self.width, bottom / self.height, width / self.width, height / self.height)
        axes = self.figure.add_axes(place, facecolor="none")
        axes.set_axisbelow(True)
        axes.tick_params(labelcolor=INK, color=GRID, labelsize=TEXT - 1, length=3)
        for side in axes.spines.values():
            side.set_visible(False)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, place: shown(value)))
            axis.set_major_locator(MaxNLocator(nbins=7 if self.is_wide else 4))
        return axes

    def rows(self, axes: Axes, height: float) -> None:
        """Make an axes' upright measure pixels from its top, with lines for the other one only."""
        axes.set_ylim(height, 0)
        axes.yaxis.set_visible(False)
        axes.grid(axis="x", color=GRID, linewidth=1)

    def legend(self, entries: Sequence[Entry]) -> None:
        """Along the bottom edge; `legend_height` says how high."""
        height = legend_height(len(entries), self.width)
        axes = self.figure.add_axes((0, 0, 1, height / self.height), facecolor="none")
        axes.set(xlim=(0, self.width), ylim=(height, 0))
        axes.axis("off")
        beside = 2 if self.is_wide else 1
        for number, entry in enumerate(entries):
            x, y = 8 + number % beside * self.width / beside, LEGEND_ROW * (number // beside) + 10
            look = entry.look
            if entry.line:
                axes.plot([x, x + 14, x + 28], [y] * 3, color=look.colour, linestyle=look.dash, marker=look.marker,
                          markersize=6, linewidth=2, markevery=[1])  # fmt: skip
            else:
                bar(axes, x, y - 6, 28, 12, look, hollow=entry.hollow)
            write(axes, x + 36, y + 4, entry.text)


def legend_height(entries: int, width: int) -> int:
    """In pixels."""
    return LEGEND_ROW * -(-entries // (2 if width >= WIDE else 1)) + 4


def headline_height(names: Sequence[str], values: Sequence[str], width: int) -> int:
    """How high a row's heading has to be: one line, or two where name and value have no room side by side."""
    widest = max(columns(label(name)) + columns(label(value)) for name, value in zip(names, values, strict=True))
    return 22 if widest * 7.6 < width - 30 else 38


def headline(axes: Axes, top: float, height: int, name: str, value: str) -> None:
    """A row's name, and to the right of it or under it what it comes to."""
    across = axes.get_yaxis_transform()
    write(axes, 0, top + 16, name, transform=across, fontweight="bold")
    if height > 22:
        write(axes, 0, top + 32, value, transform=across, color=MUTED)
    else:
        write(axes, 1, top + 16, value, transform=across, color=MUTED, ha="right")


def bar(axes: Axes, x: float, y: float, width: float, height: float, look: Look, *, hollow: bool = False) -> None:
    """A filled rectangle, or its outline."""
    if hollow:
        style = {"facecolor": "none", "edgecolor": look.colour, "linestyle": look.dash, "linewidth": 1.5}
    else:
        style = {"facecolor": look.colour, "edgecolor": PAGE, "hatch": look.hatch, "linewidth": 0.8}
    axes.add_patch(Rectangle((x, y), width, height, **style))


def write(axes: Axes, x: float, y: float, text: str, **style: Any) -> None:
    """A label; never a formula."""
    style = {"color": INK, "fontsize": TEXT, **style}
    axes.text(x, y, label(text), parse_math=False, **style)


def name_axes(axes: Axes, *, x: str = "", y: str = "") -> None:
    """What is measured along them; never a formula."""
    for text, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        axis.set_label_text(label(text), color=INK, fontsize=TEXT, parse_math=False)


def dots(
    axes: Axes, points: Sequence[tuple[float, float]], colour: str, *, size: float = 5, square: bool = False
) -> None:
    """All points as one path of lines without length, whose round or square ends are seen: a few bytes each."""
    path = Path([point for each in points for point in (each, each)], [Path.MOVETO, Path.LINETO] * len(points))
    path.should_simplify = False
    cap: Any = "projecting" if square else "round"
    style: Any = {"facecolor": "none", "edgecolor": colour, "linewidth": size, "capstyle": cap, "alpha": 0.6}
    axes.add_patch(PathPatch(path, clip_on=False, **style))


NOT_FROM_ZERO = "The axis does not begin at 0."


def span(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis that shows all of them; 0 is one where it is near."""
    low, high = min(values), max(values)
    if low == high:
        room = abs(low) * 0.1 or 1.0
        return low - room, high + room
    room = (high - low) * 0.04
    return (0.0 if 0 <= low <= high / 2 else low - room), (0.0 if low / 2 <= high <= 0 else high + room)
