"""What is ingested: the passages of real corpora, or as many made-up ones as you like; each arm gets the same file."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

MOST_CHARACTERS = 1_000
"""Longer texts are cut beforehand, so that every arm's splitter, at its defaults, leaves the same passages."""

_WORDS = 20_000


def real(files: Sequence[Path]) -> Iterator[str]:
    """The texts of JSON lines, each once, cut at spaces."""
    seen: set[str] = set()
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                text = " ".join(json.loads(line)["text"].split())
                for passage in _cut(text):
                    if passage not in seen:
                        seen.add(passage)
                        yield passage


def synthetic(count: int, seed: int = 11) -> Iterator[str]:
    """So many passages of made-up words, some 200 characters each."""
    rng = random.Random(seed)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(_WORDS)]
    for number in range(count):
        yield f"Passage {number}: {' '.join(rng.choices(words, k=28))}."


def write(texts: Iterable[str], path: Path) -> int:
    """The file every arm reads; returns how many lines it has."""
    number = -1
    with path.open("w", encoding="utf-8") as out:
        for number, text in enumerate(texts):
            out.write(json.dumps({"key": f"p{number:07}", "text": text}, ensure_ascii=False) + "\n")
    return number + 1


def _cut(text: str) -> Iterator[str]:
    while len(text) > MOST_CHARACTERS:
        end = text.rfind(" ", 0, MOST_CHARACTERS)
        end = end if end > 0 else MOST_CHARACTERS
        yield text[:end]
        text = text[end:].lstrip()
    if text:
        yield text
