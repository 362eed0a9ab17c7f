"""Which errors say that a component does not work: by their status, wherever a client library puts it."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from langchain_core.tools import ToolException

from langgraph_prefetch.serving.gateway.outages import is_outage, status_of


class StatusError(Exception):
    """Of some client library."""

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)


def own(status: object) -> StatusError:
    return StatusError(status_code=status)


def response(status: object) -> StatusError:
    return StatusError(response=SimpleNamespace(status_code=status))


def boto3(status: object) -> StatusError:
    return StatusError(response={"Error": {"Code": "X"}, "ResponseMetadata": {"HTTPStatusCode": status}})


@pytest.mark.parametrize("told", [own, response, boto3])
@pytest.mark.parametrize(
    ("status", "outage"),
    [(399, True), (400, False), (404, False), (499, False), (500, True), (503, True)]
    + [(busy, True) for busy in (408, 409, 425, 429)],
)
def test_a_request_that_is_wrong_is_no_outage(told: Callable[[object], Exception], status: int, outage: bool) -> None:
    """4xx is the caller's fault, but for the four that say that the server is busy; from 500 on it is the server's."""
    assert status_of(told(status)) == status
    assert is_outage(told(status)) is outage


@pytest.mark.parametrize(
    "error",
    [ConnectionError(), TimeoutError(), own("429"), StatusError(response={}), StatusError(response={"Metadata": None})],
)
def test_an_error_without_a_status_is_an_outage(error: Exception) -> None:
    """Nothing came back, or nothing that tells."""
    assert status_of(error) is None
    assert is_outage(error)


@pytest.mark.parametrize("error", [ToolException("no such page"), KeyboardInterrupt(), SystemExit()])
def test_a_tools_word_and_the_end_of_the_program_are_none(error: BaseException) -> None:
    """They say nothing of the component."""
    assert not is_outage(error)
