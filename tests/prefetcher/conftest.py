"""An engine with a hand-driven clock."""

from collections.abc import Iterator

import pytest

from tests.speculation.rig import Rig, rigged


@pytest.fixture
def rig() -> Iterator[Rig]:
    with rigged() as made:
        yield made
