"""A small world of our own making: passages about towns, and runs that search for them."""

import json
import random
from pathlib import Path

from tests.evaluation.recordings import episode, finish, search

_FIRST = ("Ash", "Birch", "Cedar", "Dog", "Elm", "Fern", "Gorse", "Holly", "Iron", "Juniper")
_LAST = ("ford", "bury", "mouth", "stead", "wick", "ton", "dale", "field", "bridge", "haven")
_ASPECTS = ("river", "mayor", "railway station", "population", "market", "cathedral")
TOWNS = tuple(first + last for first in _FIRST for last in _LAST)


def corpus(folder: Path) -> Path:
    """Six passages on each of a hundred towns."""
    path = folder / "passages.jsonl"
    lines = [
        json.dumps({"title": town, "text": f"The {aspect} of {town} is described here, number {at}."})
        for town in TOWNS
        for at, aspect in enumerate(_ASPECTS)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def runs(folder: Path, name: str, episodes: int, seed: int) -> Path:
    """Two searches a run: one that the thought names, and one that goes on from it."""
    chance = random.Random(seed)
    lines = []
    for _ in range(episodes):
        town, aspect, other = chance.choice(TOWNS), chance.choice(_ASPECTS), chance.choice(_ASPECTS)
        lines.append(
            episode(
                search(f"I need to know about the {aspect}. I should search {town} first.", f"{aspect} of {town}"),
                search(f"Not clear yet. The {other} of {town} may tell more.", f"{town} {other}"),
                finish("That is enough."),
                question=f"What is known of the {aspect} of {town}, and of its {other}?",
            )
        )
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
