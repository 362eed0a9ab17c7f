"""Actions and query tags written in the text are sealed when they close, wherever the stream is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.intent.reader import IntentSettings
from langgraph_prefetch.values import SealedCall
from tests.intent.readers import cut, sealed

ACTIONS = [
    ("Thought: hm\nAction: Search[Otters]\nObservation", "Search", {"query": "Otters"}),
    ("Action 12: Search[Otters]", "Search", {"query": "Otters"}),
    ("Action: Search[Otters [sea] habitat] and more", "Search", {"query": "Otters [sea] habitat"}),
    ("Action: Search[Otters [sea]\n", "Search", {"query": "Otters [sea"}),
    ("Action: search\nAction Input: Otters", "search", {"query": "Otters"}),
    ('Action: search\nAction Input: "Otters"\nObservation', "search", {"query": "Otters"}),
    ('**Action:** web search\n**Action Input:** {"q": "a}b",\n "k": 3}', "web search", {"q": "a}b", "k": 3}),
    ("<search> Otters </search>", "search", {"query": "Otters"}),
    ("hm a < b <|begin_of_query|>Otters<|end_of_query|>", "search", {"query": "Otters"}),
    ("<think>hm <search>Otters</search></think>", "search", {"query": "Otters"}),
]


@pytest.mark.parametrize(("text", "tool", "arguments"), ACTIONS)
def test_actions(text: str, tool: str, arguments: dict[str, object]) -> None:
    """Each notation gives the call that an agent's own parser reads from it, cut in two anywhere or into characters."""
    expected = [SealedCall(tool=tool, arguments=arguments, textual=True)]
    assert sealed([text]) == expected
    assert sealed(list(text)) == expected
    assert all(sealed(cut(text, [point])) == expected for point in range(len(text)))


@pytest.mark.parametrize(
    "text",
    [
        "Action: Search[Otters",
        "Action: Search[]",
        "The Action: Search[Otters] is typical.",
        "Reaction: Search[Otters]",
        "Action Input: Otters",
        'Action: search\nAction Input: {"query": "Otters"',
        "<search>Otters",
        "<search></search>",
        "<searching>Otters</searching>",
        f"<search>{'long ' * 600}</search>",
    ],
)
def test_what_is_no_action(text: str) -> None:
    """Unclosed, empty, oversized and merely mentioned actions are no calls."""
    assert sealed([text]) == []


@given(
    st.lists(st.sampled_from([*(text for text, _, _ in ACTIONS), "\n", "Action", ": ", "[", "]", "<", "a "])), st.data()
)
def test_cutting_changes_nothing(parts: list[str], data: st.DataObject) -> None:
    """Any mixture of actions and fragments gives the same calls for every way of cutting it."""
    text = "".join(parts)
    points = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert sorted(map(repr, sealed(cut(text, points)))) == sorted(map(repr, sealed([text])))


def test_textual_actions_can_be_switched_off() -> None:
    """``textual=False`` reads no actions from prose."""
    assert sealed("Action: Search[Otters]\n", settings=IntentSettings(textual=False)) == []
