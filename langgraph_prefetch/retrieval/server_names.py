"""How an embedded server may be called: the name is one of a folder, too."""

from __future__ import annotations

import re

from langgraph_prefetch.errors import ConfigurationError

DEFAULT_NAME = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


def require_server_name(name: str) -> None:
    """Refuse whatever could lead out of the folder of all servers.

    Raises:
        ConfigurationError: it is no such name.
    """
    if not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"an embedded server's name is 1 to 40 letters, digits, - or _, not {name!r}: embedded://notes"
        )
