"""One tool's traffic: nothing before enough is known, the bound while it lasts, an end to it when traffic drifts."""

import random
from collections.abc import Callable

import pytest

from langgraph_prefetch.near.binomial import least_trials
from langgraph_prefetch.near.control import MAX_POOL, WARM_UP, Control
from langgraph_prefetch.near.controls import Controls
from langgraph_prefetch.near.settings import NearSettings
from langgraph_prefetch.near.threshold import Checked

SETTINGS = NearSettings(epsilon=0.02, confidence=0.9, audit_share=0.1, false_alarm=0.005)
Risk = Callable[[float], float]


def good(reach: float) -> float:
    return min(0.3, 0.3 * max(0.0, 0.7 - reach) ** 3)


def bad(reach: float) -> float:
    return 0.0 if reach > 1 else 0.15


class Traffic:
    """Calls with a true risk, played to a control as a wrapper would; counts what only the simulation can see."""

    def __init__(self, seed: int, control: Control) -> None:
        self.chance, self.control = random.Random(seed), control
        self.served = self.wrong = self.searched = 0

    def call(self, risk: Risk) -> None:
        reach = self.chance.uniform(-1, 1.3)
        proved = reach > 1
        wrong = not proved and self.chance.random() < risk(reach)
        tier = self.control.serves(reach, proved=proved)
        check = self.control.check(self.chance.random(), tier)
        if tier is not None:
            self.control.count_served(tier)
            self.served += 1
            self.wrong += wrong
        if check == "nothing":
            return
        self.searched += check == "search" and tier is not None
        self.control.learn(Checked(reach, wrong), tier=tier, searched=check == "search")

    def run(self, risk: Risk, calls: int) -> tuple[int, int]:
        """Returns how many of these calls were served, and how many of those wrongly."""
        served, wrong = self.served, self.wrong
        for _ in range(calls):
            self.call(risk)
        return self.served - served, self.wrong - wrong


def test_a_cold_start_serves_nothing_but_what_is_proved() -> None:
    """Not one likely answer before the least sample that could show the bound."""
    control = Control(SETTINGS)
    traffic = Traffic(1, control)
    least = least_trials(SETTINGS.epsilon, SETTINGS.confidence)
    for _ in range(WARM_UP + least):
        assert control.serves(0.99, proved=False) is None
        traffic.call(good)
    assert control.serves(0.2, proved=True) == "proved"
    assert control.figures().state == "learning"
    assert control.figures().needed > least


def test_it_opens_and_the_bound_holds_as_often_as_stated() -> None:
    """Over 60 stationary streams the true rate of what is served is above epsilon in at most one of ten, and chance."""
    broken = opened = share = 0.0
    for seed in range(60):
        control = Control(SETTINGS)
        traffic = Traffic(seed, control)
        traffic.run(good, 1_500)
        served, wrong = traffic.run(good, 1_500)
        opened += control.figures().state == "open"
        share += served / 1_500
        broken += wrong > 0.02 * served + 2.3 * (0.02 * served) ** 0.5  # chance of the count itself: one in a hundred
    assert opened >= 50
    assert share / 60 > 0.4
    assert broken <= 6 + 2 * 2.4


def test_it_closes_when_traffic_drifts_and_opens_again_when_it_is_good_again() -> None:
    """From fifteen times nothing to fifteen of a hundred: an alarm, then no likely answer, then fresh evidence."""
    control = Control(SETTINGS)
    traffic = Traffic(3, control)
    traffic.run(good, 4_000)
    assert control.figures().state == "open"
    served, wrong = traffic.run(bad, 3_000)
    figures = control.figures()
    assert figures.alarms >= 1
    assert figures.state == "closed"
    assert wrong < 60  # a tier that stayed open would have served some three hundred wrong sets
    _, wrong = traffic.run(bad, 2_000)
    assert wrong == 0
    assert traffic.run(bad, 500)[0] > 0  # proved answers go on
    traffic.run(good, 8_000)
    assert control.figures().state == "open"
    assert served > 0


@pytest.mark.parametrize("seed", range(5))
def test_it_tightens_where_the_upper_part_is_still_good(seed: int) -> None:
    """Drift that spoils only low scores ends in a stricter threshold, not in nothing."""

    control = Control(SETTINGS)
    traffic = Traffic(seed, control)
    traffic.run(good, 4_000)
    before = control.figures().threshold
    assert before is not None

    def worse(reach: float) -> float:
        return 0.4 if reach < before + 0.15 else 0.0

    traffic.run(worse, 6_000)
    after = control.figures()
    assert after.threshold is not None
    assert after.threshold > before
    served, wrong = traffic.run(worse, 2_000)
    assert wrong <= 0.03 * served


def test_suspicion_checks_more() -> None:
    """The share of calls that are searched again grows with the evidence, so that a break costs little time."""
    control = Control(SETTINGS)
    traffic = Traffic(8, control)
    traffic.run(good, 4_000)
    assert control.check(0.2, "likely") == "nothing"
    while control.figures().evidence < 3 and control.figures().state == "open":
        control.learn(Checked(0.9, True), tier="likely")
    assert control.check(0.2, "likely") == "search"


def test_a_proved_answer_is_learned_from_without_a_search_and_audited_at_the_stated_share() -> None:
    control = Control(SETTINGS)
    assert control.check(0.05, "proved") == "search"
    assert control.check(0.5, "proved") == "known"
    control.learn(Checked(2.0, False), tier="proved", searched=False)
    assert control.figures().audited == 0


def test_retries_of_one_query_are_no_further_evidence() -> None:
    """A query that was right is not counted twice; one that is wrong always is."""
    control = Control(SETTINGS)
    for _ in range(5_000):
        control.learn(Checked(0.5, False), tier=None, same_as="q")
    assert control.figures().known == 0
    assert control.figures().state == "learning"
    for at in range(WARM_UP):
        control.learn(Checked(0.5, False), tier=None, same_as=at)
    for _ in range(10):
        control.learn(Checked(0.5, True), tier=None, same_as="q")
    assert control.figures().known == 10 + 1  # and one of the others, as the warm-up had one already


def test_the_rate_is_exported_with_its_interval() -> None:
    control = Control(SETTINGS)
    traffic = Traffic(9, control)
    traffic.run(good, 6_000)
    figures = control.figures()
    assert figures.audited == traffic.searched
    assert figures.served == traffic.served >= figures.audited
    assert figures.wrong_set_rate == figures.wrong / figures.audited
    assert figures.interval.low <= figures.interval.high < 0.1


def test_memory_is_bounded() -> None:
    control = Control(NearSettings(epsilon=0.5))
    for at in range(MAX_POOL + 500):
        control.learn(Checked(0.5, at % 2 == 0), tier=None, same_as=at)
    assert control.figures().known <= MAX_POOL


def test_tools_and_scopes_learn_apart_and_the_least_used_is_forgotten() -> None:
    """What one tenant's traffic shows says nothing of another's."""
    controls = Controls(NearSettings(max_states=2))
    for scope in ("a", "b"):
        with controls.of("search", scope) as control:
            control.learn(Checked(0.5, False), tier=None)
            control.count_served("proved")
    with controls.of("search", "a") as control:
        control.count_served("proved")
    with controls.of("web", "a") as control:
        control.count_served("proved")
    assert {name: figures.served for name, figures in controls.figures().items()} == {
        ("search", "a"): 2,
        ("web", "a"): 1,
    }
