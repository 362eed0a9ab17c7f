"""Everything a user can set, checked once when it is made. Units stand in the names."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from langgraph_prefetch.errors import ConfigurationError, UnknownOptionError, did_you_mean
from langgraph_prefetch.guesses import ResultGuesser
from langgraph_prefetch.jobs import JobQueue, ResultCache, check_elsewhere
from langgraph_prefetch.near_miss import NearMiss
from langgraph_prefetch.outbound import (
    DESTINATIONS,
    THIRD_PARTY_RULES,
    Destination,
    MaySend,
    OutboundRules,
    is_coroutine_function,
)

ServeMode = Literal["exact", "bounded", "verified"]
SERVE_MODES = ("exact", "bounded", "verified")
ForceStreaming = Literal["auto"] | bool
ScopeOf = Callable[[Mapping[str, Any]], Hashable | None]


def _number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigurationError(f"{name} must be a number, not {value!r}")


def require_at_least(name: str, value: float, least: float) -> None:
    """Raise ``ConfigurationError`` unless ``value`` is a number from ``least`` on."""
    _number(name, value)
    if not value >= least:
        raise ConfigurationError(f"{name} must be at least {least:g}, not {value!r}")


def _above_zero(name: str, value: float) -> None:
    _number(name, value)
    if not value > 0:
        raise ConfigurationError(f"{name} must be above 0, not {value!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """An amount in exactly one unit: what a call costs, or what a second is worth.

    Attributes:
        money: in a currency of your choice, the same everywhere.
        calls: in calls of the backend. ``value_of_second=Price(calls=5)``: five wrong calls for each saved second.
    """

    money: float | None = None
    calls: float | None = None

    def __post_init__(self) -> None:
        if (self.money is None) == (self.calls is None):
            raise ConfigurationError("a Price is in money or in calls: Price(money=0.002) or Price(calls=1)")
        require_at_least(f"Price({self.unit}=…)", self.amount, 0)
        if not math.isfinite(self.amount):
            raise ConfigurationError(f"a Price must be finite, not {self.amount!r}")

    @property
    def unit(self) -> Literal["money", "calls"]:
        """What the amount counts."""
        return "calls" if self.money is None else "money"

    @property
    def amount(self) -> float:
        """How much, in its unit."""
        return self.calls or 0.0 if self.money is None else self.money


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """How many speculations may start. A budget that is used up makes later ones misses, never errors.

    Attributes:
        guesses_per_step: guessed queries started during one model call.
        sealed_per_step: exact calls started from closed arguments during one model call.
        per_run: all speculations of one run.
        per_scope_per_minute: all speculations of one shared scope, in a sliding minute.
        per_process_per_minute: all speculations of this process, in a sliding minute.
        neighbourhoods_per_run: lists of passages fetched around anchors for near misses, in one run. They count as
            speculations of the scope and the process too; how many one model call may fetch its ``NearMiss`` says.
    """

    guesses_per_step: int = 3
    sealed_per_step: int = 16
    per_run: int = 100
    per_scope_per_minute: int = 300
    per_process_per_minute: int = 1_200
    neighbourhoods_per_run: int = 40

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            require_at_least(each.name, getattr(self, each.name), 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPolicy:
    """What may be done early with one tool. Naming a tool asserts that it only reads and needs nobody's approval.

    Attributes:
        name: the tool's name, as the model calls it.
        query_argument: the argument that a guessed query fills; found from the schema if None.
        fixed_arguments: what else a guess passes, e.g. ``{"k": 10}`` where the model always does.
        guess: start searches from reasoning; if False only from closed tool-call arguments.
        reads_runtime: your word that the tool's ``ToolRuntime`` is read for ``context`` and ``config`` alone.
        identity: declares tool objects equal that are made anew per request; the object itself if None.
        max_concurrency: the backend's limit on calls in flight; None for no limit of its own.
        reserve: how many of ``max_concurrency`` stay free for real calls.
        max_per_second: the backend's rate limit, of which speculation leaves half to real calls; None for none.
        timeout_seconds: after this a speculation is given up.
        price: what one call costs; None: one call where ``value_of_second`` is in calls, else nothing.
        destination: who reads its queries: ``"own_store"``, or ``"third_party"`` for anybody else's service.
        outbound: which texts may be sent early; None: what suits the destination.
    """

    name: str
    query_argument: str | None = None
    fixed_arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    guess: bool = True
    reads_runtime: bool = False
    identity: Hashable | None = None
    max_concurrency: int | None = None
    reserve: int = 1
    max_per_second: float | None = None
    timeout_seconds: float = 30.0
    price: Price | None = None
    destination: Destination = "own_store"
    outbound: OutboundRules | None = None

    def __post_init__(self) -> None:
        if not self.name or not isinstance(self.name, str):
            raise ConfigurationError("a tool policy needs the tool's name")
        if self.max_concurrency is not None:
            require_at_least("max_concurrency", self.max_concurrency, 1)
        require_at_least("reserve", self.reserve, 0)
        if self.max_per_second is not None:
            _above_zero("max_per_second", self.max_per_second)
        _above_zero("timeout_seconds", self.timeout_seconds)
        if self.price is not None and not isinstance(self.price, Price):
            raise ConfigurationError(f"price takes a Price, such as Price(money=0.002), not {self.price!r}")
        self._check_outbound()

    def _check_outbound(self) -> None:
        if self.destination not in DESTINATIONS:
            raise ConfigurationError(
                f"destination must be 'own_store' or 'third_party', not {self.destination!r}."
                f"{did_you_mean(str(self.destination), DESTINATIONS)}"
            )
        if self.outbound is not None and not isinstance(self.outbound, OutboundRules):
            raise ConfigurationError(f"outbound takes OutboundRules, not {self.outbound!r}")
        if self.destination == "third_party" and self.outbound and "secret" not in self.outbound.refuse:
            raise ConfigurationError(
                "a third party gets no secrets early: put 'secret' into refuse, or call the destination 'own_store'"
            )

    @property
    def outbound_rules(self) -> OutboundRules | None:
        """What every text of the model's must pass before it is sent early; None: only what holds for all guesses."""
        if self.outbound is None and self.destination == "third_party":
            return THIRD_PARTY_RULES
        return self.outbound

    def price_in(self, value_of_second: Price) -> float:
        """What one call costs, in the unit of ``value_of_second``.

        Raises:
            ConfigurationError: the price is in the other unit.
        """
        if self.price is None:
            return 1.0 if value_of_second.unit == "calls" else 0.0
        if self.price.unit != value_of_second.unit:
            raise ConfigurationError(
                f"the price of {self.name!r} is in {self.price.unit} and value_of_second in {value_of_second.unit}: "
                "give both in one unit"
            )
        return self.price.amount


