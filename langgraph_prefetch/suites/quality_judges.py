"""The judges of a suite: models as LangChain names them, or scripted ones behind a server on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from langgraph_prefetch.errors import ConfigurationError, JudgeModelError, MissingExtraError, NoJudgeError, did_you_mean
from langgraph_prefetch.evaluation.costs.price_file import load_prices
from langgraph_prefetch.evaluation.costs.prices import Prices
from langgraph_prefetch.evaluation.judging import Judge, JudgePrice
from langgraph_prefetch.evaluation.named_model import named_model
from langgraph_prefetch.suites.contract import SuiteContext
from langgraph_prefetch.suites.quality_settings import JudgingSettings
from langgraph_prefetch.testing.judge import NAMED, JudgeServer

SCRIPTED = "scripted"
FREE = JudgePrice(input_per_million=0, output_per_million=0)


def judge_names(context: SuiteContext, settings: JudgingSettings) -> tuple[str, ...]:
    """Those of the command line, or else of the suite's file.

    Raises:
        NoJudgeError: neither names one.
    """
    names = context.judges or settings.judges
    if not names:
        raise NoJudgeError
    return tuple(names)


@contextmanager
def open_judges(context: SuiteContext, names: Sequence[str]) -> Iterator[tuple[Judge, ...]]:
    """The judges of these names. ``scripted``, or ``scripted:BEHAVIOUR``, is no model; its server ends with the block.

    Raises:
        JudgeModelError: a model cannot be made.
        ConfigurationError: no such scripted behaviour.
        MissingExtraError: LangChain is not installed, or for a scripted judge langchain-openai.
        PriceFileError: the price file cannot be read.
    """
    prices = prices_of(context)
    with ExitStack() as stack:
        yield tuple(_judge(name, prices, stack) for name in names)


def prices_of(context: SuiteContext) -> Prices | None:
    """The price file that was given, or else the suite's; None if there is none."""
    given: Sequence[Path] = context.inputs.get("prices", ())
    path = given[0] if given else context.data / "prices.toml"
    return load_prices(path) if given or path.exists() else None


def price_of(name: str, prices: Prices | None) -> JudgePrice | None:
    """What a judge charges, by its whole name or by that without the provider; None if the file does not say."""
    if is_scripted(name):
        return FREE
    for known in (name, name.partition(":")[2]):
        if prices is not None and known in prices.models:
            found = prices.model(known)
            return JudgePrice(
                input_per_million=float(found.input_per_million), output_per_million=float(found.output_per_million)
            )
    return None


def is_scripted(name: str) -> bool:
    """Whether it is no model."""
    return name.partition(":")[0] == SCRIPTED


def _judge(name: str, prices: Prices | None, stack: ExitStack) -> Judge:
    if is_scripted(name):
        return Judge(name=name, model=_scripted(name, stack), price=FREE)
    try:
        model = named_model(name)
    except ConfigurationError as error:
        raise JudgeModelError(name, "", str(error)) from error
    return Judge(name=name, model=model, price=price_of(name, prices))


def _scripted(name: str, stack: ExitStack) -> BaseChatModel:
    behaviour = name.partition(":")[2] or "sensible"
    if behaviour not in NAMED:
        raise ConfigurationError(
            f"no scripted judge {behaviour!r}; there are {', '.join(NAMED)}.{did_you_mean(behaviour, NAMED)}"
        )
    try:
        from langchain_openai import ChatOpenAI
    except ImportError as error:
        raise MissingExtraError("langchain-openai", "judges") from error
    server = stack.enter_context(JudgeServer(NAMED[behaviour]()))
    return ChatOpenAI(model=name, base_url=f"{server.url}/v1", api_key="none", max_retries=0)
