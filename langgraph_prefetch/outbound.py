"""What may be sent early at all: a guess is an outbound path that no one has asked for yet. Pure.

Real calls are not judged here: they run as they are, after whatever guards the user has.
"""

from __future__ import annotations

import inspect
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.sensitive import FINDERS
from langgraph_prefetch.values import Source

Destination = Literal["own_store", "third_party"]
"""Who reads a tool's queries: a store of the user's own, or somebody else."""

DESTINATIONS: tuple[Destination, ...] = get_args(Destination)

INSTRUCTION = "instruction"
"""The kind of a guess that a tool's result told the model to search for; it shows in no text alone."""

KINDS = (*FINDERS, INSTRUCTION)

MAX_CHARS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundRules:
    """Which texts may be sent early.

    Attributes:
        max_chars: longer texts are not sent; all texts of one call together.
        refuse: the kinds of content that keep a text from being sent: ``"address"`` (URLs), ``"host"`` (bare host
            names and IP addresses), ``"email"``, ``"secret"`` (known key formats, passwords, private keys), ``"token"``
            (long runs that look random), ``"phone"`` (and other personal numbers), ``"card"``, ``"instruction"``
            (a guess that a tool's result told the model to search for).
    """

    max_chars: int = MAX_CHARS
    refuse: tuple[str, ...] = KINDS

    def __post_init__(self) -> None:
        if isinstance(self.max_chars, bool) or not isinstance(self.max_chars, int) or self.max_chars < 1:
            raise ConfigurationError(f"max_chars must be a whole number from 1 on, not {self.max_chars!r}")
        if isinstance(self.refuse, str) or not isinstance(self.refuse, tuple):
            raise ConfigurationError(f"refuse takes a tuple of kinds, such as ('address', 'secret'): {self.refuse!r}")
        for kind in self.refuse:
            if kind not in KINDS:
                hint = did_you_mean(str(kind), KINDS)
                raise ConfigurationError(f"refuse names {kind!r}, which is no kind. Kinds: {', '.join(KINDS)}.{hint}")

    def reason_against(self, *texts: str) -> str | None:
        """Why ``texts``, those of one call, may not be sent early (``"too long"``, ``"address"`` …); None: they may."""
        if sum(map(len, texts)) > self.max_chars:
            return "too long"
        for text in texts:
            if not text.isprintable():
                return "unprintable"
            # Full-width letters and the like are read as what they look like.
            plain = unicodedata.normalize("NFKC", text)
            for kind in self.refuse:
                if kind != INSTRUCTION and FINDERS[kind](plain):
                    return kind
        return None


THIRD_PARTY_RULES = OutboundRules()
"""What applies to a third party unless the tool's policy says otherwise."""

GUESS_RULES = OutboundRules(max_chars=200, refuse=("address", "email", "secret"))
"""What applies to every guess, wherever it goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """A call that is about to be sent early, as the ``may_send`` hook sees it.

    Attributes:
        tool: the tool's name.
        destination: who reads its queries.
        source: ``Source.REASONING`` for a guess, ``Source.SEALED`` for a call whose arguments are complete,
            ``Source.NEAR`` for a text whose passages are fetched for near misses.
        query: the text that is searched for.
        arguments: all that the tool would be given.
    """

    tool: str
    destination: Destination
    source: Source
    query: str = field(repr=False)
    arguments: Mapping[str, Any] = field(hash=False, repr=False)


MaySend = Callable[[Outgoing], bool]
"""The redaction hook. It decides and cannot change the call: a changed query would answer another one."""


def is_coroutine_function(hook: Any) -> bool:
    """Whether calling ``hook`` would give a coroutine, which nobody could wait for here."""
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(getattr(hook, "__call__", None))  # noqa: B004


def texts_of(arguments: Mapping[str, Any], fixed: Mapping[str, Any]) -> Iterator[str]:
    """Every text and number in ``arguments`` that a model wrote: those equal to ``fixed`` ones are the user's own."""
    for name, value in arguments.items():
        if name not in fixed or fixed[name] != value:
            yield from _texts(value)


def _texts(value: Any) -> Iterator[str]:
    match value:
        case None | bool():
            return
        case Mapping():
            for name, each in value.items():
                yield str(name)
                yield from _texts(each)
        case list() | tuple() | set():
            for each in value:
                yield from _texts(each)
        case _:
            yield str(value)
