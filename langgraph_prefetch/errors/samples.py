"""Numbers that a statistic cannot be computed from."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError


class SampleError(ConfigurationError):
    """A statistic was given what is no sample: NaN, infinity, pairs of unequal length, a share outside its range."""
