"""Fake credentials, which client classes ask for before they talk to a scripted server; and patience."""

from tests.graph.cases.conftest import _fake_credentials, _patience

__all__ = ["_fake_credentials", "_patience"]
