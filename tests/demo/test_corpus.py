"""The corpus is the same on every run, and every machine has it."""

from types import ModuleType

import pytest
from langchain_core.documents import Document

from langgraph_prefetch.demo import corpus
from langgraph_prefetch.demo.corpus import MAX_CHARS, passages
from langgraph_prefetch.demo.questions import QUESTIONS


def named(passage: Document) -> str:
    return str(passage.metadata["source"])


def test_two_readings_are_equal() -> None:
    """Figures of two runs speak of the same corpus."""
    assert passages(("heapq", "itertools")) == passages(("heapq", "itertools"))


def test_names_are_sorted_and_texts_short_and_told_once() -> None:
    """What several classes inherit does not fill the results of a search."""
    found = passages(("json", "collections", "heapq"))
    names = [named(passage) for passage in found]
    bodies = [passage.page_content.removeprefix(f"{named(passage)}: ") for passage in found]
    assert names == sorted(set(names))
    assert len(bodies) == len(set(bodies)) > 20
    assert max(map(len, bodies)) <= MAX_CHARS


def test_methods_and_functions_have_their_qualified_name() -> None:
    """A search for a name can find it."""
    texts = {named(passage): passage.page_content for passage in passages(("json", "heapq"))}
    assert texts["heapq.nlargest"].startswith("heapq.nlargest: Find the n largest")
    assert "json.JSONEncoder.encode" in texts


def test_a_module_that_is_missing_is_left_out() -> None:
    """Python can be built without some of its modules."""
    assert passages(("no_such_module", "heapq")) == passages(("heapq",))


def test_stripped_documentation_gives_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under `python -OO` there is nothing to read, and the caller can tell."""
    monkeypatch.setattr(corpus, "_imported", lambda name: ModuleType(name))
    assert passages(("heapq",)) == ()


def test_the_script_searches_for_what_is_there() -> None:
    """Every name that the scripted model asks for stands in the corpus of this Python."""
    names = {named(passage) for passage in passages()}
    asked = {query for question in QUESTIONS for step in question.steps for query in step.queries}
    assert {query for query in asked if " " not in query} <= names
    assert len(names) > 1_000
