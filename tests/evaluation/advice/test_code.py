"""The code to paste is code: it compiles, it runs on an agent, and does there what was predicted."""

import dataclasses
import random
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.load import dumpd
from langchain_core.tools import tool

from langgraph_prefetch import PrefetchMiddleware
from langgraph_prefetch.evaluation.advice.advise import ASSUMED_PRICES, AdviceSettings, advise
from langgraph_prefetch.evaluation.advice.code import verified_code, wrapping_code
from langgraph_prefetch.evaluation.advice.decide import decide
from langgraph_prefetch.evaluation.advice.figures import Prices
from langgraph_prefetch.evaluation.advice.values import Advice, Advised, Verdict
from langgraph_prefetch.evaluation.importers.read import read_trace
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn, script_by_question
from langgraph_prefetch.testing.tools import CountingSearch
from tests.evaluation.advice.made import evidence
from tests.evaluation.importers.recorded import write_lines

PEOPLE = ("Ada Lovelace", "Charles Babbage", "Grace Hopper", "Alan Turing", "Konrad Zuse", "Emmy Noether")


def script(chance: random.Random, readable: float) -> list[Turn]:
    """A run of one to three searches, whose queries stand in the thought now and then."""
    turns = []
    for number in range(chance.randint(1, 3)):
        who = f"{chance.choice(PEOPLE)}"
        said = chance.random() < readable
        thought = (
            f"I need to search {who}, and find out which machine the first program was written for, and when. "
            if said
            else "That is not clear yet, and what was said so far does not tell what I have to know about it. "
        )
        query = who if said else f"notes on machine number {number} of {chance.randint(0, 10**6)}"
        turns.append(Turn(thought, calls=[Call("search", {"query": query})]))
    turns.append(Turn("Now it can be told. ", calls=[Call("send_mail", {"text": "It is known."})]))
    return [*turns, Turn(text="It was written for the Analytical Engine.")]


@tool
def send_mail(text: str) -> str:
    """Send."""
    return "sent"


def agent_of(scripts: dict[str, list[Turn]], counted: CountingSearch, **options: Any) -> Any:
    model = ScriptedChatModel(script=script_by_question(scripts))
    return create_agent(model, [counted.tool, send_mail], **options)


def recorded(scripts: dict[str, list[Turn]], path: Path) -> Path:
    """What a checkpointer would keep of all runs."""
    agent = agent_of(scripts, CountingSearch(style="both"))
    threads = []
    for question in scripts:
        messages = agent.invoke({"messages": [("user", question)]})["messages"]
        threads.append({"messages": [dumpd(each) for each in messages]})
    return write_lines(path, threads)


def advised(path: Path, **settings: Any) -> Advised:
    return advise([read_trace(path)], AdviceSettings(**settings))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Advised:
    chance = random.Random(5)
    scripts = {f"Question {number}?": script(chance, 0.6) for number in range(40)}
    return advised(recorded(scripts, tmp_path_factory.mktemp("known") / "threads.jsonl"))


def test_the_code_does_what_was_predicted(known: Advised) -> None:
    """Advice from forty runs; the code it gives wraps an agent that is asked forty other questions."""
    by_tool = {each.tool: each for each in known.advice}
    assert by_tool["search"].verdict is Verdict.RECOMMENDED
    assert by_tool["search"].guess
    assert by_tool["send_mail"].verdict is Verdict.CANNOT_TELL
    chance = random.Random(6)
    scripts = {f"Another question {number}?": script(chance, 0.6) for number in range(40)}
    counted = CountingSearch(style="both", seconds=0.002)
    names: dict[str, Any] = {"agent": agent_of(scripts, counted)}
    exec(compile(known.code, "settings.py", "exec"), names)
    for question in scripts:
        names["agent"].invoke({"messages": [("user", question)]}, {"configurable": {}})
    report = names["agent"].prefetch.report()
    predicted = known.pasted["search"]
    assert predicted.coverage.interval is not None
    assert predicted.coverage.interval.low <= report.coverage <= predicted.coverage.interval.high
    assert predicted.guessed.interval is not None
    share = report.served_reasoning / report.search_calls
    assert predicted.guessed.interval.low <= share <= predicted.guessed.interval.high
    assert report.served_reasoning > 10
    assert predicted.extra.interval is not None
    extra = report.amplification - 1
    assert predicted.extra.interval.low - 0.05 <= extra <= predicted.extra.interval.high + 0.05


