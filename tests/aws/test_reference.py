"""The reference page names what the code has, with the same defaults."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.aws.worker import WorkerSettings

PAGE = (Path(__file__).parents[2] / "docs/reference/aws.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("named", [SQSExecutor, DynamoDBCache, WorkerSettings])
def test_options(named: Any) -> None:
    section = PAGE.split(f"## {named.__name__}\n")[1].split("\n## ")[0]
    documented = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`|required) \|", section, flags=re.MULTILINE)
    parameters = [each for each in inspect.signature(named).parameters.values() if each.name != "self"]
    assert documented == [
        (each.name, "" if each.default is inspect.Parameter.empty else repr(each.default)) for each in parameters
    ]
