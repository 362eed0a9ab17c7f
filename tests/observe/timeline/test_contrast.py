"""The page's colours can be told from what they stand on, in both schemes (WCAG 2.2: 1.4.3 and 1.4.11)."""

import itertools
import re
from importlib.resources import files

import pytest

STYLE = files("langgraph_prefetch.observe.timeline").joinpath("page.css").read_text(encoding="utf-8")
TEXT = {"text": ("page", "panel"), "muted": ("page", "panel"), "link": ("page",)}
SHAPES = {
    **dict.fromkeys(("served", "wasted", "cancelled", "failed", "waited", "hidden", "edge", "link", "text"), ("page",)),
    "stream": ("page", "panel"),
    "calling": ("page", "panel"),
    "edge": ("page", "panel"),
}


def schemes() -> dict[str, dict[str, str]]:
    light, dark = (
        dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in re.findall(r":root \{(.*?)\}", STYLE, re.S)
    )
    return {"light": light, "dark": dark}


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("pairs", "least"), [(TEXT, 4.5), (SHAPES, 3.0)], ids=["text", "shapes"])
def test_contrast(scheme: str, pairs: dict[str, tuple[str, ...]], least: float) -> None:
    """Text is read and shapes are seen by people with weak sight."""
    colours = schemes()[scheme]
    found = {
        f"{front} on {back}": contrast(colours[front], colours[back])
        for front, backs in pairs.items()
        for back in backs
    }
    assert {pair: ratio for pair, ratio in found.items() if ratio < least} == {}


def test_every_colour_is_in_both_schemes_and_in_the_test() -> None:
    """A new colour is checked as well; none is written past the list. Grid lines mean nothing and may be faint."""
    light, dark = schemes().values()
    assert light.keys() == dark.keys() == {*TEXT, *SHAPES, "page", "panel", "line"}
    assert set(re.findall(r"#[0-9a-f]{3,8}\b", STYLE)) == set(itertools.chain(light.values(), dark.values()))


def test_the_formula() -> None:
    """Black on white is 21, and the borderline grey is just above 4.5."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
