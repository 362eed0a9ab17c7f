"""What a tool's name says of it: whether it only reads, or does something. Pure, and no more than a suspicion."""

from __future__ import annotations

import re
from typing import Literal

Suspicion = Literal["reads", "acts", "unknown"]

_ACTS = frozenset(
    (
        "add append apply approve archive assign award ban bash block book buy call cancel charge clear click "
        "close commit confirm create delete deploy disable dispatch drop edit email enable enqueue exec "
        "execute file forget give grant handoff insert install invite issue kill launch lock log mail merge "
        "message modify move mute notify order patch pay pin post publish purchase push put python reboot "
        "record refund reject release remember remove rename repl replace reply reserve reset restart restore "
        "revoke rollback run save schedule sell send set share shell ship shutdown sign start stop store "
        "submit subscribe sync terminal transfer trigger type unlock unsubscribe update upload upsert write"
    ).split()
)
_READS = frozenset(
    (
        "arxiv ask browse calculate check compare count crawl describe docs explain fetch filter find get "
        "google grep knowledge list load look lookup ls match peek query rag read recall recommend retrieval "
        "retrieve retriever scan scrape search searcher select show similarity status summarize tavily view "
        "weather wikipedia"
    ).split()
)
_SEARCHES = frozenset(
    "docs find google knowledge lookup query rag retrieval retrieve retriever search searcher wikipedia".split()
)
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def suspicion_of(name: str) -> Suspicion:
    """By the words of the name: one that acts outweighs any that reads (``get_or_create``, ``search_and_book``)."""
    words = [word.lower() for word in _WORD.findall(name)]
    if any(word in _ACTS for word in words):
        return "acts"
    return "reads" if any(word in _READS for word in words) else "unknown"


def may_search_passages(name: str) -> bool:
    """Whether the name is that of a search for passages, which near misses could answer."""
    return any(word.lower() in _SEARCHES for word in _WORD.findall(name))
