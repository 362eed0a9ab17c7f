"""Everything a user can set is checked once, when it is made, and says what was wrong."""

import dataclasses
import inspect
import typing
from collections.abc import Callable
from typing import Any

import pytest

from langgraph_prefetch import Prefetcher, config
from langgraph_prefetch.config import Budgets, ExecutorLimits, NextCalls, PrefetchOptions, Price, ToolPolicy
from langgraph_prefetch.errors import ConfigurationError, UnknownOptionError
from langgraph_prefetch.option_types import OptionTypes

CLASSES = (Budgets, ExecutorLimits, NextCalls, PrefetchOptions, Price, ToolPolicy)
NEEDED: dict[type[Any], dict[str, Any]] = {ToolPolicy: {"name": "search"}, Price: {"money": 0.5}}
UNITS = ("_seconds", "_per_second", "_per_minute", "_per_step", "_per_run")


def test_each_class_is_here() -> None:
    """The tests below cover all of them."""
    found = {each for _, each in inspect.getmembers(config, inspect.isclass) if each.__module__ == config.__name__}
    assert found == set(CLASSES)


def test_what_a_checker_is_told() -> None:
    """The keyword arguments that editors and type checkers know are the options, with the same types."""
    of_fields = typing.get_type_hints(PrefetchOptions)
    assert typing.get_type_hints(OptionTypes) == {
        field.name: of_fields[field.name] for field in dataclasses.fields(PrefetchOptions)
    }


@pytest.mark.parametrize("kind", CLASSES)
def test_values_are_frozen_and_named(kind: type[Any]) -> None:
    """Keyword-only, so that a new option breaks no call; frozen, so that nobody changes a running machine."""
    parameters = list(inspect.signature(kind).parameters.values())
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters)
    made = kind(**NEEDED.get(kind, {}))
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, parameters[0].name, 1)
    assert made == kind(**NEEDED.get(kind, {}))
    hash(made)


@pytest.mark.parametrize("kind", CLASSES)
def test_every_option_is_explained(kind: type[Any]) -> None:
    """The docstring names each, and durations and rates carry their unit in the name."""
    for field in dataclasses.fields(kind):
        assert field.name in str(kind.__doc__), field.name
        if any(word in field.name for word in ("age", "wait", "timeout", "rate")):
            assert field.name.endswith(UNITS), field.name


@pytest.mark.parametrize(
    ("kind", "options", "says"),
    [
        (Budgets, {"per_run": -1}, "per_run must be at least 0, not -1"),
        (Budgets, {"guesses_per_step": float("nan")}, "guesses_per_step must be at least 0"),
        (ExecutorLimits, {"max_running": 0}, "max_running must be at least 1, not 0"),
        (ExecutorLimits, {"max_queued": -1}, "max_queued must be at least 0"),
        (ToolPolicy, {"name": ""}, "needs the tool's name"),
        (ToolPolicy, {"name": "s", "max_concurrency": 0}, "max_concurrency must be at least 1"),
        (ToolPolicy, {"name": "s", "reserve": -1}, "reserve must be at least 0"),
        (ToolPolicy, {"name": "s", "max_per_second": 0}, "max_per_second must be above 0, not 0"),
        (ToolPolicy, {"name": "s", "max_per_second": float("nan")}, "max_per_second must be above 0"),
        (ToolPolicy, {"name": "s", "timeout_seconds": 0}, "timeout_seconds must be above 0"),
        (PrefetchOptions, {"serve": "fuzzy"}, "serve must be 'exact', 'bounded' or 'verified', not 'fuzzy'"),
        (PrefetchOptions, {"threshold": 0}, "threshold is a probability between 0 and 1, not 0"),
        (PrefetchOptions, {"threshold": 1.0}, "threshold is a probability"),
        (PrefetchOptions, {"threshold": 90}, "threshold is a probability"),
        (PrefetchOptions, {"force_streaming": "yes"}, "force_streaming must be 'auto', True or False"),
        (PrefetchOptions, {"reuse_seconds": 0}, "reuse_seconds must be above 0"),
        (PrefetchOptions, {"reuse_seconds": -5}, "reuse_seconds must be above 0"),
        (PrefetchOptions, {"ignore_configurable": "thread_id"}, "takes a tuple of names, not one string"),
        (PrefetchOptions, {"max_age_seconds": 0}, "max_age_seconds must be above 0"),
        (PrefetchOptions, {"max_wait_seconds": -1}, "max_wait_seconds must be at least 0"),
    ],
)
def test_impossible_values_are_refused(kind: type[Any], options: dict[str, Any], says: str) -> None:
    """With the name, the limit and the value."""
    with pytest.raises(ConfigurationError, match=says):
        kind(**options)
    with pytest.raises(ValueError, match=says):  # caught without knowing the package, too
        kind(**options)


