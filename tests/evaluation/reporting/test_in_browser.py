"""The page as a person meets it, in headless Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_prefetch.evaluation.reporting import write_report
from langgraph_prefetch.evaluation.reporting.json_form import to_json
from langgraph_prefetch.evaluation.reporting.plain import printable
from langgraph_prefetch.evaluation.reporting.values import SuiteReport
from tests.evaluation.reporting.hostile import HOSTILE, hostile_report, with_text
from tests.evaluation.reporting.samples import failed_report, full_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.allow_blocking("playwright keeps an event loop of its own in this thread")

PLOTS = 6
PAGES: dict[str, bytes] = {}
"""Those drawn already: it takes longer than to look at them."""


class Opened:
    """A report in the browser, and all it complained about or asked for."""

    def __init__(self, browser: "Browser", folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.complaints: list[str] = []

    def __call__(self, report: SuiteReport, *, scheme: Any = "light", width: int = 1_000) -> "Page":
        key = to_json(report)
        if key not in PAGES:
            written = write_report(report, self._folder).html
            assert written is not None
            PAGES[key] = written.read_bytes()
        path = self._folder / "report.html"
        path.write_bytes(PAGES[key])
        page = self._browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on(
            "request", lambda request: self.complaints.append(request.url) if request.url != path.as_uri() else None
        )
        page.goto(path.as_uri())
        return page


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[Opened]:
    opened = Opened(browser, tmp_path)
    yield opened
    for context in browser.contexts:
        context.close()
    assert opened.complaints == []


def fits(page: "Page") -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1_000])
def test_it_opens_in_both_schemes_at_any_width(open_page: Opened, scheme: str, width: int) -> None:
    """No error, no request, no sideways scroll, every figure in sight once, its text at a size that can be read."""
    page = open_page(failed_report(), scheme=scheme, width=width)
    assert fits(page)
    shown = page.locator("figure svg:visible")
    assert shown.count() == PLOTS
    boxes = [shown.nth(number).bounding_box() for number in range(PLOTS)]
    assert all(box is not None and box["width"] > 250 and box["height"] > 150 for box in boxes)
    sizes = page.eval_on_selector_all(
        "figure svg text",
        "all => all.filter(one => one.getBoundingClientRect().width)"
        ".map(one => parseFloat(getComputedStyle(one).fontSize) * one.ownerSVGElement.getScreenCTM().a)",
    )
    assert sizes
    assert min(sizes) >= 9
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 23, 28)"}[scheme]
    ink = page.eval_on_selector("figure svg text", "one => getComputedStyle(one).fill")
    assert ink == page.evaluate("getComputedStyle(document.body).color")


def test_all_drawn_colours_follow_the_scheme(open_page: Opened) -> None:
    """Nothing is black on black: each shape gets its colour from the page, patterns included."""
    colours = [
        set(
            page.eval_on_selector_all(
                "figure svg :is(path, rect, text, use)",
                "all => all.flatMap(one => [getComputedStyle(one).fill, getComputedStyle(one).stroke])",
            )
        )
        for page in (open_page(full_report(20), scheme=scheme) for scheme in ("light", "dark"))
    ]
    own = {each for each in colours[0] & colours[1] if each != "none" and not each.startswith("url")}
    assert own == {"rgb(0, 0, 0)"}  # what says nothing of its own takes that of the <use> it stands in
    black = "all => all.filter(one => getComputedStyle(one).fill == 'rgb(0, 0, 0)' && !one.closest('defs')).length"
    assert page_count(open_page, black) == 0


def page_count(open_page: Opened, code: str) -> int:
    page = open_page(full_report(20), scheme="dark")
    found: int = page.eval_on_selector_all("figure svg :is(path, rect, text, use)", code)
    return found


@pytest.mark.parametrize("width", [360, 1_000])
def test_no_text_of_a_drawing_lies_on_another_or_outside(open_page: Opened, width: int) -> None:
    """Also with names as long as a drawing lets them be, in wide letters."""
    for text in ("", " of the long name that some arms have", " 한국어로 쓴 아주 긴 이름"):
        page = open_page(with_text(full_report(20), text), width=width)
        found = page.evaluate(
            """() => [...document.querySelectorAll("figure svg")].flatMap(svg => {
              const frame = svg.getBoundingClientRect();
              const texts = [...svg.querySelectorAll("text")].map(one => [one.textContent, one.getBoundingClientRect()])
                .filter(([, box]) => box.width);
              const out = texts.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1 ||
                box.top < frame.top - 1 || box.bottom > frame.bottom + 1).map(([text]) => "outside: " + text);
              const over = texts.flatMap(([one, a], at) => texts.slice(at + 1).filter(([, b]) =>
                a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                .map(([other]) => one + " | " + other));
              return [...out, ...over];
            })"""
        )
        assert found == []


def test_hostile_texts_do_nothing(open_page: Opened) -> None:
    """In every field at once, at both widths."""
    for width in (360, 1_000):
        page = open_page(hostile_report(failed_report()), width=width)
        assert fits(page)
        assert page.locator("script, img").count() == 0
        assert printable(HOSTILE)[:60] in page.locator("h1").inner_text()


def test_a_screen_reader_finds_its_way(open_page: Opened) -> None:
    """Landmarks, headings, named pictures with a description, tables with heads."""
    page = open_page(failed_report())
    tree = page.locator("body").aria_snapshot().replace("- '", "- ")
    for part in (
        '- link "Skip to the table of speed, quality and cost"',
        "- banner:",
        "- main:",
        '- region "This suite failed, for 1 reason":',
        '- heading "Hypotheses, written before the run" [level=2]',
        '- navigation "Contents":',
        '- region "End to end":',
        '- img "Seconds from the question to the last token bare: median',
        '- table "Tests":',
        '- rowheader "Mann-Whitney U"',
        '- columnheader "effect"',
        '- table "Speed, quality and cost in one table":',
        '- heading "Limitations" [level=3]',
    ):
        assert part in tree, part
    page.locator("figure details summary").first.click()
    assert page.locator("figure details table").first.is_visible()
    page.locator(".skip").press("Enter")
    assert page.evaluate("location.hash") == "#summary"


def test_it_prints(open_page: Opened) -> None:
    """In dark letters on white paper, also from a dark screen; figures are whole, and no table stays folded."""
    page = open_page(full_report(20), scheme="dark")
    folded = page.locator("figure details table")
    assert not folded.first.is_visible()
    page.emulate_media(media="print")
    assert folded.count() == PLOTS
    assert all(folded.nth(number).is_visible() for number in range(PLOTS)), "paper cannot be clicked on"
    assert not page.locator("figure details summary").first.is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("getComputedStyle(document.querySelector('figure')).breakInside") == "avoid"
    assert page.pdf(format="A4")[:5] == b"%PDF-"
