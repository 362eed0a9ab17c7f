"""The package works without its extras, and says which one is missing where it needs one."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import bare_install

SCRIPT = Path(bare_install.__file__)


def test_every_module_imports_or_names_its_extra() -> None:
    """With only the core's dependencies in sight, no module fails without the exact command that helps."""
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--hide-extras"], capture_output=True, text=True, check=False, timeout=50
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_hiding_hides_the_extras_and_not_the_core() -> None:
    """The test above would say nothing if the extras stayed in sight."""
    hidden = bare_install.HideExtras().hidden
    assert {"pytest", "langchain", "rich", "psycopg"} <= hidden
    assert not {"langgraph", "langchain_core", "cachetools", "pydantic", "langgraph_prefetch"} & hidden


@pytest.mark.parametrize(
    ("room", "error", "complaint"),
    [
        ("keys", "No module named 'numpy'", "must import without extras"),
        ("aws", "No module named 'boto3'", "does not say which extra"),
        ("aws", 'boto3 is missing: pip install "langgraph-prefetch[aws]"', None),
    ],
)
def test_the_missing_extra_is_judged_by_its_message(
    room: str, error: str, complaint: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a room that may need an extra passes, and only with the command."""

    def fail(name: str) -> None:
        raise ImportError(error)

    monkeypatch.setattr("importlib.import_module", fail)
    found = bare_install.complaint(f"langgraph_prefetch.{room}")
    assert (found is None) if complaint is None else (found is not None and complaint in found)
