"""What holds for every test: no network, no secrets, no blocked event loop, reproducible random input."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

from tests.offline import clean_environment, loopback_only

# At import, and so before any test module imports a library that reads the environment once.
clean_environment(os.environ)

settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=200,
    print_blob=True,
    derandomize=True,  # a red build must be the commit's fault
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", parent=settings.get_profile("dev"), max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "dev"))


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    with loopback_only():
        yield


def _folder(path: str) -> ModuleType:
    """Stands for a package that is not imported: a room that is broken must not fail the tests of all others."""
    module = ModuleType(path.replace("/", "."))
    module.__path__ = [str(Path(__file__).parents[1] / path)]
    return module


@pytest.fixture(scope="session")
def _blockbuster(_no_network: None) -> BlockBuster:  # after the socket guard, or switching off would undo it
    guard = BlockBuster(_folder("langgraph_prefetch"), excluded_modules=[_folder("langgraph_prefetch/testing")])
    # A lock held for a few instructions is allowed: whether it is contended differs from run to run.
    guard.functions = {name: check for name, check in guard.functions.items() if "Lock" not in name}
    return guard


@pytest.fixture(autouse=True)
def _no_blocked_loop(request: pytest.FixtureRequest, _blockbuster: BlockBuster) -> Iterator[None]:
    """The package must not block an event loop: it delays every token of every run on it."""
    if request.node.get_closest_marker("allow_blocking"):
        yield
        return
    _blockbuster.activate()
    try:
        yield
    finally:
        _blockbuster.deactivate()


@pytest.fixture(autouse=True)
def _a_minute_of_its_own() -> None:
    """The process's budget is for a minute of one process; all tests together start more than that in a minute."""
    budget = sys.modules.get("langgraph_prefetch.speculation.budget")
    shared = sys.modules.get("langgraph_prefetch.speculation.shared")
    if budget is not None and shared is not None and shared._process is not None:
        shared._process.ledger._process = budget.SlidingMinute()
