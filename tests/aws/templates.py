"""CloudFormation templates as plain values."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

EXAMPLES = Path(__file__).parents[2] / "examples" / "aws"


class _Loader(yaml.SafeLoader):
    """Short forms of functions as one-entry mappings: ``!Ref x`` is ``{"Ref": "x"}``."""


def _function(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    return {suffix: value}


_Loader.add_multi_constructor("!", _function)


def template(name: str) -> dict[str, Any]:
    found = yaml.load((EXAMPLES / name).read_text(encoding="utf-8"), Loader=_Loader)  # a SafeLoader
    assert isinstance(found, dict)
    return found


def resources(name: str, kind: str) -> dict[str, dict[str, Any]]:
    """The properties of all resources of a kind."""
    return {key: each["Properties"] for key, each in template(name)["Resources"].items() if each["Type"] == kind}


def statements(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from document["Statement"]


def actions(document: dict[str, Any]) -> set[str]:
    """What a policy allows."""
    return {action for each in statements(document) for action in each["Action"]}
