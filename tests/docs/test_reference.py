"""The reference pages name what the code has: no more, no less, and with the same defaults."""

import argparse
import dataclasses
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

import langgraph_prefetch
from langgraph_prefetch import (
    Budgets,
    ExecutorLimits,
    NearMiss,
    NextCalls,
    OutboundRules,
    PrefetchOptions,
    ToolPolicy,
    errors,
)
from langgraph_prefetch.cli.main import _parser
from langgraph_prefetch.events import Event
from langgraph_prefetch.graph.streaming_models import STREAMED_EQUALS_INVOKED

DOCS = Path(__file__).parents[2] / "docs"


def section(page: str, heading: str) -> str:
    """The text of a page under a heading, up to the next of its level."""
    parts = re.split(r"^## +(.+)$", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[heading]


def rows(text: str) -> Iterator[list[str]]:
    """The cells of each table row whose first cell is code."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells and (found := re.fullmatch(r"`([^`]+)`.*", cells[0])):
            yield [found[1], *cells[1:]]


def default_of(field: "dataclasses.Field[Any]") -> str:
    if field.default_factory is not dataclasses.MISSING:
        return f"`{field.default_factory()!r}`"
    if field.default is dataclasses.MISSING:
        return "required"
    return "`Budgets()`" if field.default == Budgets() else f"`{field.default!r}`"


@pytest.mark.parametrize(
    "settings", [PrefetchOptions, ToolPolicy, Budgets, NextCalls, NearMiss, OutboundRules, ExecutorLimits]
)
def test_options(settings: type[Any]) -> None:
    """Every option is listed in order, with its default."""
    documented = [(name, default) for name, default, _ in rows(section("reference/options.md", settings.__name__))]
    assert documented == [(field.name, default_of(field)) for field in dataclasses.fields(settings)]


def test_public_names() -> None:
    """Every public name is listed, and nothing else."""
    documented = [name for name, _ in rows(section("reference/options.md", "Public names"))]
    assert sorted(documented) == sorted(langgraph_prefetch.__all__)


def test_methods_of_a_prefetcher() -> None:
    """The methods that are listed exist."""
    listed = section("reference/options.md", "Methods of a prefetcher")
    names = {name for line in listed.splitlines() if line.startswith("| `") for name in re.findall(r"`(\w+)[(`]", line)}
    prefetcher = langgraph_prefetch.Prefetcher(["search"])
    assert {name for name in names - {"sink", "Report"} if not hasattr(prefetcher, name)} == set()


@pytest.mark.parametrize("event", get_args(Event))
def test_events(event: type[Any]) -> None:
    """Every event has a section that lists its fields in order."""
    documented = [name for name, _ in rows(section("reference/events.md", event.__name__))]
    assert documented == [field.name for field in dataclasses.fields(event)]


def test_log_lines() -> None:
    """The log lines that are listed stand in the code."""
    code = "".join(file.read_text(encoding="utf-8") for file in Path(errors.__file__).parents[1].rglob("*.py"))
    lines = [line for line, *_ in rows(section("reference/events.md", "Logs"))]
    assert len(lines) > 3
    assert [line for line in lines if line not in code] == []


def test_errors() -> None:
    """Every error is listed."""
    documented = [name for name, *_ in rows((DOCS / "reference/errors.md").read_text(encoding="utf-8"))]
    defined = [
        name
        for name, member in vars(errors).items()
        if inspect.isclass(member) and issubclass(member, errors.PrefetchError)
    ]
    assert sorted(documented) == sorted(defined)


def options_of(parser: argparse.ArgumentParser) -> list[str]:
    """Each option's longest name, as far as it is the parser's own."""
    named = [action for action in parser._actions if action.option_strings and action.dest != "help"]
    return sorted(action.option_strings[-1] for action in named)


def options_documented(name: str) -> list[str]:
    return sorted(cell.split()[0] for cell, *_ in rows(section("reference/cli.md", name)))


def test_command_line() -> None:
    """Every command is listed, with its options."""
    parser = _parser([])
    (commands,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    page = (DOCS / "reference/cli.md").read_text(encoding="utf-8")
    assert re.findall(r"^## +(.+)$", page, flags=re.MULTILINE) == list(commands.choices)
    for name, subparser in commands.choices.items():
        if name != "demo":
            assert options_documented(name) == options_of(subparser)


def test_options_of_the_demo() -> None:
    """The demo's options are listed; they are only known where its extra is installed."""
    try:
        parser = _parser(["demo"])
    except errors.MissingExtraError as error:
        pytest.skip(str(error))
    (commands,) = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    assert options_documented("demo") == options_of(commands.choices["demo"])


def test_force_streaming_table() -> None:
    """The streaming guide lists the compared classes, and whether their messages are equal, as the code has it."""
    cells = rows(section("guides/streaming.md", "What `auto` does"))
    equal = {name: verdict for name, verdict, _ in cells}
    assert equal == {
        path.rpartition(".")[2]: "yes" if row.equal else "no" for path, row in STREAMED_EQUALS_INVOKED.items()
    }


def links(page: Path) -> Iterator[str]:
    text = re.sub(r"^(```|~~~).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    yield from re.findall(r"\]\(([^)\s]+)\)", text)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ +(.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize(
    "page",
    [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))],
    ids=lambda page: page.relative_to(DOCS.parent).as_posix(),
)
def test_links_lead_somewhere(page: Path) -> None:
    """A link within the project names a file that is there, and a heading in it."""
    for link in links(page):
        if "://" in link:
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_is_in_the_contents() -> None:
    """The table of contents leads to every page, decisions aside."""
    listed = {(DOCS / link.partition("#")[0]).resolve() for link in links(DOCS / "index.md")}
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "decisions" and page.name != "index.md"}
    assert pages - listed == set()


def test_every_example_is_in_the_contents() -> None:
    """The table of contents leads to every example."""
    listed = {(DOCS / link).resolve().name for link in links(DOCS / "index.md") if link.endswith(".py")}
    assert listed == {example.name for example in DOCS.parent.glob("examples/*.py")}
