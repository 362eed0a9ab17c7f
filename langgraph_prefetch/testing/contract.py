"""What all contract suites share: pytest classes that implementers subclass, one per port."""

from __future__ import annotations

from typing import Any

from langgraph_prefetch.errors import MissingExtraError

try:
    import pytest
except ModuleNotFoundError as error:
    raise MissingExtraError("pytest", "testing") from error

__all__ = ["Contract", "fixture", "overridden", "skip"]

fixture = pytest.fixture
skip = pytest.skip


class Contract:
    """Base of the suites. A subclass gives the fixtures its suite names, and says which abilities are offered.

    A contract test may not be overridden, or the contract would mean less than it says; one that cannot pass is
    marked ``xfail`` with a reason. Abilities beyond the base are attributes; where one is False its tests are skipped
    with a line that says so.
    """

    def test_no_contract_test_is_overridden(self) -> None:
        """Every contract test runs as written, or is an expected failure with a reason."""
        assert not (found := overridden(type(self))), (
            f"{', '.join(found)}: keep the contract test, or mark your own @pytest.mark.xfail(reason=…)"
        )

    def needs(self, ability: str) -> None:
        """Skip the running test unless the ability (the name of an attribute) is offered."""
        if not getattr(self, ability):
            skip(f"{type(self).__name__}: {ability.replace('_', ' ')} not offered")


def overridden(suite: type) -> list[str]:
    """Names of contract tests that ``suite`` replaces without an explained expected failure."""
    contracts = [each for each in suite.__mro__ if issubclass(each, Contract) and _is_ours(each)]
    names = {name for each in contracts for name in vars(each) if name.startswith("test_")}
    return sorted(
        name
        for name in names
        if not _is_ours(next(each for each in suite.__mro__ if name in vars(each)))
        and not _is_explained(getattr(suite, name))
    )


def _is_ours(kind: type) -> bool:
    return kind.__module__.startswith("langgraph_prefetch.testing.")


def _is_explained(test: Any) -> bool:
    marks = getattr(test, "pytestmark", ())
    return any(mark.name == "xfail" and mark.kwargs.get("reason") for mark in marks)
