"""Finds what should not reach a stranger in a text: addresses, secrets, personal numbers. Pure, by form alone.

A secret that has no form of its own (a password that is a word, a name) cannot be told from a search phrase here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from types import MappingProxyType

_TOP_LEVEL = (
    r"(?:com|net|org|io|ru|cn|xyz|info|dev|app|co|biz|top|site|online|me|uk|de|internal|local|corp|lan|example)"
)
_SCHEME = r"\w://|\bwww\.|(?<![\w.-])[\w.-]+\." + _TOP_LEVEL + r"(?::\d+)?/"
_ADDRESS = re.compile(_SCHEME + r"|\b(?:javascript|data|mailto|file):\S", re.IGNORECASE)
_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_HOST = re.compile(
    r"(?<![a-z0-9_.-])(?:[a-z0-9_-]+\.){2,}" + _TOP_LEVEL + r"\b(?!\.\w)"
    r"|(?<![\d.])(?:" + _OCTET + r"\.){3}" + _OCTET + r"(?![\d.]*\d)"
    r"|\blocalhost:\d",
    re.IGNORECASE,
)
_EMAIL = re.compile(r"[^\s@,;<>\"]@(?:[\w-]+\.)+[^\W\d_]{2}")

# The prefixes of well-known key formats. Their case is part of the format: "Asia-Pacific" is no key.
_PREFIXED = re.compile(
    r"\b(?:(?:sk|pk|rk)[-_](?=[\w-]*\d)|gh[opusr]_|github_pat_|glpat-|xox[abeoprs]-|hf_|npm_|pypi-)[\w-]{12,}"
    r"|\b(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{12,}|\bAIza[\w-]{16,}|\bya29\.[\w-]{12,}|\beyJ[\w-]{8,}"
)
_SPOKEN = re.compile(
    r"-----BEGIN|\bBEGIN (?:\w+ )*PRIVATE KEY"
    r"|\b(?:password|passwd|passphrase|secret|token|api[ _-]?key|authorization)\s*[:=]"
    r"|\bbearer\s+(?=\S*\d)\S{12,}",
    re.IGNORECASE,
)
_LONG = re.compile(r"(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Za-z])\b[A-Za-z0-9+/_-]{32,}")
_TOKEN = re.compile(
    r"(?<![A-Za-z0-9+/])(?=[A-Za-z0-9+]*\d)(?=[A-Za-z0-9+]*[A-Za-z])[A-Za-z0-9+]{20,}"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{16,}\b"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    re.IGNORECASE,
)
_PHONE = re.compile(
    r"(?<!\w)\+\d(?:[ ().-]{0,2}\d){7,14}(?!\d)"
    r"|(?<![\w.-])\(?\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}(?![\w-])"
    r"|(?<![\w.-])0\d{1,4}[ /-]\d{3,4}[ -]\d{3,4}(?![\w-])"
    r"|(?<![\w.-])\d{3}-\d{2}-\d{4}(?![\w-])"  # a personal number
)
_DIGITS = re.compile(r"\d+(?:[ .-]\d+)*")
_CARD_DIGITS = range(13, 20)


def luhn(digits: str) -> bool:
    """Whether the check digit at the end is right, as it is in the numbers of payment cards (ISO/IEC 7812-1)."""
    doubled = (int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits)))
    return sum(each - 9 * (each > 9) for each in doubled) % 10 == 0


def _has_card(text: str) -> bool:
    for run in _DIGITS.findall(text):
        groups = re.findall(r"\d+", run)
        ends = [0, *accumulate(map(len, groups))]
        if ends[-1] < _CARD_DIGITS.start:
            continue
        digits = "".join(groups)
        # Only whole groups: any long number holds some digits whose sum comes out right.
        for start, _ in pairwise(ends):
            for end in ends:
                part = digits[start:end]
                if len(part) in _CARD_DIGITS and part[0] in "23456" and luhn(part):
                    return True
    return False


def _has_secret(text: str) -> bool:
    return any(pattern.search(text) for pattern in (_PREFIXED, _SPOKEN, _LONG))


FINDERS: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        "address": _ADDRESS.search,
        "host": _HOST.search,
        "email": _EMAIL.search,
        "secret": _has_secret,
        "token": _TOKEN.search,
        "phone": _PHONE.search,
        "card": _has_card,
    }
)
"""Each kind with what finds it; what a finder returns is true where the text holds such a thing."""
