"""The front door opens at once: what is behind a name is imported when the name is first used, and looks the same."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import langgraph_prefetch

HEAVY = {"langgraph", "langchain_core", "langchain", "numpy", "scipy", "matplotlib", "sqlalchemy"}


def seen_by_type_checkers() -> dict[str, str]:
    """What is imported for type checkers: from where, by name."""
    tree = ast.parse(Path(langgraph_prefetch.__file__).read_text(encoding="utf-8"))
    return {
        alias.name: str(node.module).removeprefix("langgraph_prefetch.")
        for block in tree.body
        if isinstance(block, ast.If)
        for node in ast.walk(block)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("langgraph_prefetch.")
        for alias in node.names
    }


def test_type_checkers_and_users_see_the_same_names_from_the_same_homes() -> None:
    """A name is listed three times in that file; the three agree."""
    assert seen_by_type_checkers() == langgraph_prefetch._HOMES
    assert list(langgraph_prefetch._HOMES) == langgraph_prefetch.__all__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As of any module; and what is there is listed."""
    with pytest.raises(AttributeError, match="has no attribute 'with_prefetsch'"):
        langgraph_prefetch.with_prefetsch  # type: ignore[attr-defined]  # noqa: B018
    assert set(langgraph_prefetch.__all__) <= set(dir(langgraph_prefetch))


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("import langgraph_prefetch", 0),
        ("from langgraph_prefetch.cli import main; main(['eval', '--help'])", 0),
        ("from langgraph_prefetch.cli import main; main(['eval', 'speed', '--budget', 'much'])", 2),
        ("from langgraph_prefetch.cli import main; main(['version'])", 0),
    ],
)
def test_nobody_waits_for_what_is_not_used(program: str, code: int) -> None:
    """Help and wrong words are answered before the host or any library of numbers is imported."""
    at_exit = (
        f"import atexit, sys; atexit.register(lambda: print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr))"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{at_exit}\n{program}"], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.splitlines()[-1] == "[]"
