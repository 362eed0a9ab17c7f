"""The front door is short, sorted and documented, and its settings cannot be changed behind anyone's back."""

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

import langgraph_prefetch


def public() -> dict[str, Any]:
    return {name: getattr(langgraph_prefetch, name) for name in langgraph_prefetch.__all__}


def undocumented(members: dict[str, Any]) -> list[str]:
    """Names each class, function or public method without a docstring of its own."""
    return [
        name
        for name, member in members.items()
        if (inspect.isclass(member) or inspect.isroutine(member)) and not _docstring(member)
    ] + [
        f"{name}.{attribute}"
        for name, member in members.items()
        if inspect.isclass(member) and member.__module__.startswith("langgraph_prefetch")
        for attribute, value in vars(member).items()
        if not attribute.startswith("_") and isinstance(value, Callable | property) and not _docstring(value)  # type: ignore[arg-type]
    ]


def _docstring(member: Any) -> str | None:
    doc: str | None = member.__doc__
    made_up = f"{getattr(member, '__name__', '')}("  # what dataclasses write where nobody wrote anything
    return None if doc is None or doc.startswith(made_up) else doc.strip()


def loose_settings(module: ModuleType) -> list[str]:
    """Names each class of a module that is no frozen, keyword-only dataclass with slots, and says what is missing."""
    problems = []
    for name, member in vars(module).items():
        if not inspect.isclass(member) or member.__module__ != module.__name__ or name.startswith("_"):
            continue
        options = getattr(member, "__dataclass_params__", None)
        if options is None:
            problems.append(f"{name}: not a dataclass")
            continue
        fields = member.__dataclass_fields__.values()  # type: ignore[attr-defined]
        lacks = [
            word
            for word, there in {
                "frozen": options.frozen,
                "keyword-only": all(field.kw_only for field in fields),
                "slots": "__slots__" in vars(member),
            }.items()
            if not there
        ]
        if lacks:
            problems.append(f"{name}: not {', '.join(lacks)}")
    return problems


def test_the_front_door_is_sorted_and_short() -> None:
    """`__all__` can be read in a minute, lists nothing twice, and everything in it exists."""
    names = langgraph_prefetch.__all__
    # ruff's order: constants, classes, functions
    assert list(names) == sorted(set(names), key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert 0 < len(names) <= 40
    assert set(public()) == set(names)


def test_everything_public_is_documented() -> None:
    """Whoever asks `help()` about a public name or method gets an answer."""
    assert undocumented(public()) == []


def test_settings_are_frozen_keyword_only_dataclasses() -> None:
    """A setting is named where it is set, and never changes after it was checked."""
    assert loose_settings(importlib.import_module("langgraph_prefetch.config")) == []


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"frozen": True, "kw_only": True, "slots": True}, []),
        ({"kw_only": True, "slots": True}, ["Settings: not frozen"]),
        ({"frozen": True}, ["Settings: not keyword-only, slots"]),
    ],
)
def test_loose_settings_are_named(options: dict[str, bool], complaint: list[str]) -> None:
    """The check sees each of the three properties."""

    class Settings:
        seconds: float = 1.0

    module = ModuleType("settings")
    Settings.__module__ = "settings"
    module.Settings = dataclass(**options)(Settings)  # type: ignore[attr-defined]
    assert loose_settings(module) == complaint


def test_a_missing_docstring_is_named() -> None:
    """The check sees classes, functions and methods, and is not fooled by the text that dataclasses generate."""

    @dataclass
    class Silent:
        x: int = 0

        def move(self) -> None: ...

    Silent.__module__ = "langgraph_prefetch.example"
    assert undocumented({"Silent": Silent, "call": lambda: None, "DEFAULT": 3}) == ["Silent", "call", "Silent.move"]
