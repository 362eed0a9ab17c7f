"""Every snippet in the documentation runs, every command line in it exists, and every example ends well."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import run_offline
from tests.docs.commands import check_commands
from tests.docs.snippets import blocks, check_labels, run_python

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted({*ROOT.glob("README.md"), *ROOT.glob("CONTRIBUTING.md"), *ROOT.glob("docs/**/*.md")})
EXAMPLES = sorted(ROOT.glob("examples/*.py"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def run_example(file: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs an example in a folder of its own, offline, with warnings as errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", run_offline.__file__, str(file)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )


@pytest.mark.parametrize("document", DOCUMENTS, ids=_name)
def test_the_snippets_of_a_document_run(document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a document shows works when it is typed in, top to bottom, with no network."""
    monkeypatch.chdir(tmp_path)
    found = list(blocks(document.read_text(encoding="utf-8")))
    check_labels(found)
    check_commands(found)
    run_python(found, document)


@pytest.mark.parametrize("example", EXAMPLES, ids=_name)
def test_an_example_ends_well(example: Path, tmp_path: Path) -> None:
    """An example runs as it stands, with no network and no key."""
    run = run_example(example, tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
