"""What a user can set is checked once, with words that help."""

from typing import Any

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.near.settings import NearSettings


@pytest.mark.parametrize(
    "given",
    [
        {"confidence": 1.0},
        {"false_alarm": 0.0},
        {"audit_share": 0.0},
        {"audit_share": 1.5},
        {"n": 0},
        {"n": 1.5},
        {"anchors": True},
        {"max_states": -1},
        {"min_degrees": 180},
        {"norm_bound": 0},
        {"norm_bound": float("inf")},
    ],
)
def test_a_value_out_of_its_range_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(given))):
        NearSettings(**given)


def test_every_call_may_be_audited() -> None:
    assert NearSettings(audit_share=1).audit_share == 1
