"""Names a query without showing it."""

from __future__ import annotations

import hashlib
import os

_KEY = os.urandom(32)
"""Made anew by each process and kept nowhere: without it nobody can try likely queries against a hash."""

_DIGEST_BYTES = 12


def query_hash(query: str) -> str:
    """24 hexadecimal digits that stand for ``query``: equal for equal texts in one process and its forked children."""
    return hashlib.blake2b(query.encode("utf-8", "replace"), key=_KEY, digest_size=_DIGEST_BYTES).hexdigest()
