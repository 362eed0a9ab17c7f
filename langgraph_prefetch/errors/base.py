"""What all errors are kinds of."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence, with a space before it, that names the one of ``known`` that was meant; empty where none is near."""
    known = list(known)
    # The start of one name, and of no other, is meant for it, however much of it is missing.
    begun = [each for each in known if name and each.startswith(name)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


class PrefetchError(Exception):
    """Base of every error of this package."""


class ConfigurationError(PrefetchError, ValueError):
    """The package was asked for something it cannot do; the message says what to do instead."""


class MissingExtraError(PrefetchError, ImportError):
    """An optional library is missing; the message is the command that installs it."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f'{library} is not installed: pip install "langgraph-prefetch[{extra}]"')
