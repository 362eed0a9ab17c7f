"""The page's colours can be told from what they stand on, in both schemes and in print (WCAG 2.2: 1.4.3 and 1.4.11)."""

import itertools
import re
from importlib.resources import files

import pytest

from langgraph_prefetch.evaluation.reporting.plots.canvas import DASHES, HATCHES, MARKERS, ROLES, SERIES, Look
from tests.observe.timeline.test_contrast import contrast

STYLE = files("langgraph_prefetch.evaluation.reporting").joinpath("page.css").read_text(encoding="utf-8")
TEXT = {
    "text": ("page", "panel", "alarm-panel"),
    "muted": ("page",),
    "link": ("page", "panel"),
    "alarm": ("alarm-panel",),
}
SHAPES = {f"c{number}": ("page",) for number in range(1, 7)}
SCHEMES = dict(
    zip(
        ("light", "dark", "print"),
        (
            dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
            for block in re.findall(r":root \{(.*?)\}", STYLE, re.S)
        ),
        strict=True,
    )
)


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (SHAPES, 3.0)], ids=["text", "shapes"])
def test_contrast(scheme: str, pairs: dict[str, tuple[str, ...]], least: float) -> None:
    """Text is read and shapes are seen by people with weak sight."""
    colours = SCHEMES[scheme]
    found = {
        f"{front} on {back}": contrast(colours[front], colours[back])
        for front, backs in pairs.items()
        for back in backs
    }
    assert {pair: ratio for pair, ratio in found.items() if ratio < least} == {}


def test_every_colour_is_in_all_schemes_and_in_the_test() -> None:
    """A new colour is checked as well; none is written past the list. Grid lines mean nothing and may be faint."""
    names = {*TEXT, *SHAPES, "page", "panel", "alarm-panel", "line"}
    assert all(scheme.keys() == names for scheme in SCHEMES.values())
    written = {colour for scheme in SCHEMES.values() for colour in scheme.values()}
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", STYLE)) == written


def test_every_role_has_its_classes() -> None:
    """A colour that a plot uses is one that the style knows."""
    for role in ROLES.values():
        assert re.search(rf"\.f-{role} {{ fill: var\(--\w+\); }} \.s-{role} {{ stroke: var\(--\w+\); }}", STYLE)


def test_colour_is_never_alone() -> None:
    """Up to thirty series differ in more than colour wherever they share one, and neighbours in both."""
    looks = [Look.of(number) for number in range(len(SERIES) * len(HATCHES))]
    assert len(set(map(repr, looks))) == len(looks)
    for one, other in itertools.pairwise(looks):
        assert one.colour != other.colour
        assert (one.hatch, one.marker, one.dash) != (other.hatch, other.marker, other.dash)
    assert len(HATCHES) == len(MARKERS) == len(DASHES) == len(set(MARKERS))
