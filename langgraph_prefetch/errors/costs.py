"""Prices."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class PriceFileError(PrefetchError):
    """A price file cannot be opened, or says something that is no price."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class UnknownPriceError(ConfigurationError):
    """Something was used that the price file has no price for; the message names it."""
