"""The gate: what is worth its price, what it learns, and what it can lose at most."""

import random
import threading
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.config import PrefetchOptions, Price, ToolPolicy
from langgraph_prefetch.speculation import experience
from langgraph_prefetch.speculation.experience import Decided, Experience, sealed
from langgraph_prefetch.speculation.gate import MAX_CREDIT, Account, Terms, Verdict, weigh
from langgraph_prefetch.speculation.posterior import DEFAULT_SECONDS, Seen, p_served, seconds_saved, trust

PRICE, SECONDS = 0.2, 0.5
OPTIONS = PrefetchOptions(value_of_second=Price(money=1.0))
TOOL = ToolPolicy(name="search", price=Price(money=PRICE))
RICH = Account(credit=MAX_CREDIT * PRICE)
TERMS = Terms(PRICE, 1.0)
PROBABILITIES = st.floats(0, 1)
GUESSES = st.lists(st.tuples(PROBABILITIES, st.booleans(), st.floats(0, 5), st.sampled_from("ab")), max_size=80)


def seen(*outcomes: bool, probability: float = 0.5) -> Seen:
    found = Seen()
    for right in outcomes:
        found = found.plus(probability, right=right, seconds=SECONDS)
    return found


def decide(gate: Experience, probability: float = 0.5, kind: str = "a", scope: str | None = None) -> Decided:
    return gate.weigh(TOOL, kind, scope, probability, OPTIONS, SECONDS)


def teach(gate: Experience, outcomes: Iterable[bool], probability: float = 0.5, kind: str = "a") -> list[Verdict]:
    """One guess after the other; what the gate said of each."""
    said = []
    for right in outcomes:
        decided = decide(gate, probability, kind)
        said.append(decided.weighing.verdict)
        gate.learn(decided, right=right, seconds=SECONDS)
    return said


@given(PROBABILITIES, st.floats(0.01, 10), st.floats(0.01, 10), st.floats(0.01, 5))
def test_a_start_is_worth_it_above_the_break_even(p: float, price: float, value: float, seconds: float) -> None:
    """P(served) decides against c / (c + v), which is the same as weighing gain against loss."""
    terms = Terms(price, value)
    account = Account(credit=MAX_CREDIT * price)
    found = weigh(p, terms, tool=Seen(), kind=Seen(), account=account, expected_seconds=seconds)
    even = terms.break_even(found.seconds)
    if abs(found.p_served - even) > 1e-9:
        assert found.worth_it == (found.p_served > even)
    assert found.gain == pytest.approx(found.p_served * found.seconds * value)
    assert found.loss == pytest.approx((1 - found.p_served) * price)


def test_without_prices_everything_starts() -> None:
    """A dry run without a value of a second holds nothing back."""
    found = weigh(0.0, None, tool=Seen(), kind=Seen(), account=Account(), expected_seconds=0.0)
    assert (found.verdict, found.gain, found.loss) == (Verdict.START, None, None)


def test_a_free_call_needs_no_credit_and_a_worthless_guess_does_not_start() -> None:
    """A price of nothing lets every guess pass that may save something, and no other."""
    free = Terms(0.0, 1.0)
    assert weigh(0.1, free, tool=Seen(), kind=Seen(), account=Account(), expected_seconds=0.1).verdict is Verdict.START
    worthless = weigh(0.1, free, tool=Seen(), kind=Seen(), account=Account(), expected_seconds=0.0)
    assert worthless.verdict is Verdict.NOT_WORTH_IT
    assert free.break_even(0.0) == 1.0


@given(st.lists(st.booleans(), max_size=60), st.lists(st.booleans(), max_size=60), PROBABILITIES)
def test_what_is_estimated_is_possible(of_tool: list[bool], of_kind: list[bool], p: float) -> None:
    """Probabilities stay in [0, 1] and seconds between the least and the most that were seen or expected."""
    tool, kind = seen(*of_tool), seen(*of_kind)
    assert 0 < trust(tool) <= 1
    assert 0 <= p_served(p, tool, kind) <= 1 + 1e-12
    assert seconds_saved(SECONDS, tool, kind) == pytest.approx(SECONDS)


@pytest.mark.parametrize("truth", [0.05, 0.3, 0.7, 0.95])
def test_it_converges_to_the_truth(truth: float) -> None:
    """Whatever guesses say of themselves, their probability becomes the share that is right."""
    for said in (0.15, 0.5, 0.95):
        draw = random.Random(7)
        gate = Experience()
        last = []
        for _ in range(2_000):
            decided = decide(gate, said)
            last.append(decided.weighing.p_served)
            gate.learn(decided, right=draw.random() < truth, seconds=SECONDS)
        assert sum(last[-500:]) / 500 == pytest.approx(truth, abs=0.05)


def test_it_learns_what_a_right_guess_saves() -> None:
    """Guesses that are right but come too late to save anything are not started for long."""
    gate = Experience()
    for _ in range(60):
        gate.learn(decide(gate), right=True, seconds=0.01)
    weighing = decide(gate, 0.5, "another kind").weighing
    assert weighing.seconds == pytest.approx(0.01, abs=0.06)
    assert weighing.verdict is Verdict.NOT_WORTH_IT


