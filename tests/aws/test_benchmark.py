"""The benchmark's parts, small: every one ends, and says what it was made to say."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.aws.conftest import installed
from tests.aws.parts import ROOT

TIMELESS = {
    "study": ["runs of the series", "wrong answers"],
    "throughput": ["lost, answered wrongly, left in a queue", "searches that workers began more often"],
    "kills": ["searches lost", "answered twice", "answers that no worker has found", "messages left"],
    "outage": ["questions whose messages are not those of the bare agent", "searches of which no event told"],
    "memory": ["messages answered rightly"],
}
"""By part, how the measures begin that hold however small the run and however busy the machine is."""


@pytest.mark.slow
@pytest.mark.timeout(540)
@pytest.mark.parametrize("part", list(TIMELESS))
def test_a_small_run(part: str, tmp_path: Path) -> None:
    """Every figure beside its limit; nothing lost, nothing wrong, nothing else than the bare agent says."""
    installed("ministack")
    out = tmp_path / "figures.json"
    command = [sys.executable, str(ROOT / "benchmarks/aws_local.py"), "--short", "--only", part, "--json", str(out)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert run.returncode == 0, run.stderr
    (found,) = json.loads(out.read_text(encoding="utf-8")).values()
    figures: list[dict[str, Any]] = found["figures"]
    assert all(each["measured"] and f"| {each['measure']} |" in run.stdout for each in figures)
    timeless = [each for each in figures if each["timeless"]]
    for each, begins in zip(timeless, TIMELESS[part], strict=True):
        assert each["measure"].startswith(begins)
        assert each["held"] is True, (each, run.stderr)
