"""Trust is earned by equal results in a row, lost by one that differs, and not asked for for ever."""

from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.graph.near.trust import MAX_KEYS, NEEDED, Trust


def noted(*equal: bool) -> tuple[Trust, list[str | None]]:
    trust = Trust()
    return trust, [trust.note("key", equal=each) for each in equal]


def test_earned_lost_and_earned_again() -> None:
    trust, changes = noted(*[True] * NEEDED, False)
    assert changes == [None] * (NEEDED - 1) + ["trusted", "lost"]
    assert not trust.holds("key")
    assert not trust.is_closed("key")
    assert [trust.note("key", equal=True) for _ in range(NEEDED)][-1] == "trusted"


def test_given_up_for_good() -> None:
    trust, changes = noted(*[False] * NEEDED)
    assert changes == [None] * (NEEDED - 1) + ["closed"]
    assert trust.is_closed("key")
    assert [trust.note("key", equal=True) for _ in range(5)] == [None] * 5
    assert not trust.holds("key")


@given(st.lists(st.booleans(), max_size=40))
def test_it_holds_only_after_a_row_of_equal_results(results: list[bool]) -> None:
    trust, _ = noted(*results)
    if trust.holds("key"):
        assert results[-NEEDED:] == [True] * NEEDED
    assert not (trust.holds("key") and trust.is_closed("key"))


def test_keys_are_apart_and_bounded() -> None:
    trust = Trust()
    for _ in range(NEEDED):
        trust.note("a", equal=True)
    assert trust.holds("a")
    assert not trust.holds("b")
    for number in range(MAX_KEYS):
        trust.note(number, equal=True)
    assert not trust.holds("a")
