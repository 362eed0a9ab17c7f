"""The private model calls of one recording: guessed, weighed by the gate itself, adopted or cancelled, and counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from langgraph_prefetch.config import NextCalls, Price
from langgraph_prefetch.evaluation.arguments import arguments_of
from langgraph_prefetch.evaluation.traces import Episode
from langgraph_prefetch.evaluation.verified.figures import AT_HAND, NO_GUESS, Tried
from langgraph_prefetch.evaluation.verified.prompts import read, said
from langgraph_prefetch.evaluation.verified.results import Near, Results
from langgraph_prefetch.guesses import Asked, ResultGuess
from langgraph_prefetch.prefetcher import Run
from langgraph_prefetch.prefetcher.run import query_of
from langgraph_prefetch.speculation.call import SearchCall
from langgraph_prefetch.speculation.earlier_results import (
    EarlierResult,
    EarlierResults,
    best_guess,
    group_of,
    others_of,
)
from langgraph_prefetch.speculation.next_call import (
    NextCallDecided,
    NextCallExperience,
    NextCallsSpent,
    NextCallVerdict,
    next_call_held_back,
)
from langgraph_prefetch.speculation.posterior import DEFAULT_SECONDS
from langgraph_prefetch.values import Output

_SLACK = 1e-9


@dataclass(slots=True)
class _Going:
    """A search call that waits for its result."""

    number: int
    call: SearchCall
    query: str | None
    result: str | None
    at: float
    kind: str
    guess: ResultGuess | None = None
    decided: NextCallDecided | None = None
    held: str | None = None
    length: int = 0


class PrivateCalls:
    """An :class:`~langgraph_prefetch.evaluation.player.Ahead`. The gate learns from the whole recording, in order.

    Args:
        file: of the recording.
        results: what searches return.
        near: near misses; None for none.
        rules: when a private call may start.
        value_of_second: in the unit of the rules' token price.
        tokens_per_second: how fast the model writes.

    Attributes:
        tried: all search calls so far.
    """

    def __init__(
        self,
        *,
        file: str,
        results: Results,
        near: Near | None,
        rules: NextCalls,
        value_of_second: Price | None,
        tokens_per_second: float,
    ) -> None:
        self._file, self._results, self._near, self._rules = file, results, near, rules
        self._value, self._speed = value_of_second, tokens_per_second
        self._experience, self._earlier = NextCallExperience(), EarlierResults()
        self._run: Run | None = None
        self._episode: Episode | None = None
        self._returned: dict[int, str] = {}
        self._in_run = 0
        self._going: _Going | None = None
        self.tried: list[Tried] = []

    def opened(self, run: Run, episode: Episode) -> None:
        """See :class:`~langgraph_prefetch.evaluation.player.Ahead`."""
        self._run, self._episode, self._in_run = run, episode, 0
        self._returned.clear()

    def closed(self) -> None:
        """See :class:`~langgraph_prefetch.evaluation.player.Ahead`."""
        if self._run is not None:
            self._earlier.forget(self._run.session.scope)
        self._run = self._episode = self._going = None

    def arrived(self, number: int, call: SearchCall) -> None:
        """Guess what the call will return, and weigh whether the model is asked on it."""
        run, episode = self._here()
        step = episode.steps[number - 1]
        query = query_of(call.tool, arguments_of(step))
        going = _Going(number, call, query, self._results.of(step, query), run.session.now, NO_GUESS)
        self._going = going
        if call.at_hand() is not None:
            going.kind = AT_HAND
        elif going.result is not None and (guess := self._guess(going)) is not None:
            self._weigh(going, guess)

    def came(self) -> float:
        """The result is there: adopt or cancel, and learn."""
        run, episode = self._here()
        going, self._going = self._going, None
        if going is None:
            return 0.0
        waited = run.session.now - going.at
        tried = self._settled(going, episode, waited)
        self.tried.append(tried)
        if going.result is not None:
            self._returned[going.number] = going.result
            self._earlier.keep(going.call.key, going.call.arguments, going.query, Output(going.result))
        return tried.hidden

    def _guess(self, going: _Going) -> ResultGuess | None:
        """Who is asked, and in which order, is as in a live graph: near misses first, then earlier results."""
        _, episode = self._here()
        call = going.call
        near = self._near.guess(episode, going.number) if self._near is not None else None
        if near is not None:
            return near
        asked = Asked(tool=call.tool.policy.name, key=call.key, arguments=call.arguments, query=going.query)
        return best_guess(asked, (*self._unclaimed(call), *self._earlier.of(call.key)))

    def _unclaimed(self, call: SearchCall) -> Iterator[EarlierResult]:
        """Results of speculations that no call has asked for."""
        run, _ = self._here()
        for entry in run.session.cache.entries():
            speculation = entry.speculation
            if entry.flight.output is None or speculation is None or group_of(entry.key) != group_of(call.key):
                continue
            query = query_of(call.tool, speculation.arguments)
            result = self._results.of_query(query) if query is not None else None
            if result is not None:
                yield EarlierResult(entry.key, query, others_of(speculation.arguments, query), Output(result))

    def _weigh(self, going: _Going, guess: ResultGuess) -> None:
        run, episode = self._here()
        going.kind, going.guess = guess.kind, guess
        going.length = read(episode, going.number, self._returned, str(guess.output.content))
        typical = run.session.typical.get(going.call.tool.policy.name)
        going.decided = self._experience.weigh(
            guess.kind,
            guess.probability,
            DEFAULT_SECONDS if typical is None else typical,
            going.length,
            self._rules,
            self._value,
        )
        spent = NextCallsSpent(in_run=self._in_run, running=0, backed_off_until=self._experience.backed_off_until)
        verdict = going.decided.weighing.verdict
        going.held = (
            str(verdict)
            if verdict is not NextCallVerdict.START
            else next_call_held_back(spent, self._rules, run.session.now)
        )
        self._in_run += going.held is None

    def _settled(self, going: _Going, episode: Episode, waited: float) -> Tried:
        """Where the recorded run ends with the search, no model call was made that could be the private one."""
        if going.guess is not None and self._near is not None:
            self._near.ran()
        if going.guess is None or going.decided is None:
            return Tried(file=self._file, kind=going.kind, waited=waited)
        equal = going.guess.output.content == going.result
        next_tokens = said(episode, going.number + 1)
        right, started = equal and next_tokens > 0, going.held is None
        hidden = min(waited, (next_tokens + 1) / self._speed) if right else 0.0
        written = 0 if right else self._written(waited, next_tokens)
        self._experience.learn(going.decided, right=right, seconds=hidden)
        if started and right:
            self._experience.went_well()
        elif started:
            self._experience.wrote(written)
        return Tried(
            file=self._file,
            kind=going.kind,
            waited=waited,
            equal=equal,
            verdict=going.held or str(NextCallVerdict.START),
            started=started,
            adopted=started and right,
            hidden=hidden if started else 0.0,
            read=going.length if started and not right else 0,
            written=written if started and not right else 0,
        )

    def _written(self, waited: float, next_tokens: int) -> int:
        """What a cancelled call wrote: as fast as the model writes, and no more than it wrote next in the recording."""
        by_speed = int(waited * self._speed + _SLACK)
        return min(by_speed, next_tokens) if next_tokens else by_speed

    def _here(self) -> tuple[Run, Episode]:
        if self._run is None or self._episode is None:
            raise RuntimeError("no run is open")
        return self._run, self._episode
