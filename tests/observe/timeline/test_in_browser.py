"""The page as a person, a keyboard and a screen reader meet it, in headless Chromium."""

import os
import re
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from langgraph_prefetch.events import Event
from langgraph_prefetch.observe.timeline import timeline_page, write_timeline
from tests.observe.timeline.samples import run_events
from tests.observe.timeline.test_page import HOSTILE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.allow_blocking("playwright keeps an event loop of its own in this thread")

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
MARKS = "[data-mark]"


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    """Chromium; missing, it is an error where the environment promises one, and a skip elsewhere."""
    path = shutil.which("chromium")
    if path is None:
        if os.environ.get("LANGGRAPH_PREFETCH_TEST_BROWSER"):
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=path, headless=True, args=ARGUMENTS)
        yield launched
        launched.close()


class Opened:
    """A page in the browser, and all it complained about."""

    def __init__(self, browser: "Browser", folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self.complaints: list[str] = []

    def __call__(self, events: list[Event], *, scheme: Any = "light", width: int = 1280, **texts: str) -> "Page":
        path = self._folder / "page.html"
        path.write_text(timeline_page(events, **texts), encoding="utf-8")
        page = self._browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        page.on("request", lambda request: self.complaints.append(request.url) if request.url[:5] != "file:" else None)
        page.goto(path.as_uri())
        return page


@pytest.fixture
def open_page(browser: "Browser", tmp_path: Path) -> Iterator[Opened]:
    opened = Opened(browser, tmp_path)
    yield opened
    for context in browser.contexts:
        context.close()
    assert opened.complaints == []


def labels(page: "Page", kind: str = "") -> list[str]:
    found: list[str] = page.eval_on_selector_all(
        f'[data-mark^="{kind}"]' if kind else MARKS, "marks => marks.map(mark => mark.getAttribute('aria-label'))"
    )
    return found


def open_table(page: "Page") -> None:
    page.locator("#table summary").click()
    page.wait_for_selector("#table table")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("steps", [1, 10, 1_000])
def test_it_opens_in_both_schemes(open_page: Opened, scheme: str, steps: int) -> None:
    """At any length: no error, no request, no sideways scroll of the page, marks in sight, few elements."""
    page = open_page(run_events(steps=steps), scheme=scheme)
    assert len(labels(page, "step")) == (steps if steps <= 10 else pytest.approx(12, abs=5))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(19, 23, 28)"}[scheme]
    assert page.locator("#overview svg").count() == (steps == 1_000)


def test_every_mark_of_a_short_run_is_drawn(open_page: Opened) -> None:
    """Each model call, speculation, search call and signal once, with its fate and why in words."""
    page = open_page(run_events(steps=6))
    drawn = labels(page)
    assert [sum(kind in label for label in drawn) for kind in ("model call", "signal,", "search call,")] == [6, 6, 6]
    speculations = labels(page, "speculation")
    assert len(speculations) == 7
    (cancelled,) = (label for label in speculations if "cancelled" in label)
    assert "cancelled: tool write_note ran" in cancelled
    assert "“bridge 3”" in cancelled
    assert page.locator(".fate.wasted").count() == 2  # in the run, and in the legend
    missed = [label for label in labels(page, "call") if "not served: nothing speculated" in label]
    assert len(missed) == 2


def test_hostile_text_does_nothing(open_page: Opened) -> None:
    """Neither drawing, details, table nor heading run or build anything from text of the events."""
    page = open_page(run_events(HOSTILE, 3, query=HOSTILE), title=HOSTILE)
    page.locator('[data-mark^="speculation"]').first.click()
    open_table(page)
    assert HOSTILE.replace("\u2028", " ")[:40] in page.locator("#details").inner_text()
    assert page.locator("img").count() == 0
    assert page.evaluate("document.scripts.length") == 2


def test_the_table_says_the_same_as_the_drawing(open_page: Opened) -> None:
    """A row for each mark, with the same words; also of those that are scrolled away."""
    page = open_page(run_events(steps=6))
    drawn = labels(page)
    open_table(page)
    rows = page.eval_on_selector_all(
        "#table tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )
    assert sorted(f"Step {row[0]}: {row[3]}{row[4] and ', ' + row[4]}; {row[5]}" for row in rows) == sorted(
        label.split("; at ")[0] for label in drawn
    )
    page = open_page(run_events(steps=1_000))
    page.locator(".skip").press("Enter")
    page.wait_for_selector("#table table")
    assert page.locator("#table tbody tr").count() == page.evaluate("runs[0].marks.length")


def test_it_is_used_by_keyboard_alone(open_page: Opened) -> None:
    """Tab reaches the marks, arrows go from mark to mark, and what is chosen is read out; scrolling follows."""
    page = open_page(run_events(steps=60))
    page.locator("#scroller").focus()
    page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert first.startswith("Step 1: model call")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.mark") != "step:0"
    assert "Step 1" in page.locator("#details").inner_text()
    page.keyboard.press("End")
    last = page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert last.startswith("Step 60")
    assert page.evaluate("scroller.scrollLeft") > 1_000
    page.wait_for_timeout(50)  # a frame later the scrolled drawing must still hold the focus
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == last
    page.keyboard.press("Home")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == first


def test_it_zooms(open_page: Opened) -> None:
    """In and out around the middle, by button and key, between limits at which the buttons say so."""
    page = open_page(run_events(steps=200))
    wide = len(labels(page, "step"))
    page.locator("#zoom-in").click()
    assert len(labels(page, "step")) < wide
    page.locator("#zoom-all").click()
    assert len(labels(page, "step")) > 2 * wide
    assert page.locator("#zoom-out").is_disabled()
    page.locator("#scroller").focus()
    for _ in range(80):
        page.keyboard.press("+")
    assert page.locator("#zoom-out").is_enabled()
    assert page.evaluate("canvas.offsetWidth") < 30_000_000


def test_the_overview_leads_to_any_part(open_page: Opened) -> None:
    """A click at its far end shows the end of the run."""
    page = open_page(run_events(steps=300))
    strip = page.locator("#overview svg")
    assert "hidden" in (strip.get_attribute("aria-label") or "")
    box = strip.bounding_box()
    assert box is not None
    strip.click(position={"x": box["width"] - 10, "y": 20})
    assert any(label.startswith("Step 300:") for label in labels(page))


def test_runs_lie_side_by_side_on_one_scale(open_page: Opened) -> None:
    """Equal runs are drawn equal, one under the other, whenever they ran."""
    page = open_page(run_events("a", 5, at=10.0) + run_events("b", 5, at=5_000.0))
    lefts = page.evaluate(
        "[...document.querySelectorAll('#canvas section')].map(run =>"
        "[...run.querySelectorAll('rect.step')].map(step => step.getAttribute('x')))"
    )
    assert lefts[0] == lefts[1]
    assert len(lefts[0]) == 5


def test_a_screen_reader_finds_its_way(open_page: Opened) -> None:
    """Landmarks, headings in order, named groups and buttons; no picture without words."""
    page = open_page(run_events("a", 50) + run_events("b", 2))
    tree = page.locator("body").aria_snapshot().replace("- '", "- ")  # quoted where a name has a colon
    for part in (
        '- link "Skip to the table"',
        "- banner:",
        "- main:",
        '- heading "Prefetch timeline" [level=1]',
        '- heading "Timeline" [level=2]',
        '- toolbar "Zoom":',
        '- list "Legend":',
        '- img "Whole of a: hidden',
        '- region "Timeline of all runs, scrolls sideways.',
        '- region "Run b":',
        "- heading /Run b · 2 model calls/ [level=3]",
        '- group "Marks of run b, in order of time":',
        "- status:",
    ):
        assert part in tree or re.search(part.replace("/", ".*").replace("[", r"\["), tree), part
    assert re.search(r'- button "Step 1: speculation, search, “bridge 1”; served: ready; at ', tree)
    names = page.eval_on_selector_all(
        "svg:not([aria-hidden=true])", "all => all.map(one => one.getAttribute('aria-label'))"
    )
    assert names
    assert all(names)
    assert page.eval_on_selector_all(f"{MARKS}[tabindex='0']", "marks => marks.length") == 2  # one stop a run


def test_colour_is_never_alone(open_page: Opened) -> None:
    """Each fate differs in pattern and has a sign of its own, and the legend shows both."""
    page = open_page(run_events(steps=6))
    looks = page.evaluate(
        "['served','wasted','cancelled','failed'].map(fate => {"
        "const bars = [...document.querySelectorAll('.fate.' + fate)];"
        "return bars.map(bar => getComputedStyle(bar).fill + bar.parentNode.querySelector('.glyph')"
        ".getAttribute('d').replaceAll(' ', ''))})"
    )
    assert all(len(set(each)) == 1 for each in looks)
    fills = [re.sub(r"\).*", "", each[0]) for each in looks]
    assert len(set(fills)) == 4
    assert len({each[0] for each in looks}) == 4


def test_a_narrow_window_is_enough(open_page: Opened) -> None:
    """On a telephone the page is as wide as the screen, and the drawing scrolls."""
    page = open_page(run_events(steps=10), width=400)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate("scroller.scrollWidth > scroller.clientWidth")


@pytest.mark.usefixtures("browser")
def test_a_picture_shows_the_whole_page(tmp_path: Path) -> None:
    """A PNG of twice the page's size, as high as the page is."""
    path = write_timeline(run_events("a", 10) + run_events("b", 10), tmp_path / "run.png", browser="chromium")
    content = path.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    assert width == 2_560
    assert 1_400 < height < 4_000
