"""Names and titles in a running text: what entity-style searches ask for. A few rules over letters, no model."""

from __future__ import annotations

import re

_LINK = r"(?:of|the|and|de|del|la|le|in|for|on|at|to|von|van|der|al|&)"
_WORD = r"(?:[A-Z]\.(?=[ ][A-Z])|[^\W\d_a-z](?:[\w’'&-]|\.(?=\w))*)"
_NUMBERED = rf"(?:{_WORD}|\d[\w.-]*|\([^()\n]{{1,40}}\))"
_NAME = re.compile(rf"(?<![\w'’-]){_WORD}(?:[ ](?:{_LINK}[ ]){{0,3}}{_NUMBERED})*")
_QUOTED = re.compile(r"\"([^\"\n]{3,80})\"|“([^”\n]{3,80})”|「([^」\n]{2,80})」|《([^》\n]{1,80})》")
_OPENERS = frozenset(
    "A After All Also Although An And Another As At Based Because Before But By Claim Finally First For From Given "
    "He Her His How However I If In It Its Let Maybe My Next No Not Now Observation Of On One Or Perhaps Question "
    "Search Second Second She Since So Some Step That The Their Then There Therefore These They Third This Thought "
    "Thus To Was We Were What When Where Which While Who Whose Why With Yes You".split()
)
_MAX_CHARS = 80


def names(text: str) -> tuple[str, ...]:
    """Quoted titles and capitalised spans of ``text``, each once, in the order in which they were last said."""
    found: dict[str, None] = {}
    spans = [(each.start(), _bare(each.group())) for each in _NAME.finditer(text)]
    spans = [(start, name) for start, name in spans if name[:1].isupper()]
    spans += [(each.start(), next(filter(None, each.groups()))) for each in _QUOTED.finditer(text)]
    for _, name in sorted(spans):
        if 1 < len(name) <= _MAX_CHARS:
            found.pop(name, None)
            found[name] = None
    return tuple(found)


def _bare(span: str) -> str:
    """Without the sentence's first words ("In The Guest" starts a sentence) and its full stop."""
    words = span.rstrip(".'’&-").split(" ")
    while words and ((words[0] in _OPENERS and (len(words) == 1 or words[0] != "The")) or words[0][:1].islower()):
        words.pop(0)
    return " ".join(words)
