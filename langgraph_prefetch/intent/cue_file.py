"""Cue sets as files: JSON, with the version of the format, the cues, the rates, and how they were found."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, CueFileError
from langgraph_prefetch.intent.cues import Cue, CueSet

FORMAT = "langgraph_prefetch.cues"
VERSION = 1
MAX_BYTES = 1_000_000
"""The cues of the package take 20 kB; a file that is so much larger is something else."""


def load_cues(path: str | Path) -> CueSet:
    """The cue set of a file that ``langgraph-prefetch fit`` wrote, for ``with_prefetch(…, cues=…)``.

    Raises:
        CueFileError: it cannot be opened, is above 1 MB, is broken, or has another version of the format.
    """
    file = str(path)
    try:
        with Path(path).open("rb") as opened:
            content = opened.read(MAX_BYTES + 1)
    except OSError as error:
        raise CueFileError(file, error.strerror or type(error).__name__) from error
    if len(content) > MAX_BYTES:
        raise CueFileError(file, f"too large: a file of cues has at most {MAX_BYTES:,} bytes")
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CueFileError(file, f"not JSON ({error})") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise CueFileError(file, "not a file of cues; `langgraph-prefetch fit` writes one")
    if found.get("version") != VERSION:
        raise CueFileError(
            file, f"format version {found.get('version')!r:.40}: this release reads {VERSION}; fit the cues again"
        )
    try:
        return CueSet(tuple(map(_cue, _of(list, found, "cues"))), tuple(map(_rate, _of(dict, found, "rates").items())))
    except (ConfigurationError, TypeError, ValueError) as error:
        raise CueFileError(file, str(error)) from error


def cue_text(cues: CueSet, evaluation: Mapping[str, Any]) -> str:
    """The content of a file of ``cues``; ``evaluation`` says how good they were found to be, for people to read."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "evaluation": evaluation,
        "rates": dict(cues.rates),
        "cues": [asdict(cue) for cue in cues.cues],
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _of(kind: type[Any], found: Mapping[str, Any], name: str) -> Any:
    value = found.get(name)
    if not isinstance(value, kind):
        raise TypeError(f"{name!r} is missing, or no {'list' if kind is list else 'object'}")
    return value


def _cue(found: object) -> Cue:
    if not isinstance(found, dict):
        raise TypeError("a cue must be an object")
    texts = ("name", "role", "scope")
    phrases, weight = found.get("phrases"), found.get("weight")
    if set(found) != {*texts, "phrases", "weight"} or not all(isinstance(found[name], str) for name in texts):
        raise ValueError(
            f"a cue has name, role, weight, phrases and scope, not {', '.join(map(str, found)) or 'nothing'}"
        )
    if found["role"] not in ("intent", "search", "against", "pardon") or found["scope"] not in ("clause", "sentence"):
        raise ValueError(f"{found['name']}: no such role or scope")
    if not isinstance(phrases, list) or not all(isinstance(each, str) for each in phrases):
        raise TypeError(f"{found['name']}: phrases must be a list of texts")
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise TypeError(f"{found['name']}: its weight must be a number")
    return Cue(**{**found, "phrases": tuple(phrases)})


def _rate(found: tuple[str, object]) -> tuple[str, float]:
    name, rate = found
    if isinstance(rate, bool) or not isinstance(rate, int | float):
        raise TypeError(f"the rate of {name!r} must be a number")
    return name, float(rate)