def test_limits_themselves_are_allowed() -> None:
    """Zero budgets and no queue are settings, not mistakes."""
    Budgets(**{field.name: 0 for field in dataclasses.fields(Budgets)})
    ExecutorLimits(max_running=1, max_queued=0)
    ToolPolicy(name="s", max_concurrency=1, reserve=0, max_per_second=0.01, timeout_seconds=0.001)
    PrefetchOptions(max_wait_seconds=0, threshold=0.5, force_streaming=True)


def test_options_from_keywords() -> None:
    """An option that does not exist is named, with those that do and the one that was probably meant."""
    assert PrefetchOptions.of({"reuse_seconds": 5}) == PrefetchOptions(reuse_seconds=5)
    with pytest.raises(
        UnknownOptionError, match=r"unknown option 'reuse_second'.*Did you mean 'reuse_seconds'\?"
    ) as caught:
        PrefetchOptions.of({"reuse_second": 5})
    assert (caught.value.name, "budgets" in caught.value.known) == ("reuse_second", True)


def test_defaults_are_the_documented_promises() -> None:
    """By default answers are exact, nothing is reused or shared, and three guesses start per step."""
    options = PrefetchOptions()
    assert (options.serve, options.reuse_seconds, options.scope, options.force_streaming) == (
        "exact",
        None,
        None,
        "auto",
    )
    assert (options.log_queries, options.trace_speculations, options.budgets.guesses_per_step) == (False, False, 3)


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Price(), "in money or in calls"),
        (lambda: Price(money=1, calls=1), "in money or in calls"),
        (lambda: Price(money=-1), "at least 0"),
        (lambda: Price(calls=float("nan")), "at least 0"),
        (lambda: Price(calls=float("inf")), "finite"),
        (lambda: Price(money="1"), "a number"),  # type: ignore[arg-type]
        (lambda: ToolPolicy(name="search", price=0.2), "takes a Price"),  # type: ignore[arg-type]
        (lambda: PrefetchOptions(value_of_second=1.0), "takes a Price"),  # type: ignore[arg-type]
        (lambda: PrefetchOptions(value_of_second=Price(money=0)), "above 0"),
        (lambda: PrefetchOptions(dry_run="yes"), "True or False"),  # type: ignore[arg-type]
    ],
)
def test_wrong_prices_are_refused(make: Callable[[], object], complaint: str) -> None:
    """A price is one finite amount, not below zero, in one unit."""
    with pytest.raises(ConfigurationError, match=complaint):
        make()


def test_prices_that_contradict_each_other_are_refused() -> None:
    """Money cannot be weighed against calls, and a price says nothing where a second is worth nothing."""
    priced = ToolPolicy(name="search", price=Price(money=0.002))
    PrefetchOptions(value_of_second=Price(money=1)).check_prices([priced, ToolPolicy(name="other")])
    with pytest.raises(ConfigurationError, match="in money and value_of_second in calls"):
        PrefetchOptions(value_of_second=Price(calls=5)).check_prices([priced])
    with pytest.raises(ConfigurationError, match="without value_of_second"):
        Prefetcher([priced])


def test_what_a_tool_without_a_price_costs() -> None:
    """One call where seconds are valued in calls, nothing where they are valued in money."""
    tool = ToolPolicy(name="search")
    assert (tool.price_in(Price(calls=5)), tool.price_in(Price(money=5))) == (1.0, 0.0)
