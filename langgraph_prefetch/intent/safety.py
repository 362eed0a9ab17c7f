"""Which texts may become a query at all: a guess is an outbound path that no one has asked for yet."""

from __future__ import annotations

import re

MAX_QUERY_CHARS = 200
"""Longer texts are never guessed."""

_ADDRESS = re.compile(
    r"\w+://|\bwww\.|\b[\w.-]+\.(?:com|net|org|io|ru|cn|xyz|info)/|[\w.+-]+@[\w-]+\.\w", re.IGNORECASE
)
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|ghp|gho|xox[abp]|AKIA|ASIA|eyJ)[-_A-Za-z0-9]{12,}"  # the prefixes of well-known key formats
    r"|-----BEGIN|\b(?:password|passwd|secret|token|api[ _-]?key)\s*[:=]"
    r"|(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z])\b[A-Za-z0-9+/_-]{32,}",
    re.IGNORECASE,
)


def may_leave(query: str) -> bool:
    """Whether a guessed query may be sent: no addresses, nothing that looks like a secret, no control characters.

    Real calls are not judged here: they run as they are.
    """
    if not query or len(query) > MAX_QUERY_CHARS or not query.isprintable():
        return False
    return _ADDRESS.search(query) is None and _SECRET.search(query) is None
