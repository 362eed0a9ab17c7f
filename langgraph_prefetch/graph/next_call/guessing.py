"""Asks whoever may know what a call will return: the user's guesser first, then near misses, then earlier results."""

from __future__ import annotations

from collections.abc import Callable

from langgraph_prefetch.guesses import Asked, ResultGuess, ResultGuesser, Tell
from langgraph_prefetch.prefetcher import PrefetchEngine
from langgraph_prefetch.prefetcher.run import query_of
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.earlier_results import (
    EarlierResult,
    EarlierResults,
    best_guess,
    group_of,
    others_of,
)
from langgraph_prefetch.speculation.nearby import Nearby
from langgraph_prefetch.speculation.session import Session


def ask(
    engine: PrefetchEngine,
    earlier: EarlierResults,
    session: Session,
    call: SearchCall,
    told: Callable[[ResultGuess], None],
) -> None:
    """Tell ``told`` the first guess that anybody has, at once or later; nothing if nobody has one."""
    asked = Asked(
        tool=call.tool.policy.name,
        key=call.key,
        arguments=call.arguments,
        query=query_of(call.tool, call.arguments),
    )
    own, near = engine.options.guesser, call.nearby
    guessers: list[ResultGuesser] = [] if own is None else [own]
    if near is not None:
        guessers.append(_Near(near))
    _ask(engine, [*guessers, _Earlier(earlier, session, call)], asked, told)


def _ask(
    engine: PrefetchEngine, guessers: list[ResultGuesser], asked: Asked, told: Callable[[ResultGuess], None]
) -> None:
    if not guessers:
        return
    open_once = [True]

    def tell(guess: ResultGuess | None) -> None:
        try:
            open_once.pop()
        except IndexError:  # told already
            return
        try:
            if guess is None:
                _ask(engine, guessers[1:], asked, told)
            else:
                told(guess)
        except Exception as error:  # noqa: BLE001 - a failure of ours is a miss, and a guesser's thread is not ours
            engine.trouble("next call", error)

    try:
        guessers[0].guess(asked, tell)
    except Exception as error:  # noqa: BLE001 - whatever the user's guesser raises, it has no guess
        engine.trouble("guesser", error)
        tell(None)


class _Near:
    """What a ranking of passages near the call says, under the contents that the store has now."""

    def __init__(self, nearby: Nearby) -> None:
        self._nearby = nearby

    def guess(self, asked: Asked, tell: Tell) -> None:
        self._nearby.guess(tell)


class _Earlier:
    """Earlier results, and those of this run's speculations that no call has asked for."""

    def __init__(self, earlier: EarlierResults, session: Session, call: SearchCall) -> None:
        self._earlier, self._session, self._call = earlier, session, call

    def guess(self, asked: Asked, tell: Tell) -> None:
        tell(best_guess(asked, (*self._unclaimed(asked), *self._earlier.of(asked.key))))

    def _unclaimed(self, asked: Asked) -> list[EarlierResult]:
        found = []
        for entry in self._session.cache.entries():
            output, speculation = entry.flight.output, entry.speculation
            if output is not None and speculation is not None and group_of(entry.key) == group_of(asked.key):
                query = query_of(self._call.tool, speculation.arguments)
                others = others_of(speculation.arguments, query)
                found.append(EarlierResult(entry.key, query, others, output))
        return found
