"""The settings of the test run itself do what they are there for."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# Each of these must fail, but for the first.
TESTS = """
import asyncio, threading, time, warnings
import pytest

done = threading.Event()
def helper(): done.wait()

def test_good(): pass
def test_warns(): warnings.warn("old")
def test_stuck():
    threading.Thread(target=helper, daemon=True, name="helper-1").start()
    time.sleep(30)
async def test_stuck_async(): await asyncio.Event().wait()
async def test_forgotten():
    async def coroutine(): pass
    coroutine()
@pytest.mark.xfail
def test_passes_by_surprise(): pass
"""


def run(folder: Path, text: str) -> str:
    (folder / "test_example.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    options = ["-p", "no:cacheprovider", "--timeout=1", str(folder)]
    result = subprocess.run([*command, *options], capture_output=True, text=True, check=False, cwd=folder, timeout=50)
    return result.stdout + result.stderr


def test_bad_tests_fail(tmp_path: Path) -> None:
    """A warning, a stuck test, a coroutine nobody awaited and an unexpected pass are failures; the rest goes on."""
    output = run(tmp_path, TESTS)
    assert "5 failed, 1 passed" in output
    for line in (
        "UserWarning: old",
        "Timeout (>1.0s)",
        "Stack of helper-1",  # whoever reads the log sees what each thread waited for
        "in helper",
        "'test_forgotten.<locals>.coroutine' was never awaited",
        "[XPASS(strict)]",
    ):
        assert line in output


def test_a_misspelt_mark_is_refused(tmp_path: Path) -> None:
    """A mark with a typing error would silently do nothing."""
    output = run(tmp_path, "import pytest\n@pytest.mark.solw\ndef test_good(): pass\n")
    assert "'solw' not found in `markers`" in output
