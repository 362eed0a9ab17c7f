"""Whose folder it is: the settings of an evaluation stand beside its rows, and another one's are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError, OtherEvaluationError

SETTINGS_FILE = "settings.json"


def claim(folder: Path, settings: Mapping[str, Any], *, resume: bool, name: str = SETTINGS_FILE) -> None:
    """Make the folder this evaluation's own, or make sure that it is.

    Args:
        folder: made where there is none.
        settings: all that decides what is measured, as JSON; it is compared name by name.
        resume: go on with what stands there; with nothing there, a new evaluation begins.
        name: of the file in the folder that holds the settings.

    Raises:
        OtherEvaluationError: the folder holds an evaluation, and it is not resumed, or it was made with other settings.
        EvaluationFileError: its settings cannot be read.
        ConfigurationError: the folder cannot be written.
    """
    path = folder / name
    wanted = json.loads(json.dumps(settings, default=str))
    if path.exists():
        if not resume:
            raise OtherEvaluationError(
                f"{folder} holds an evaluation already: go on with it (--resume), or choose another folder (--out)"
            )
        _compare(path, _read(path), wanted)
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
        made = path.with_suffix(".new")
        made.write_text(json.dumps(wanted, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        made.replace(path)  # whole, or not there
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror or type(error).__name__}") from error


def release(folder: Path, *names: str) -> None:
    """Give up a folder in which nothing was made: one that holds more than its settings stays as it is.

    Args:
        folder: as claimed.
        names: of its files of settings.
    """
    if not folder.is_dir() or {each.name for each in folder.iterdir()} - set(names):
        return
    for name in names:
        (folder / name).unlink(missing_ok=True)
    folder.rmdir()


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvaluationFileError(str(path), error.strerror or type(error).__name__) from error
    except ValueError as error:
        raise EvaluationFileError(str(path), f"not JSON: {error}") from error


def _compare(path: Path, made_with: Any, wanted: Mapping[str, Any]) -> None:
    if not isinstance(made_with, dict):
        raise EvaluationFileError(str(path), "not an object")
    differ = sorted(name for name in {*made_with, *wanted} if made_with.get(name) != wanted.get(name))
    if differ:
        raise OtherEvaluationError(
            f"{path.parent} was made with another {_named(differ)}: its runs cannot be mixed with these. "
            "Give the same options, or choose another folder (--out)"
        )


def _named(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
