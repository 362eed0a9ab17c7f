"""Makes the runs of a plan, one after another or a few at once, and writes the row of each."""

from __future__ import annotations

import asyncio
import dataclasses
import textwrap
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages.tool import ToolCall
from langchain_core.runnables import Runnable

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, EmbedderMismatchError
from langgraph_prefetch.evaluation.rows import RunRow, SearchRow
from langgraph_prefetch.evaluation.trials.event_log import EventLog
from langgraph_prefetch.evaluation.trials.hearing import SCOPE, Heard, ask
from langgraph_prefetch.evaluation.trials.plan import Trial
from langgraph_prefetch.evaluation.trials.questions import Question
from langgraph_prefetch.evaluation.trials.recording import failed_row, row_of, searches_made
from langgraph_prefetch.evaluation.trials.row_file import RowFile
from langgraph_prefetch.events import Event, EventSink

Check = Callable[[ToolCall], Awaitable[tuple[str, ...]]]
"""Makes a search call again, past everything that may have kept a result: the passages."""


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent that is asked one question at a time; ``subscribe`` tells of its prefetcher's events."""

    runnable: Runnable[Any, Any]
    subscribe: Callable[[EventSink], Callable[[], None]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """What is compared.

    Attributes:
        make: makes an agent, of which there are as many as runs at once.
        keeps: it keeps results within a scope, in this process.
        embedder: the identity of what makes the vectors it searches with; None where that is not known.
    """

    name: str
    make: Callable[[], Agent]
    keeps: bool = False
    embedder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """How runs are made.

    Attributes:
        suite: written into each row.
        tools: those whose calls are searches.
        concurrency: runs at once; more than one disturb each other's times.
        timeout_seconds: of one run.
        failures_in_a_row: so many of one arm, and it is given up.
        warm_up: ask each arm one question before, which is not counted: what is made at the first use is not measured.
    """

    suite: str
    tools: tuple[str, ...]
    concurrency: int = 1
    timeout_seconds: float = 300.0
    failures_in_a_row: int = 5
    warm_up: bool = False

    def __post_init__(self) -> None:
        require_at_least("concurrency", self.concurrency, 1)
        require_at_least("failures_in_a_row", self.failures_in_a_row, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a plan.

    Attributes:
        rows: of all runs that were made, earlier ones that were resumed included.
        planned: how many the plan has.
        failed: runs without an answer, by arm.
        given_up: arms that failed so often that their remaining runs were not made, and the last error of each.
    """

    rows: tuple[RunRow, ...]
    planned: int
    failed: Mapping[str, int]
    given_up: Mapping[str, str]

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader has to know of runs that are missing; empty if none is."""
        said = [f"{count} runs of the arm {arm} have no answer" for arm, count in sorted(self.failed.items())]
        said += [f"the arm {arm} was given up: {error}" for arm, error in sorted(self.given_up.items())]
        if len(self.rows) < self.planned:
            said.append(f"the result is partial: {len(self.rows)} of {self.planned} runs were made")
        return tuple(said)


async def run_trials(
    trials: Sequence[Trial],
    questions: Mapping[str, Question],
    arms: Mapping[str, Arm],
    rows: RowFile,
    settings: RunSettings,
    *,
    check: Check | None = None,
    events: EventLog | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Make every run that ``rows`` does not have yet.

    A run that fails has a row with its error. One that was cut off has none, and is made again when resumed, as is one
    that failed.

    Args:
        trials: the plan.
        questions: by id.
        arms: by name.
        rows: those of earlier attempts, and of this one.
        settings: how runs are made.
        check: to see, after the clock has stopped, whether a run's passages are those of its queries.
        events: where those of every run are kept.
        say: takes a line for the person who waits.

    Raises:
        EmbedderMismatchError: the arms do not search with the same vectors.
        ConfigurationError: a trial of an unknown arm, or rows that cannot be written.
    """
    require_one_embedder(arms.values())
    unknown = sorted({trial.arm for trial in trials} - set(arms))
    if unknown:
        raise ConfigurationError(f"no arm is called {unknown[0]!r}: there are {', '.join(arms)}")
    left = deque(trial for trial in trials if not rows.has(trial.key))
    if len(left) < len(trials):
        say(f"{len(trials) - len(left)} of {len(trials)} runs stand in {rows.path.name} already")
    work = _Work(left, len(trials), questions, arms, rows, settings, check, events, say)
    async with asyncio.TaskGroup() as group:
        for _ in range(min(settings.concurrency, len(left))):
            group.create_task(work.seat())
    keys = {trial.key for trial in trials}
    made = tuple(row for row in rows.rows if (row.arm, row.question_id, row.batch, row.repeat, row.warm) in keys)
    failed = Counter(row.arm for row in made if row.error is not None)
    return Outcome(rows=made, planned=len(trials), failed=dict(failed), given_up=dict(work.given_up))


def require_one_embedder(arms: Any) -> None:
    """Arms that search with different vectors find different passages, whatever else is compared.

    Raises:
        EmbedderMismatchError: they do.
    """
    known = {arm.name: arm.embedder for arm in arms if arm.embedder is not None}
    if len(set(known.values())) > 1:
        told = ", ".join(f"{name} with {embedder!r}" for name, embedder in sorted(known.items()))
        raise EmbedderMismatchError(f"the arms search with different vectors: {told}. Give all of them one embedder")


class _Work:
    """The runs that are left, taken by as many seats as may be at work at once."""

    def __init__(
        self,
        left: deque[Trial],
        planned: int,
        questions: Mapping[str, Question],
        arms: Mapping[str, Arm],
        rows: RowFile,
        settings: RunSettings,
        check: Check | None,
        events: EventLog | None,
        say: Callable[[str], None],
    ) -> None:
        self._left, self._planned, self._questions, self._arms = left, planned, questions, arms
        self._rows, self._settings, self._check, self._events, self._say = rows, settings, check, events, say
        self._failures: Counter[str] = Counter()
        self._done = planned - len(left)
        self._kept: set[str] = set()
        self._writing = asyncio.Lock()
        self.given_up: dict[str, str] = {}

    async def seat(self) -> None:
        """Make runs until none is left, with agents of this seat's own."""
        agents: dict[str, Agent] = {}
        while self._left:
            trial = self._left.popleft()
            if trial.arm in self.given_up:
                continue
            if trial.arm not in agents:
                agents[trial.arm] = self._arms[trial.arm].make()
                if self._settings.warm_up:
                    await self._uncounted(agents[trial.arm], dataclasses.replace(trial, scope="warm-up"))
            if trial.warm and self._arms[trial.arm].keeps and trial.scope not in self._kept:
                # Its cold run was made by a process that is gone, and so is what it kept: it would not be warm.
                self._say(f"{trial.arm} {trial.question_id}: asked once more, uncounted, to be warm")
                await self._uncounted(agents[trial.arm], trial)
            await self._one(agents[trial.arm], trial)

    async def _one(self, agent: Agent, trial: Trial) -> None:
        question, events = self._questions[trial.question_id], list[Event]()
        heard, error = await self._ask(agent, trial, events)
        if heard is None:
            row = failed_row(self._settings.suite, trial, question, error)
            self._failures[trial.arm] += 1
            if self._failures[trial.arm] >= self._settings.failures_in_a_row:
                self.given_up[trial.arm] = error
        else:
            self._failures[trial.arm] = 0
            self._kept.add(trial.scope)
            row = row_of(self._settings.suite, trial, question, heard, events, self._settings.tools)
            row = await checked(row, searches_made(heard.messages, self._settings.tools), self._check)
        async with self._writing:  # on a thread: another run's tokens may be arriving
            await asyncio.to_thread(self._write, row, trial, events)
        self._done += 1
        self._say(self._line(row))

    async def _uncounted(self, agent: Agent, trial: Trial) -> None:
        await self._ask(agent, trial, [], thread="uncounted")

    async def _ask(
        self, agent: Agent, trial: Trial, events: list[Event], *, thread: str = ""
    ) -> tuple[Heard | None, str]:
        unsubscribe = agent.subscribe(events.append) if agent.subscribe is not None else None
        configurable = {SCOPE: trial.scope, "thread_id": f"{trial.scope}/{trial.place}/{thread}"}
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await ask(agent.runnable, self._questions[trial.question_id].text, configurable), ""
        except TimeoutError:
            return None, f"no answer within {self._settings.timeout_seconds:g} s"
        except Exception as error:  # noqa: BLE001 - whatever a user's agent raises: the row says so
            return None, in_a_line(error)
        finally:
            if unsubscribe is not None:
                unsubscribe()

    def _write(self, row: RunRow, trial: Trial, events: list[Event]) -> None:
        self._rows.add(row)
        if self._events is not None and events:
            self._events.add(trial.key, events)

    def _line(self, row: RunRow) -> str:
        said = f"{row.seconds:.2f} s" if row.error is None else f"failed: {row.error}"
        return f"{self._done}/{self._planned} {row.arm} {row.question_id}: {said}"


async def checked(row: RunRow, made: Sequence[tuple[ToolCall, Any]], check: Check | None) -> RunRow:
    """The row, with what searching again says of its passages; a second search that fails says nothing."""
    if check is None or not row.searches:
        return row

    async def again(search: SearchRow, call: ToolCall) -> SearchRow:
        try:
            return dataclasses.replace(search, as_real=await check(call) == search.passages)
        except Exception:  # noqa: BLE001 - the run itself is done and paid for
            return search

    searches = [await again(search, call) for search, (call, _) in zip(row.searches, made, strict=True)]
    return dataclasses.replace(row, searches=tuple(searches))


def in_a_line(error: BaseException) -> str:
    """An error's kind and message in one line, shortened."""
    message = textwrap.shorten(str(error), 240, placeholder=" ...")
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
