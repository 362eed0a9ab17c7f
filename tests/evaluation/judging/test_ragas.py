"""The extra `ragas` installs a pair that imports, and its four metrics run over the scripted judge."""

import fcntl
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
INSTALL_SECONDS, RUN_SECONDS = 800, 120
EXTRAS = "demo,judges,ragas"  # what the suite needs with metrics of ragas


def cache_folder() -> Path:
    """One for each state of our requirements, kept between runs: the extra is 600 MB."""
    wanted = (ROOT / "pyproject.toml").read_bytes() + sys.version.encode() + EXTRAS.encode()
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "langgraph-prefetch" / f"ragas-{hashlib.sha256(wanted).hexdigest()[:12]}"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="module")
def python() -> Path:
    """The interpreter of an environment with the extra, made by the project's own installer."""
    folder = cache_folder()
    with locked(folder):
        venv = folder / "venv"
        if not (folder / "made").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True, timeout=100)
            script = [str(ROOT / "scripts" / "install.sh"), str(venv), f"{ROOT}[{EXTRAS}]", "uvloop"]
            subprocess.run(script, check=True, timeout=INSTALL_SECONDS, cwd=folder)
            (folder / "made").touch()
    return venv / "bin" / "python"


@pytest.fixture(scope="module")
def result(python: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the program in that environment found."""
    environ = {name: value for name, value in os.environ.items() if name != "RAGAS_DO_NOT_TRACK"}
    run = subprocess.run(
        [python, "-m", "tests.evaluation.judging.ragas_program", str(tmp_path_factory.mktemp("ragas"))],
        cwd=ROOT,
        env={**environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=RUN_SECONDS,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


pytestmark = [pytest.mark.slow, pytest.mark.timeout(INSTALL_SECONDS + 2 * RUN_SECONDS)]


def test_the_four_metrics_score_what_they_can(result: dict[str, Any]) -> None:
    """As worked out by hand for the scripted judge; what has no score says why, in every language."""
    empty, nothing, no_reference, no_contexts = "empty answer", "not a number", "no reference", "no contexts"
    scores = result["scores"]
    assert scores["faithfulness"] == [1.0, 0.5, nothing, empty, 1.0, 1.0, no_contexts]
    assert scores["context_precision"] == [1.0, 1.0, 1.0, empty, 1.0, no_reference, no_contexts]
    assert scores["context_recall"] == [1.0, 1.0, 1.0, empty, 1.0, no_reference, no_contexts]
    relevancy = scores["answer_relevancy"]
    assert relevancy[2:4] == [0.0, empty]  # a refusal is not relevant, by the metric's own definition
    assert all(0 < relevancy[place] <= 1 for place in (0, 1, 4, 5, 6))
    assert scores["failures"] == []


def test_what_ragas_would_have_made_a_score_of_is_unscored(result: dict[str, Any]) -> None:
    """A verdict of 11 is neither yes nor no; a judge that is silent is given up."""
    bad, empty, no_reference, no_contexts = "malformed reply", "empty answer", "no reference", "no contexts"
    assert result["gone wrong"]["range"] == [bad, bad, bad, empty, bad, no_reference, no_contexts]
    assert result["gone wrong"]["cut"] == [bad, bad, bad, empty, bad, no_reference, no_contexts]
    silent = result["gone wrong"]["silent"]
    assert {"judge timed out", "judge given up"} == {*silent[:3], silent[4]}


def test_its_calls_are_within_the_budget_and_kept(result: dict[str, Any]) -> None:
    """20 calls and no more; going on pays only for the rest, two calls a sample in all."""
    found = result["bounded"]
    assert found["asked"] == 20
    assert found["part"] <= 10
    assert (found["whole"], found["asked in all"]) == (40, 80)


def test_the_suite_takes_its_metrics(result: dict[str, Any]) -> None:
    """Beside our own, in one environment with everything else the suite needs."""
    assert result["suite"]["failures"] == []
    names = [name.partition("@")[0] for name in result["suite"]["metrics"]]
    ragas = ["ragas/faithfulness", "ragas/answer_relevancy", "ragas/context_precision", "ragas/context_recall"]
    assert names[:6] == ["answer", "grounded", *ragas]


def test_it_tracks_nobody_and_patches_nothing(result: dict[str, Any]) -> None:
    """Literally "true", before the import; every event loop stays as it was; and uvloop does as well."""
    assert (result["said"], result["tracked"], result["patched"]) == ("true", False, False)
    assert result["uvloop"] == [1.0, 0.5]