@dataclass(frozen=True, slots=True, kw_only=True)
class NextCalls:
    """When the next model call may start in private, under ``serve="verified"``. A wrong one costs tokens, no time.

    Attributes:
        max_wasted_share: start only while at most this share of them is expected to be cancelled, in [0, 1].
        token_price: what one token read or written by a cancelled call costs, in the unit of ``value_of_second``;
            with it a call starts only where the seconds that it may save are worth more than the tokens it may waste.
        per_run: how many may start in one run.
        max_running: how many may run at once, those that are cancelled but cannot be broken off included.
    """

    max_wasted_share: float = 0.5
    token_price: Price | None = None
    per_run: int = 100
    max_running: int = 8

    def __post_init__(self) -> None:
        _number("max_wasted_share", self.max_wasted_share)
        if not 0 <= self.max_wasted_share <= 1:
            raise ConfigurationError(f"max_wasted_share is a share from 0 to 1, not {self.max_wasted_share!r}")
        if self.token_price is not None and not isinstance(self.token_price, Price):
            raise ConfigurationError(f"token_price takes a Price, such as Price(money=3e-6), not {self.token_price!r}")
        require_at_least("per_run", self.per_run, 0)
        require_at_least("max_running", self.max_running, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorLimits:
    """Bounds of the process-wide executor.

    Attributes:
        max_running: speculations running at once.
        max_queued: speculations waiting for a place; one more is rejected.
        max_elsewhere: speculations under way on other machines, which take no place here; one more is rejected.
    """

    max_running: int = 8
    max_queued: int = 64
    max_elsewhere: int = 256

    def __post_init__(self) -> None:
        require_at_least("max_running", self.max_running, 1)
        require_at_least("max_queued", self.max_queued, 0)
        require_at_least("max_elsewhere", self.max_elsewhere, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefetchOptions:
    """The options of ``with_prefetch``, ``PrefetchMiddleware`` and ``Prefetcher``.

    Attributes:
        serve: which answers are allowed; ``"exact"``: only the result of the very same call. ``"verified"``: that, and
            the next model call starts in private on results that are probable; what it says is used only if the real
            results are the same. ``"bounded"``: near misses too, with a bounded error.
        threshold: P(search) from which a guess may start; None takes the default.
        reuse_seconds: answer repeated equal calls from the first one's result for so long; None never does.
        scope: from trusted run configuration (the ``configurable`` mapping) to the value within which results may
            cross runs; None, or a scope that returns None or raises: results stay within the run.
        ignore_configurable: names under ``configurable`` that no named tool reads (``thread_id`` where results are
            shared across threads).
        force_streaming: make models stream under plain ``invoke``: ``"auto"`` only where a test of ours shows that
            the message stays the same.
        budgets: how many speculations may start.
        max_age_seconds: how old a speculation's result may be when it answers.
        max_wait_seconds: how long a call waits at most for a running speculation before it runs itself.
        log_queries: write query text into events and logs.
        trace_speculations: leave LangSmith tracing on inside speculations.
        mark_served: say in the metadata of a served call's own run that it was served, from what, and what that hid
            (``langgraph_prefetch.served`` …). Callbacks and traces see it; it differs from a bare run's metadata.
        value_of_second: what a saved second is worth; with it a guess starts only where that is more than its price.
            None: every guess may start.
        dry_run: decide and count, but start nothing: the report says what would have been.
        may_send: the redaction hook, asked before a call is sent early; unless it returns True, nothing is sent.
        next_calls: when the next model call may start in private, under ``serve="verified"``.
        guesser: guesses results for ``serve="verified"``, besides the earlier results of the run and its scope.
        near: of tools by name, what their near misses may be answered from: for ``serve="bounded"``, and as guesses
            for ``serve="verified"``.
        epsilon: under ``serve="bounded"`` at most this share of the near misses that are served may be a wrong set, in
            (0, 1).
        executor: where searches for workers on other machines go; it needs a ``cache``. None: they run in this process.
        cache: where results are kept for other processes. Without an ``executor`` it shares results within a ``scope``
            for ``reuse_seconds``.
    """

    serve: ServeMode = "exact"
    threshold: float | None = None
    reuse_seconds: float | None = None
    scope: ScopeOf | None = None
    ignore_configurable: tuple[str, ...] = ()
    force_streaming: ForceStreaming = "auto"
    budgets: Budgets = Budgets()
    max_age_seconds: float = 60.0
    max_wait_seconds: float = 10.0
    log_queries: bool = False
    trace_speculations: bool = False
    mark_served: bool = False
    value_of_second: Price | None = None
    dry_run: bool = False
    may_send: MaySend | None = None
    next_calls: NextCalls = NextCalls()
    guesser: ResultGuesser | None = None
    near: Mapping[str, NearMiss] = field(default_factory=dict, hash=False)
    epsilon: float = 0.01
    executor: JobQueue | None = None
    cache: ResultCache | None = None

    def __post_init__(self) -> None:
        self._check_serve()
        check_elsewhere(self.executor, self.cache, shares=self.scope is not None and self.reuse_seconds is not None)
        if self.threshold is not None:
            _number("threshold", self.threshold)
            if not 0 < self.threshold < 1:
                raise ConfigurationError(f"threshold is a probability between 0 and 1, not {self.threshold!r}")
        if self.force_streaming not in ("auto", True, False):
            raise ConfigurationError(f"force_streaming must be 'auto', True or False, not {self.force_streaming!r}")
        if self.reuse_seconds is not None:
            _above_zero("reuse_seconds", self.reuse_seconds)
        if self.scope is not None and not callable(self.scope):
            raise ConfigurationError(
                f"scope takes a function from the run's configurable values to the scope, not {self.scope!r}"
            )
        if not isinstance(self.budgets, Budgets):
            raise ConfigurationError(f"budgets takes a Budgets object, not {self.budgets!r}")
        if isinstance(self.ignore_configurable, str):
            raise ConfigurationError("ignore_configurable takes a tuple of names, not one string")
        _above_zero("max_age_seconds", self.max_age_seconds)
        require_at_least("max_wait_seconds", self.max_wait_seconds, 0)
        if self.value_of_second is not None:
            if not isinstance(self.value_of_second, Price):
                raise ConfigurationError(
                    "value_of_second takes a Price, such as Price(money=0.001) or Price(calls=5), "
                    f"not {self.value_of_second!r}"
                )
            _above_zero("value_of_second", self.value_of_second.amount)
        if not isinstance(self.dry_run, bool):
            raise ConfigurationError(f"dry_run must be True or False, not {self.dry_run!r}")
        if self.may_send is not None and (not callable(self.may_send) or is_coroutine_function(self.may_send)):
            raise ConfigurationError(
                f"may_send takes a plain function from an Outgoing call to True or False, not {self.may_send!r}"
            )

    def _check_serve(self) -> None:
        if self.serve not in SERVE_MODES:
            raise ConfigurationError(
                f"serve must be 'exact', 'bounded' or 'verified', not {self.serve!r}."
                f"{did_you_mean(str(self.serve), SERVE_MODES)}"
            )
        self._check_near()
        if not isinstance(self.next_calls, NextCalls):
            raise ConfigurationError(f"next_calls takes a NextCalls object, not {self.next_calls!r}")
        if self.guesser is not None and not isinstance(self.guesser, ResultGuesser):
            raise ConfigurationError(f"guesser takes an object with a method guess(asked, tell), not {self.guesser!r}")
        if self.serve != "verified" and (self.guesser is not None or self.next_calls != NextCalls()):
            raise ConfigurationError("next_calls and guesser are for serve='verified'")

    def _check_near(self) -> None:
        if not isinstance(self.near, Mapping):
            raise ConfigurationError(
                f"near takes a NearMiss for each tool's name: near={{'search': NearMiss(…)}}, not {self.near!r}"
            )
        for name, each in self.near.items():
            if not isinstance(each, NearMiss):
                raise ConfigurationError(f"near[{name!r}] takes a NearMiss(source=…, k=…), not {type(each).__name__}")
        if self.serve == "exact" and self.near:
            raise ConfigurationError(
                "near is for serve='bounded' or serve='verified'; serve='exact' answers no near misses"
            )
        _number("epsilon", self.epsilon)
        if not 0 < self.epsilon < 1:
            raise ConfigurationError(f"epsilon is a share in (0, 1), not {self.epsilon!r}: 0.01 means one in a hundred")

    def check_prices(self, policies: Iterable[ToolPolicy]) -> None:
        """Check that the tools' prices and the value of a second go together.

        Raises:
            ConfigurationError: a price without a value of a second, or in another unit.
        """
        token = self.next_calls.token_price
        if token is not None and (self.value_of_second is None or self.value_of_second.unit != token.unit):
            raise ConfigurationError(
                f"the price of a token is in {token.unit}: add value_of_second=Price({token.unit}=…), in the same unit"
            )
        for policy in policies:
            if self.value_of_second is not None:
                policy.price_in(self.value_of_second)
            elif policy.price is not None:
                raise ConfigurationError(
                    f"the price of {policy.name!r} says nothing without value_of_second: "
                    f"add value_of_second=Price({policy.price.unit}=…)"
                )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> PrefetchOptions:
        """From keyword arguments.

        Raises:
            UnknownOptionError: a name that is no option; it lists those that are.
            ConfigurationError: a value out of its range.
        """
        known = [each.name for each in dataclasses.fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownOptionError(name, known)
        return cls(**options)
