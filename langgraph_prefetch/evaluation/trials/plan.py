"""Which arm is asked which question when. Pure: the seed decides.

A place in the order is worth something (caches are warm, a machine is busy), so no arm may have the better places:
within a batch each order of the arms is used equally often, or once more, and which question gets which is drawn.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError

MAX_PERMUTED = 4
"""With more arms than that, only the rotations of one drawn order are used, and their reverses."""

Key = tuple[str, str, int, int, bool]
"""Arm, question, batch, repeat, warm: what tells a run from every other of its evaluation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One question to be asked of one arm.

    Attributes:
        scope: within it results may be kept from one run to the next, where the arm keeps any.
        warm: the arm has been asked this question before in this scope.
        place: in the order, over all arms, from 0.
    """

    arm: str
    question_id: str
    batch: int = 0
    repeat: int = 0
    warm: bool = False
    scope: str
    place: int

    @property
    def key(self) -> Key:
        """What tells it from every other trial of its evaluation."""
        return (self.arm, self.question_id, self.batch, self.repeat, self.warm)


def paired_trials(
    question_ids: Sequence[str],
    arms: Sequence[str],
    *,
    batches: int = 1,
    repeats: int = 1,
    warm: bool = False,
    seed: int,
) -> tuple[Trial, ...]:
    """Every question of every arm, ``repeats`` times in each of ``batches``; all arms of a question one after another.

    Each run is cold: nothing is kept from another. With ``warm``, when all questions of a repeat have been asked, all
    are asked once more with the results of the first time kept.

    Raises:
        ConfigurationError: no question, no arm, one of either twice, or a number below 1.
    """
    _check(question_ids, arms, batches=batches, repeats=repeats)
    generator = random.Random(seed)  # noqa: S311 - not for secrets
    passes = (False, True) if warm else (False,)
    trials: list[Trial] = []
    for batch, repeat in itertools.product(range(batches), range(repeats)):
        for is_warm in passes:
            orders = balanced_orders(arms, len(question_ids), generator)
            for question, order in zip(_shuffled(question_ids, generator), orders, strict=True):
                for arm in order:
                    trials.append(
                        Trial(
                            arm=arm,
                            question_id=question,
                            batch=batch,
                            repeat=repeat,
                            warm=is_warm,
                            scope=f"{arm}/{batch}/{repeat}/{question}",
                            place=len(trials),
                        )
                    )
    return tuple(trials)


def series_trials(question_ids: Sequence[str], arm: str, *, batches: int, seed: int) -> tuple[Trial, ...]:
    """The same questions of one arm in every batch, results kept: the first batch is cold, the others are warm.

    Raises:
        ConfigurationError: no question, one of them twice, or no batch.
    """
    _check(question_ids, [arm], batches=batches)
    generator = random.Random(seed)  # noqa: S311
    order = ((batch, question) for batch in range(batches) for question in _shuffled(question_ids, generator))
    return tuple(
        Trial(arm=arm, question_id=question, batch=batch, warm=batch > 0, scope=f"{arm}/series/{question}", place=place)
        for place, (batch, question) in enumerate(order)
    )


def balanced_orders(arms: Sequence[str], count: int, generator: random.Random) -> tuple[tuple[str, ...], ...]:
    """``count`` orders of the arms; how often two of the used orders occur differs by one at most."""
    orders = list(_orders(arms, generator))
    generator.shuffle(orders)
    drawn = list(itertools.islice(itertools.cycle(orders), count))
    generator.shuffle(drawn)
    return tuple(drawn)


def _orders(arms: Sequence[str], generator: random.Random) -> Iterator[tuple[str, ...]]:
    if len(arms) <= MAX_PERMUTED:
        yield from itertools.permutations(arms)
        return
    first = _shuffled(arms, generator)
    for turn in range(len(first)):
        rotated = (*first[turn:], *first[:turn])
        yield rotated
        yield rotated[::-1]


def _shuffled(items: Sequence[str], generator: random.Random) -> tuple[str, ...]:
    return tuple(generator.sample(list(items), len(items)))


def _check(question_ids: Sequence[str], arms: Sequence[str], **numbers: int) -> None:
    for name, items in (("question", question_ids), ("arm", arms)):
        if not items:
            raise ConfigurationError(f"an evaluation needs at least one {name}")
        if len(set(items)) < len(items):
            raise ConfigurationError(f"an evaluation has each {name} once, not twice")
    for name, number in numbers.items():
        require_at_least(name, number, 1)
