"""The threads behind Bedrock's calls, in a process that forks as web servers do."""

import subprocess
import sys
from pathlib import Path

import pytest

FORKS = """
import os, sys
from langgraph_prefetch.aws.bedrock_pools import pool

made = pool("test", 1)
assert made.submit(lambda: 1).result(20) == 1
child = os.fork()
if child == 0:
    try:
        os._exit(made.submit(lambda: 7).result(20))
    except BaseException:
        os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
def test_a_forked_child_has_threads_of_its_own() -> None:
    """The parent's threads do not exist in the child; it starts new ones instead of waiting for them."""
    root = Path(__file__).parents[3]
    run = subprocess.run([sys.executable, "-c", FORKS], cwd=root, timeout=60, check=False)
    assert run.returncode == 7
