"""Who cost what: an account to which every gateway adds, which adds up exactly, and shows waste on lines of its own."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from langgraph_prefetch.events import Event, Fate, SpeculationEnded
from langgraph_prefetch.locks import ForkSafeLock
from langgraph_prefetch.money import less, times, total
from langgraph_prefetch.serving.gateway.prices import Charge

MAX_OPEN = 10_000
"""Speculations whose end is awaited; what is forgotten of more counts as wasted."""


class Fruit(StrEnum):
    """What came of what was paid for."""

    USED = "used"
    WASTED = "wasted"
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountLine:
    """What one component was paid for one thing.

    Attributes:
        gateway, component: their names.
        what: ``calls``, ``input tokens`` …
        unit_price: of one; a component whose price changed has a line for each.
        quantity: of them.
        fruit: ``used`` for answers; ``wasted`` for calls that gave none and for early ones that nobody asked for in
            the end; ``open`` for early ones of which that is not known yet.
    """

    gateway: str
    component: str
    what: str
    unit_price: Decimal
    quantity: Decimal
    fruit: Fruit

    @property
    def amount(self) -> Decimal:
        """Quantity times price, exactly."""
        return times(self.quantity, self.unit_price)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """All lines at one moment."""

    lines: tuple[AccountLine, ...]

    @property
    def total(self) -> Decimal:
        """The sum of all lines, exactly."""
        return total(line.amount for line in self.lines)

    @property
    def wasted(self) -> Decimal:
        """The sum of the lines that no answer came from."""
        return total(line.amount for line in self.lines if line.fruit is Fruit.WASTED)

    def by_component(self) -> dict[tuple[str, str], Decimal]:
        """(gateway, component) -> what it cost, waste included."""
        sums: dict[tuple[str, str], Decimal] = {}
        for line in self.lines:
            key = line.gateway, line.component
            sums[key] = total((sums.get(key, Decimal(0)), line.amount))
        return sums


_Key = tuple[str, str, str, Decimal, Fruit]


class Account:
    """Adds up what calls cost. Safe for threads.

    Early calls are ``open`` until their speculation has ended. For that, subscribe it to the agent's events:
    ``agent.prefetch.subscribe(account)``; without, they stay open.
    """

    def __init__(self) -> None:
        self._lock = ForkSafeLock()
        self._quantities: dict[_Key, Decimal] = {}
        self._open: OrderedDict[str, list[tuple[_Key, Decimal]]] = OrderedDict()
        self._fates: OrderedDict[str, Fruit] = OrderedDict()

    def __call__(self, event: Event) -> None:
        """Take one event: the end of a speculation tells what came of its calls."""
        if isinstance(event, SpeculationEnded):
            fruit = Fruit.USED if event.fate is Fate.SERVED else Fruit.WASTED
            with self._lock:
                self._fates[event.speculation_id] = fruit
                self._settle(event.speculation_id, fruit)
                while len(self._fates) > MAX_OPEN:
                    self._fates.popitem(last=False)

    def charge(
        self,
        gateway: str,
        component: str,
        parts: Iterable[Charge],
        *,
        wasted: bool = False,
        early: bool = False,
        speculation: str | None = None,
    ) -> Decimal:
        """Add what a call cost; returns the sum.

        Args:
            gateway: its name.
            component: its name.
            parts: what it used.
            wasted: it gave no answer.
            early: nobody had asked for it.
            speculation: id of the one that it was made for, if that is known.
        """
        parts = tuple(parts)
        with self._lock:
            fruit = Fruit.WASTED if wasted else Fruit.USED
            if early and not wasted:
                fruit = self._fates.get(speculation or "", Fruit.OPEN)
            for part in parts:
                key = gateway, component, part.what, part.unit_price, fruit
                self._quantities[key] = total((self._quantities.get(key, Decimal(0)), part.quantity))
                if fruit is Fruit.OPEN and speculation is not None:
                    self._open.setdefault(speculation, []).append((key, part.quantity))
            while len(self._open) > MAX_OPEN:
                self._settle(next(iter(self._open)), Fruit.WASTED)
        return total(part.amount for part in parts)

    def statement(self) -> Statement:
        """All lines, as things stand."""
        with self._lock:
            held = sorted(self._quantities.items(), key=lambda each: (*each[0][:3], each[0][4], each[0][3]))
        return Statement(
            lines=tuple(
                AccountLine(
                    gateway=gateway,
                    component=component,
                    what=what,
                    unit_price=unit_price,
                    quantity=quantity,
                    fruit=fruit,
                )
                for (gateway, component, what, unit_price, fruit), quantity in held
                if quantity
            )
        )

    def _settle(self, speculation: str, fruit: Fruit) -> None:
        for key, quantity in self._open.pop(speculation, []):
            settled = (*key[:4], fruit)
            self._quantities[key] = less(self._quantities[key], quantity)
            self._quantities[settled] = total((self._quantities.get(settled, Decimal(0)), quantity))