def test_it_stops_and_comes_back_by_watching_alone() -> None:
    """After drift starts stop; guesses that are only watched bring them back, with not one start in between."""
    gate = Experience()
    good = teach(gate, [True] * 40)
    assert good[0] is Verdict.NO_CREDIT
    assert set(good[1:]) == {Verdict.START}
    bad = teach(gate, [False] * 200)
    assert bad.index(Verdict.NO_CREDIT) <= MAX_CREDIT
    assert Verdict.START not in bad[int(MAX_CREDIT) :]
    assert bad[-1] is Verdict.NOT_WORTH_IT
    again = teach(gate, [True] * 100)
    assert again[0] is not Verdict.START
    assert set(again[again.index(Verdict.START) :]) == {Verdict.START}


def test_one_bad_kind_does_not_stop_the_others() -> None:
    """Each kind of guess has a record of its own."""
    gate = Experience()
    for _ in range(60):
        teach(gate, [True], kind="a")
        teach(gate, [False], kind="b")
    assert decide(gate, kind="a").weighing.verdict is Verdict.START
    assert decide(gate, kind="b").weighing.verdict is Verdict.NOT_WORTH_IT


def test_scopes_learn_apart() -> None:
    """What one tenant's guesses cost says nothing of another's."""
    gate = Experience()
    for _ in range(30):
        gate.learn(decide(gate, scope="poor"), right=False)
        gate.learn(decide(gate, scope="rich"), right=True, seconds=SECONDS)
    assert decide(gate, scope="poor").weighing.verdict is Verdict.NOT_WORTH_IT
    assert decide(gate, scope="rich").weighing.verdict is Verdict.START


@given(GUESSES, st.integers(0, 6), st.floats(0.01, 2))
def test_it_never_spends_more_than_was_earned(
    guesses: list[tuple[float, bool, float, str]], lag: int, c: float
) -> None:
    """However unlucky: wrong starts cost no more than right guesses were worth, also where ends come late."""
    gate = Experience()
    policy = ToolPolicy(name="search", price=Price(money=c))
    earned = spent = 0.0
    open_: list[tuple[Decided, bool, float]] = []

    def end() -> None:
        nonlocal earned, spent
        decided, right, seconds = open_.pop(0)
        if right and decided.weighing.worth_it:
            earned += seconds
        elif not right and decided.weighing.verdict is Verdict.START:
            spent += c
        gate.learn(decided, right=right, seconds=seconds)
        assert spent <= earned + 1e-9

    for probability, right, seconds, kind in guesses:
        open_.append((gate.weigh(policy, kind, None, probability, OPTIONS, None), right, seconds))
        if len(open_) > lag:
            end()
    while open_:
        end()


@given(GUESSES)
def test_equal_events_give_equal_decisions(guesses: list[tuple[float, bool, float, str]]) -> None:
    """No chance and no clock: a replay of the same order decides the same."""
    said = []
    for _ in range(2):
        gate = Experience()
        numbers = []
        for probability, right, seconds, kind in guesses:
            decided = decide(gate, probability, kind)
            numbers.append(decided.weighing)
            gate.learn(decided, right=right, seconds=seconds)
        said.append(numbers)
    assert said[0] == said[1]


def test_what_is_dropped_teaches_nothing_and_frees_its_reserve() -> None:
    """A start that did not happen is as if it had never been asked for."""
    gate = Experience()
    teach(gate, [True] * 10)
    before = decide(gate)
    gate.drop(before)
    for _ in range(100):
        gate.drop(decide(gate))
    assert decide(gate).weighing == before.weighing


def test_starts_under_way_are_reserved() -> None:
    """A burst cannot start more than the credit covers if all of it were wrong."""
    gate = Experience()
    teach(gate, [True] * 50)
    burst = [decide(gate).weighing.verdict for _ in range(50)]
    assert burst.count(Verdict.START) == MAX_CREDIT
    assert burst[-1] is Verdict.NO_CREDIT


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of scopes and kinds: the least recently used are forgotten."""
    monkeypatch.setattr(experience, "MAX_KINDS", 8)
    monkeypatch.setattr(experience, "MAX_BOOKS", 4)
    gate = Experience()
    for number in range(100):
        gate.learn(decide(gate, kind=str(number), scope=str(number)), right=True, seconds=SECONDS)
    assert (len(gate._books), len(gate._kinds)) == (4, 8)


def test_threads_lose_no_lesson() -> None:
    """Every end that many threads report at once is counted, and no reserve is left over."""
    gate = Experience()
    teach(gate, [True] * 50)

    def work() -> None:
        for _ in range(200):
            gate.learn(decide(gate), right=True, seconds=SECONDS)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (book,) = gate._books.values()
    assert book.account.under_way == 0
    assert book.seen.count == pytest.approx(sum(0.99**n for n in range(850)))


def test_sealed_calls_pass() -> None:
    """A call whose arguments have closed costs nothing more, so it passes without credit."""
    found = sealed(TOOL, OPTIONS, None)
    assert (found.verdict, found.p_served, found.loss) == (Verdict.START, 1.0, 0.0)
    assert found.gain == DEFAULT_SECONDS
