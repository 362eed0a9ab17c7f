"""Who imports the breaker says which extra brings its library."""

import subprocess
import sys

import pytest

from tests.aws.parts import ROOT

HIDDEN = """
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "purgatory":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hide())
try:
    import langgraph_prefetch.ROOM
except ImportError as error:
    print(type(error).__name__, error.library, error.extra)
"""


@pytest.mark.parametrize(
    ("room", "extra"), [("aws", "aws"), ("serving.gateway", "serving"), ("breaker", "aws,serving")]
)
def test_without_purgatory(room: str, extra: str) -> None:
    """The message names the library, and the extra of the room that was wanted."""
    command = [sys.executable, "-c", HIDDEN.replace("ROOM", room)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.split() == ["MissingExtraError", "purgatory", extra]
