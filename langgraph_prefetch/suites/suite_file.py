"""The file of a suite: what it expects, written down before it is run, and its sizes. Pure but for the reading."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, EvaluationFileError, did_you_mean

SUITES = ("speed", "study", "quality", "cost", "intent")
"""What an evaluation can ask: each is a module of this room."""
SMOKE = "smoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteFile:
    """A suite's file.

    Attributes:
        suite: the module that reads it, such as ``speed``.
        title: of the report.
        primary_endpoint: the one measure that the suite is judged by.
        hypotheses: what is expected of it and of other measures.
        seed: of every random choice, unless another is given.
        settings: all of its tables, with ``[smoke]`` laid over them in a smoke run.
        folder: where its questions and prices lie.
        fingerprint: of the file's text: it was not changed while it keeps that.
    """

    suite: str
    title: str
    primary_endpoint: str
    hypotheses: tuple[str, ...]
    seed: int
    settings: Mapping[str, Any]
    folder: Path
    fingerprint: str

    @property
    def stated(self) -> tuple[str, ...]:
        """Primary endpoint and hypotheses, as a report repeats them."""
        return stated(self.settings)


def stated(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Primary endpoint and hypotheses of a suite's settings, as a report repeats them: in it, text has no markup."""
    said = (f"Primary endpoint: {settings['primary_endpoint']}", *settings["hypotheses"])
    return tuple(each.replace("`", "'") for each in said)


def suite_folder() -> Path:
    """Where the suites' files lie: in an installed package within it, in a checkout beside it.

    Raises:
        ConfigurationError: this installation has none.
    """
    here = Path(__file__).resolve().parent
    for folder in (here / "data", here.parents[1] / "evals"):
        if folder.is_dir():
            return folder
    raise ConfigurationError("this installation has no suites: give the path of a suite's file")


def find_suite(name: str) -> Path:
    """The file of a suite by name, or by the path of a file of one's own.

    Raises:
        ConfigurationError: there is no such suite.
    """
    if name in SUITES:
        return suite_folder() / f"{name}.toml"
    path = Path(name)
    if path.suffix != ".toml":
        raise ConfigurationError(
            f"no suite is called {name!r}: there are {', '.join(SUITES)}, or give the path of a suite's file (.toml)."
            f"{did_you_mean(name, SUITES)}"
        )
    return path


def read_suite(path: Path, *, smoke: bool = False) -> SuiteFile:
    """Read a suite's file.

    Raises:
        EvaluationFileError: it cannot be read, or lacks what every suite says.
    """
    try:
        text = path.read_bytes()
        found = tomllib.loads(text.decode("utf-8"))
    except OSError as error:
        raise EvaluationFileError(str(path), error.strerror or type(error).__name__) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise EvaluationFileError(str(path), f"not TOML: {error}") from error
    over = found.pop(SMOKE, {})
    if not isinstance(over, dict):
        raise EvaluationFileError(str(path), "'smoke' is not a table")
    settings = laid_over(found, over) if smoke else found
    suite = _text(path, settings, "suite")
    if suite not in SUITES:
        raise EvaluationFileError(str(path), f"'suite' is {suite!r}, not one of {', '.join(SUITES)}")
    return SuiteFile(
        suite=suite,
        title=_text(path, settings, "title"),
        primary_endpoint=_text(path, settings, "primary_endpoint"),
        hypotheses=_texts(path, settings, "hypotheses"),
        seed=_seed(path, settings),
        settings=settings,
        folder=path.resolve().parent,
        fingerprint=hashlib.sha256(text).hexdigest()[:16],
    )


def laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of ``below``, in which what stands in ``above`` counts, at any depth."""
    merged = dict(below)
    for name, value in above.items():
        under = merged.get(name)
        merged[name] = laid_over(under, value) if isinstance(under, Mapping) and isinstance(value, Mapping) else value
    return merged


def _text(path: Path, found: Mapping[str, Any], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str) or not value.strip():
        raise EvaluationFileError(str(path), f"needs a text under {name!r}")
    return value.strip()


def _texts(path: Path, found: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = found.get(name)
    if not isinstance(value, list) or not value or not all(isinstance(each, str) and each.strip() for each in value):
        raise EvaluationFileError(str(path), f"needs a list of texts under {name!r}, written before the suite is run")
    return tuple(each.strip() for each in value)


def _seed(path: Path, found: Mapping[str, Any]) -> int:
    value = found.get("seed")
    if isinstance(value, bool) or not isinstance(value, int):
        raise EvaluationFileError(str(path), "needs a whole number under 'seed'")
    return value
