"""From evidence to a verdict: one row for each thing that may be said."""

import dataclasses

import pytest

from langgraph_prefetch.evaluation.advice.advise import ASSUMED_PRICES
from langgraph_prefetch.evaluation.advice.decide import decide
from langgraph_prefetch.evaluation.advice.figures import ModeFigures, Prices
from langgraph_prefetch.evaluation.advice.values import (
    AS_IT_RAN,
    BOUNDED,
    REASONING,
    REUSE,
    SEALED,
    VERIFIED,
    Evidence,
    Verdict,
)
from tests.evaluation.advice.made import evidence, mode

NOTHING = (mode(SEALED, 0.02), mode(REASONING, 0.02, extra=0.1, gain=-0.02, give=0.005))
CASES: dict[str, tuple[Evidence, Verdict, str]] = {
    "readable early": (evidence(), Verdict.RECOMMENDED, "exact, with reasoning hides 0.30 s a call of 0.50 s, 10% of"),
    "sealed is enough": (
        evidence(mode(SEALED, 0.48), mode(REASONING, 0.481, extra=0.1, gain=-0.02)),
        Verdict.RECOMMENDED,
        "sealed calls hide nearly all",
    ),
    "a fast search": (evidence(seconds=0.0005), Verdict.NOT_WORTH_IT, "a call takes 0.5 ms: there is nothing to hide"),
    "never readable": (evidence(*NOTHING, early=0.02), Verdict.NOT_WORTH_IT, "nobody can guess a query that stands"),
    "costs more than it is worth": (
        evidence(mode(SEALED, 0.02), mode(REASONING, 0.3, extra=2.0, gain=-0.12)),
        Verdict.NOT_WORTH_IT,
        "guesses from reasoning cost more than they hide here: guess=False",
    ),
    "a price that eats it up": (
        evidence(mode(SEALED, 0.3, extra=2.0), mode(REASONING, 0.3, extra=2.0, gain=0.0)),
        Verdict.NOT_WORTH_IT,
        "but its 200 extra calls for each 100 cost more than that is worth",
    ),
    "too few calls": (evidence(calls=19), Verdict.TOO_LITTLE_DATA, "19 calls in 50 runs: it takes 20 calls in 5 runs"),
    "one run": (evidence(runs=1), Verdict.TOO_LITTLE_DATA, "100 calls in 1 run:"),
    "too wide an interval": (
        evidence(mode(SEALED, 0.02), mode(REASONING, 0.06, gain=0.04, give=0.03)),
        Verdict.TOO_LITTLE_DATA,
        "takes more runs to say",
    ),
    "a part of nothing": (evidence(run_seconds=60.0), Verdict.NOT_WORTH_IT, "0.5% of the agent's time"),
    "its name acts": (
        evidence(name="send_email", suspicion="acts"),
        Verdict.CANNOT_TELL,
        "its name says that it does something",
    ),
    "its name acts, by the user's word it reads": (
        evidence(name="send_email", suspicion="acts", named=True),
        Verdict.RECOMMENDED,
        "hides",
    ),
    "its name says nothing": (
        evidence(name="settle", suspicion="unknown"),
        Verdict.CANNOT_TELL,
        "--tool settle",
    ),
    "its name says nothing, and it would not help": (
        evidence(*NOTHING, name="settle", suspicion="unknown"),
        Verdict.NOT_WORTH_IT,
        "less than a token or two",
    ),
    "nothing shows the query": (evidence(mode(SEALED, 0.3)), Verdict.RECOMMENDED, "do not show which argument"),
    "too many tools": (
        dataclasses.replace(evidence(name="lookup"), modes={}),
        Verdict.CANNOT_TELL,
        "name it with --tool lookup",
    ),
    "it ran and helped": (evidence(mode(AS_IT_RAN, 0.3)), Verdict.RECOMMENDED, "leave it on as it is"),
    "it ran and cost": (
        evidence(mode(AS_IT_RAN, 0.1, extra=2.0)),
        Verdict.NOT_WORTH_IT,
        "its extra calls cost more than that is worth",
    ),
    "it ran, and who knows": (evidence(mode(AS_IT_RAN, 0.01, give=0.02)), Verdict.TOO_LITTLE_DATA, "takes more runs"),
}


@pytest.mark.parametrize("case", CASES)
def test_verdicts(case: str) -> None:
    """The verdict, and its reason in words."""
    given, verdict, reason = CASES[case]
    found = decide(given, ASSUMED_PRICES)
    assert found.verdict is verdict
    assert reason in " | ".join(found.reasons)


def test_guesses_are_advised_only_where_they_surely_pay() -> None:
    """An interval that holds zero is no reason to make wrong calls."""
    assert decide(evidence(), ASSUMED_PRICES).guess
    unsure = evidence(mode(SEALED, 0.3), mode(REASONING, 0.31, extra=0.02, gain=0.005))
    found = decide(unsure, ASSUMED_PRICES)
    assert (found.verdict, found.guess) == (Verdict.RECOMMENDED, False)


def test_what_guesses_add_is_told_in_the_unit_of_the_prices() -> None:
    """Seconds of waiting where prices are assumed, money where they were given."""
    assert "add 0.24 s a call net" in " | ".join(decide(evidence(), ASSUMED_PRICES).reasons)
    in_money = decide(evidence(), Prices(call=0.2, second=1.0, unit="USD"))
    assert "add 0.24000 USD a call net" in " | ".join(in_money.reasons)


@pytest.mark.parametrize(("share", "gain", "reuse"), [(0.2, 0.05, True), (0.2, -0.05, False), (0.02, 0.05, False)])
def test_reuse_is_told_where_it_is_used(share: float, gain: float, *, reuse: bool) -> None:
    """It needs to bring something, and to one call in twenty."""
    again = dataclasses.replace(mode(REUSE, 0.35, gain=gain), sources={"reuse": share})
    modes = (mode(SEALED, 0.02), mode(REASONING, 0.3, extra=0.2, gain=0.24), again)
    assert decide(evidence(*modes), ASSUMED_PRICES).reuse is reuse


def test_what_would_hide_more_is_told() -> None:
    """Verified serving, or near misses, where they hide more than a token or two above the best exact mode."""
    more = decide(evidence(*NOTHING, mode(VERIFIED, 0.4)), ASSUMED_PRICES)
    assert more.verdict is Verdict.NOT_WORTH_IT
    assert more.more == (VERIFIED,)
    assert "verified would bring more" in " | ".join(more.reasons)
    assert decide(evidence(*NOTHING, mode(VERIFIED, 0.05)), ASSUMED_PRICES).more == ()
    unmeasured = ModeFigures(mode=BOUNDED, why_not="needs a corpus")
    found = decide(evidence(*NOTHING, unmeasured), ASSUMED_PRICES)
    assert "near misses may still help" in " | ".join(found.reasons)
