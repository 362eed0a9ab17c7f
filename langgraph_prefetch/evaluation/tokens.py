"""How recorded text is cut into the pieces in which a model would have streamed it.

Recordings hold text, not tokens, and the tokenizers of the recorded models differ. The cut here is fixed and stated:

- a run of letters and digits is cut into pieces of at most 6 characters, the first with the one space before it;
- a character of Chinese, Japanese or Korean writing is a piece of its own;
- up to 2 punctuation marks are one piece, with the one space before them;
- other white space is one piece.

English prose comes out at about 4 characters a piece, as with the usual tokenizers.
"""

from __future__ import annotations

import re

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(rf"[{_CJK}]| ?(?:(?![{_CJK}_])\w){{1,6}}| ?(?:[^\w\s]|_){{1,2}}|\s+|.", re.DOTALL)


def cut(text: str) -> list[str]:
    """The pieces of ``text``, in order; joined they are ``text`` again."""
    return _PIECE.findall(text)
