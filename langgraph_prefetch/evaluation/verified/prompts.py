"""How long recorded model calls were, in the tokens of a replay."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from langgraph_prefetch.evaluation.arguments import arguments_of
from langgraph_prefetch.evaluation.streams import pieces
from langgraph_prefetch.evaluation.tokens import cut
from langgraph_prefetch.evaluation.traces import Episode

_KEPT = 4_096


@lru_cache(_KEPT)
def count(text: str) -> int:
    """How many tokens ``text`` is."""
    return len(cut(text))


def said(episode: Episode, number: int) -> int:
    """Tokens that the model wrote in step ``number``, the action included; 0 if the run had no such step."""
    if number > len(episode.steps):
        return 0
    step = episode.steps[number - 1]
    return sum(1 for _ in pieces(step, arguments_of(step), episode.style, ""))


def read(episode: Episode, number: int, returned: Mapping[int, str], guessed: str) -> int:
    """Tokens of the request after step ``number``: question, all messages, all tool results, the last one guessed.

    System prompt and tool schemas are not recorded, so a real request is longer.

    Args:
        episode: the run.
        number: the step whose result is guessed.
        returned: what the searches of earlier steps returned; other tools' results are as recorded.
        guessed: the guess.
    """
    results = (returned.get(earlier) or episode.steps[earlier - 1].observation or "" for earlier in range(1, number))
    messages = sum(said(episode, earlier) for earlier in range(1, number + 1))
    return count(episode.question) + messages + sum(map(count, results)) + count(guessed)