def test_the_same_runs_give_the_same_shares(tmp_path: Path) -> None:
    """Asked the very questions that were traced, the wrapped agent does exactly what was predicted."""
    chance = random.Random(8)
    scripts = {f"Question {number}?": script(chance, 0.5) for number in range(20)}
    found = advised(recorded(scripts, tmp_path / "threads.jsonl"))
    counted = CountingSearch(style="both", seconds=0.002)
    names: dict[str, Any] = {"agent": agent_of(scripts, counted)}
    exec(compile(found.code, "settings.py", "exec"), names)
    for question in scripts:
        names["agent"].invoke({"messages": [("user", question)]})
    report, predicted = names["agent"].prefetch.report(), found.pasted["search"]
    assert report.search_calls == predicted.calls
    assert report.coverage == pytest.approx(predicted.coverage.value)
    assert report.served_reasoning / report.search_calls == pytest.approx(predicted.guessed.value)


def given(**fields: Any) -> Advice:
    return decide(evidence(**fields), ASSUMED_PRICES)


def run_code(code: str, names: dict[str, Any]) -> dict[str, Any]:
    exec(compile(code, "settings.py", "exec"), names)
    return names


def test_nothing_recommended_is_no_code() -> None:
    """An empty string, not an empty list of tools."""
    assert wrapping_code([given(calls=3)], ASSUMED_PRICES, 300) == ""
    assert verified_code([given()], ASSUMED_PRICES) == ""


def test_code_with_prices_and_an_argument() -> None:
    """Prices start the gate; where calls have several arguments, the code says which one is the query."""
    advice = given()
    facts = dataclasses.replace(advice.evidence.facts, arguments=("k", "query"), fixed={"k": 5})
    advice = dataclasses.replace(advice, evidence=dataclasses.replace(advice.evidence, facts=facts), reuse=True)
    code = wrapping_code([advice], Prices(call=0.005, second=0.02, unit="USD"), 300)
    assert 'query_argument="query", fixed_arguments={"k": 5}' in code
    assert "value_of_second=Price(money=0.02)" in code
    assert "# reuse_seconds=300," in code
    names = run_code(code, {"agent": agent_of({}, CountingSearch())})
    (policy,) = names["agent"].prefetch.policies.values()
    assert (policy.query_argument, dict(policy.fixed_arguments), policy.price.amount) == ("query", {"k": 5}, 0.005)


def test_the_tool_that_gains_most_by_guesses_stands_first() -> None:
    """Guesses are for the first; the others start from closed arguments."""
    little = given(name="lookup", calls=100)
    few = {name: dataclasses.replace(each, calls=20) for name, each in little.evidence.modes.items()}
    little = dataclasses.replace(little, evidence=dataclasses.replace(little.evidence, modes=few))
    code = wrapping_code([little, given()], ASSUMED_PRICES, 300)
    assert code.index('name="search")') < code.index('name="lookup", guess=False)')


def test_the_verified_code_makes_a_middleware() -> None:
    """It runs in an agent that it was handed to."""
    from langgraph_prefetch.evaluation.advice.values import VERIFIED
    from tests.evaluation.advice.made import mode

    advice = dataclasses.replace(given(), more=(VERIFIED,))
    assert mode(VERIFIED, 0.4).mode == VERIFIED
    names = run_code(verified_code([advice], Prices(call=0.005, second=0.02, unit="USD")), {})
    assert isinstance(names["early"], PrefetchMiddleware)
    scripts = {"Q?": script(random.Random(1), 1.0)}
    agent = agent_of(scripts, CountingSearch(style="both"), middleware=[names["early"]])
    agent.invoke({"messages": [("user", "Q?")]})
    assert names["early"].prefetch.report().search_calls >= 1
