"""A judge: any LangChain chat model with structured output, under a name that its verdicts are kept by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, JudgeModelError, NoJudgeError
from langgraph_prefetch.evaluation.judging.spending import JudgeBudget, JudgePrice


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A model that judges.

    Attributes:
        name: what its verdicts are kept by, such as ``openai:gpt-5-mini``. Another model, or another setting of it that
            changes what it says, needs another name.
        model: a chat model whose ``with_structured_output`` works.
        price: needed for a budget in money.
    """

    name: str
    model: BaseChatModel = field(repr=False)  # it may hold a key
    price: JudgePrice | None = None

    def asked_for(self, schema: Mapping[str, Any]) -> Runnable[Any, Any]:
        """The model, made to reply in the shape of a JSON schema, its message beside what was read from it.

        Raises:
            JudgeModelError: it cannot.
        """
        try:
            return self.model.with_structured_output(dict(schema), include_raw=True)
        except (NotImplementedError, ValueError, TypeError) as error:
            raise JudgeModelError(self.name, type(self.model).__name__) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeLimits:
    """How judges are called.

    Attributes:
        max_concurrency: calls at a time, over all judges.
        timeout_seconds: for one call, the model's own retries included.
        max_reply_chars: a longer reply is no verdict.
        give_up_after: calls of one judge in a row that no reply came to; then it is asked no more in this run.
        budget: what may be spent.
    """

    max_concurrency: int = 8
    timeout_seconds: float = 60.0
    max_reply_chars: int = 8_000
    give_up_after: int = 10
    budget: JudgeBudget = JudgeBudget()  # noqa: RUF009  frozen

    def __post_init__(self) -> None:
        require_at_least("max_concurrency", self.max_concurrency, 1)
        require_at_least("max_reply_chars", self.max_reply_chars, 1)
        require_at_least("give_up_after", self.give_up_after, 1)
        if not self.timeout_seconds > 0:
            raise ConfigurationError(f"timeout_seconds must be above 0, not {self.timeout_seconds!r}")


def checked(judges: Sequence[Judge], budget: JudgeBudget) -> tuple[Judge, ...]:
    """The judges, if there is one, no name stands for two, and each has the price that the budget needs.

    Raises:
        NoJudgeError: there is none.
        ConfigurationError: two have one name, or one has no price.
    """
    if not judges:
        raise NoJudgeError
    names = [judge.name for judge in judges]
    for name in names:
        if not name or names.count(name) > 1:
            raise ConfigurationError(f"every judge needs a name of its own, and {name!r} is none: pass Judge(name=…)")
    unpriced = [judge.name for judge in judges if judge.price is None]
    if budget.money is not None and unpriced:
        raise ConfigurationError(
            f"a budget in money needs the price of every judge, and {', '.join(unpriced)} has none: pass "
            "Judge(price=JudgePrice(…)), or a budget in calls"
        )
    return tuple(judges)


def judging_themselves(judges: Iterable[str], agent_model: str | None) -> tuple[str, ...]:
    """Those judges that are the agent's own model, whatever provider or date stands in the name.

    A model tends to prefer its own writing (Panickssery et al. 2024), so that such a verdict is to be read with care.
    """
    own = _bare(agent_model or "")
    return tuple(judge for judge in judges if own and _bare(judge) == own)


def _bare(name: str) -> str:
    bare = re.split(r"[:/]", name.strip().lower())[-1]
    return re.sub(r"-(\d{4}-?\d{2}-?\d{2}|latest)$", "", bare)
