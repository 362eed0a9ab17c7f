"""Imports run one way through the house."""

from collections.abc import Callable
from pathlib import Path

import pytest

import langgraph_prefetch
from tests.project.layer_map import BACKENDS, LAYERS, allowed, broken_rules, rooms

PACKAGE = Path(langgraph_prefetch.__file__).parent
Build = Callable[[dict[str, str]], Path]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Makes a package of one-line files: `build({"graph/wrap.py": "import langgraph"})`."""

    def make(files: dict[str, str]) -> Path:
        root = tmp_path / "langgraph_prefetch"
        for name, text in {"__init__.py": "", **files}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        return root

    return make


def test_the_package_keeps_its_own_map() -> None:
    """No room of the package imports what the map does not allow, and every room is on the map."""
    assert rooms(PACKAGE).keys() >= {"__init__", "values"}
    assert broken_rules(PACKAGE) == []


@pytest.mark.parametrize(
    ("file", "text", "complaint"),
    [
        ("intent/detector.py", "from langgraph_prefetch.speculation import cache", "intent may not import speculation"),
        ("intent/detector.py", "import langgraph_prefetch.prefetcher", "intent may not import prefetcher"),
        ("values.py", "from langgraph_prefetch import keys", "values may not import keys"),
        ("values.py", "from . import keys", "values may not import keys"),
        ("speculation/cache.py", "from ..graph import wrap", "speculation may not import graph"),
        ("speculation/cache.py", "from langgraph_prefetch import with_prefetch", "speculation may not import __init__"),
        ("aws/sqs.py", "from langgraph_prefetch.prefetcher import Prefetcher", "aws may not import prefetcher"),
        ("ingest/load.py", "from langgraph_prefetch.retrieval import schema", "ingest may not import retrieval"),
        ("observe/otel.py", "from langgraph_prefetch.intent import cues", "observe may not import intent"),
        ("evaluation/replay.py", "import langgraph_prefetch.serving", "evaluation may not import serving"),
        ("cli/demo.py", "from langgraph_prefetch.testing import models", "cli may not import testing"),
        ("testing/models.py", "from langgraph_prefetch.demo import agent", "testing may not import demo"),
        ("__init__.py", "from langgraph_prefetch.testing import models", "__init__ may not import testing"),
        ("speculation/cache.py", "import langgraph.errors", "only graph may import langgraph.errors"),
        ("cli.py", "from langchain.agents import create_agent", "only graph may import langchain.agents.create_agent"),
        ("cli.py", "from langchain import agents", "only graph may import langchain.agents"),
        ("attic.py", "", "attic: not in the layer map"),
    ],
)
def test_a_wrong_import_is_named_with_its_place(build: Build, file: str, text: str, complaint: str) -> None:
    """Each rule of the map fails on the import it forbids, however the import is written."""
    root = build({"keys.py": "", file: text})
    (problem,) = broken_rules(root)
    assert complaint in problem
    assert text == "" or f"{file}:1" in problem


@pytest.mark.parametrize(
    "text",
    [
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from langgraph_prefetch.graph import wrap",
        "def late() -> None:\n    from langgraph_prefetch.graph import wrap",
    ],
)
def test_an_import_for_types_or_made_late_counts(build: Build, text: str) -> None:
    """An edge that a reader must know is an edge, whenever it is run."""
    assert broken_rules(build({"intent/stream.py": text})) != []


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("graph/wrap.py", "import langgraph.graph\nfrom langchain.agents import middleware"),
        ("graph/wrap.py", "from langgraph_prefetch import prefetcher, values"),
        ("cli.py", "from langgraph_prefetch import with_prefetch\nfrom langchain.chat_models import init_chat_model"),
        ("__main__.py", "from langgraph_prefetch.cli import main"),
        ("prefetcher.py", "from langgraph_prefetch.speculation import cache\nfrom langchain_core import tools"),
        ("aws/sqs.py", "from langgraph_prefetch.ports import Queue\nfrom langgraph_prefetch.aws import names"),
        ("events.py", "from langgraph_prefetch.keys import SearchKey"),
        ("testing/suites.py", "from langgraph_prefetch.graph import wrap"),
        ("demo/agent.py", "from langchain.agents import create_agent\nfrom langgraph_prefetch.testing import models"),
    ],
)
def test_imports_down_the_map_pass(build: Build, file: str, text: str) -> None:
    """The map forbids nothing that the flow needs."""
    assert broken_rules(build({"cli.py": "", "prefetcher.py": "", "values.py": ""} | {file: text})) == []


def test_a_circle_among_the_base_words_is_named(build: Build) -> None:
    """Rooms of one family may lean on each other, but not in a circle."""
    root = build({"events.py": "import langgraph_prefetch.keys", "keys.py": "import langgraph_prefetch.events"})
    assert broken_rules(root) == ["import circle: events -> keys -> events"]


def test_backends_see_ports_and_below_only() -> None:
    """A backend can be written knowing a few small files."""
    for room in BACKENDS:
        words = {"ports", "events", "config", "keys", "report", "option_types", "outbound", "guesses", "near_miss"}
        words |= {"jobs", "key_digest", "live_variants", "handing"}
        assert allowed(room) - {room} == words | {
            "breaker",
            "values",
            "errors",
            "experiments",
            "locks",
            "money",
            "passages",
            "query_hash",
            "sensitive",
            "speculative",
        }


def test_each_room_has_one_place() -> None:
    """A room on two layers would have no direction."""
    assert len(frozenset[str]().union(*LAYERS)) == sum(map(len, LAYERS))
