"""The guessed query is the string that the search will ask, early, ranked, and within a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.intent.reader import IntentContext, IntentReader, IntentSettings
from langgraph_prefetch.values import Guess, TextDelta
from tests.intent.readers import cut, queries, signals, tokens


@pytest.mark.parametrize(
    ("clause", "query"),
    [
        ("the Blue Lagoon and see if it is warm.", "Blue Lagoon"),
        ("The Blue Lagoon and find who directed it.", "The Blue Lagoon"),
        ("Ada Lovelace, find her tutor, then find his wife.", "Ada Lovelace"),
        ("Ada Lovelace to check her age.", "Ada Lovelace"),
        ("Ada Lovelace instead.", "Ada Lovelace"),
        ("Ada Lovelace because she came first.", "Ada Lovelace"),
        ("J. R. Oppenheimer and see.", "J. R. Oppenheimer"),
        ("St. Mary Mead and find it.", "St. Mary Mead"),
        ("Acme Co. to verify its seat.", "Acme Co."),
        ("Road to Nowhere and see who sang it.", "Road to Nowhere"),
        ("Dune: Part Two and see who made it.", "Dune: Part Two"),
        ("Salem, Oregon and find its river.", "Salem, Oregon"),
        ("Drift (film, not play) and see who made it.", "Drift (film, not play)"),
        ("Sand and Foam (book) and find its author.", "Sand and Foam (book)"),
        ("the film Drift and see who made it.", "Drift"),
        ("Robin vs. Marian and see who won.", "Robin vs. Marian"),
        ("information about Ada Lovelace.", "Ada Lovelace"),
        ("Ada Lovelace on Wikipedia.", "Ada Lovelace"),
        ("a poet such as Ada Lovelace.", "Ada Lovelace"),
    ],
)
def test_the_clause_is_cut_where_the_query_ends(clause: str, query: str) -> None:
    """Follow-up clauses, adverbs, lead words, articles and kinds are no part of the query; what a name holds is."""
    assert queries(f"I need to search for {clause}")[:1] == [query]


def emitted_at(text: str, query: str) -> int:
    """How many tokens had been read when ``query`` was guessed."""
    reader = IntentReader(IntentSettings(), IntentContext())
    for count, token in enumerate(tokens(text), 1):
        if any(isinstance(each, Guess) and each.query == query for each in reader.feed(TextDelta(token))):
            return count
    raise AssertionError(f"{query} was not guessed before the end")


def test_the_place_searched_is_no_part_of_the_query() -> None:
    """ "search Wikipedia for X" asks for X."""
    for place in ("Wikipedia", "the web", "online", "Google"):
        assert queries(f"I need to search {place} for Lake Baikal.") == ["Lake Baikal"]


@pytest.mark.parametrize(
    "tail",
    [" and find out how deep it is", " to see how deep it is", ", then compare", ". Then I go on", " next and see it"],
)
def test_guesses_come_early(tail: str) -> None:
    """A query is guessed within three tokens of its end, long before the clause or the message ends."""
    head = "I need to search Lake Baikal"
    assert emitted_at(f"{head}{tail} with all its bays and islands", "Lake Baikal") <= len(tokens(head)) + 3


def test_the_end_releases_the_last_query() -> None:
    """What stands at the very end is guessed when the message ends."""
    assert queries("I need to search Lake Baikal") == ["Lake Baikal"]


@given(st.data())
def test_cutting_changes_nothing(data: st.DataObject) -> None:
    """The same guesses come for every way of cutting the text."""
    parts = [
        "I need to search ",
        "Lake Baikal",
        " and ",
        "Oslo",
        ", ",
        "find it",
        ". ",
        '"',
        "the film ",
        "\n",
        "`",
        "次",
    ]
    text = "".join(data.draw(st.lists(st.sampled_from(parts), max_size=12)))
    points = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    assert sorted(queries(cut(text, points))) == sorted(queries([text]))


def test_several_queries_in_one_thought() -> None:
    """Each of several things is its own query, never joined, in the order of the text."""
    assert queries("I need to search for Oslo, Bergen and Tromsø.") == ["Oslo", "Bergen", "Tromsø"]
    assert queries("I need to search Ada Lovelace and Mary Somerville, find their ages.") == [
        "Ada Lovelace",
        "Mary Somerville",
    ]


def test_a_pair_that_may_be_one_name_is_tried_whole() -> None:
    """Of "X and Y" that may be one title, the whole is among the guesses."""
    assert "Dust and Ashes" in queries("I need to search Dust and Ashes, find who sang it.")


def test_the_budget_holds() -> None:
    """No more than ``max_guesses`` are made, and the same query is guessed once."""
    text = (
        "I need to search Oslo. I need to search Oslo. I should search Bergen. I will search Turku. I must search Riga."
    )
    assert queries(text) == ["Oslo", "Bergen", "Turku"]
    assert queries(text, settings=IntentSettings(max_guesses=1)) == ["Oslo"]
    assert queries(text, settings=IntentSettings(max_guesses=0)) == []
    assert queries(text, settings=IntentSettings(reasoning=False)) == []


def probabilities(text: str, **context: object) -> dict[str, float]:
    return {each.query: each.probability for each in signals(text, **context) if isinstance(each, Guess)}  # type: ignore[arg-type]


def test_names_are_likelier_than_phrases() -> None:
    """The probability tells an entity from free text, of which the exact words are not to be guessed."""
    name = probabilities("I need to search for Lake Baikal.")["Lake Baikal"]
    phrase = probabilities("I need to search for the deepest lake of Asia by far.")
    assert name > 0.7
    assert all(value < 0.3 for value in phrase.values())


def test_a_description_is_no_query() -> None:
    """ "the lake that …" goes on describing; its head alone is not what will be asked."""
    assert queries("I need to search for the lake that holds the most water of all.") == []


def test_min_probability() -> None:
    """Guesses below ``min_probability`` are not made."""
    text = "I need to search for Lake Baikal."
    assert queries(text, settings=IntentSettings(min_probability=0.99)) == []


def test_look_up_means_a_search_unless_the_agent_has_a_tool_for_it() -> None:
    """Agents with a look-up tool for the open page mean that tool; known tools without one make it a search."""
    text = "I should look up Lake Baikal and see how deep it is."
    assert queries(text) == []
    assert queries(text, tools=("search", "lookup")) == []
    assert queries(text, tools=("search",)) == ["Lake Baikal"]


def test_it_stands_for_the_name_before() -> None:
    """ "search for it" takes the name that has just been mentioned, at a lower probability and as its own cue."""
    guesses = list(signals("The answer is in Lake Baikal (book), so I will search it."))
    assert [(each.query, each.cue) for each in guesses if isinstance(each, Guess)] == [("Lake Baikal (book)", "name")]


def test_a_vague_object_may_stand_for_the_last_query() -> None:
    """Where the thought names nothing, a run that asks for names may ask its last query again."""
    found = signals("I need to search these results again.", earlier=("Lake Baikal",))
    assert [(each.query, each.cue) for each in found if isinstance(each, Guess)] == [("Lake Baikal", "history")]


@pytest.mark.parametrize(
    "copied",
    [
        "http://evil.example/?k=SECRET",
        "www.evil.example",
        "Evil evil.com/collect",
        "Ada ada@example.org",
        "AKIA" + "ABCDEFGH12345678",
        "Password=hunter2",
        "A" * 250,
        "Lake\x00Baikal",
        "Lake " * 60,
    ],
)
def test_what_must_not_leave(copied: str) -> None:
    """Addresses, what looks like a secret, and long texts are never guessed, whoever put them into the thought."""
    assert queries(f"I must search for {copied} now.") == []


def test_offsets_count_the_message() -> None:
    """``end`` is where the query ends in the message's text."""
    text = "Well. Here it is. I need to search Lake Baikal and see."
    (guess,) = [each for each in signals(text) if isinstance(each, Guess)]
    assert text[: guess.end].endswith("Lake Baikal")
    assert guess.cue == "en.need_to"


def test_interleaved_readers_do_not_mix() -> None:
    """Two messages read in turns give each its own query."""
    texts = ["I need to search Lake Baikal and see.", "I have to search Mount Elbrus and see."]
    readers = [IntentReader(IntentSettings(), IntentContext()) for _ in texts]
    found: list[list[str]] = [[], []]
    for pair in zip(*map(tokens, texts), strict=True):
        for own, reader, token in zip(found, readers, pair, strict=True):
            own.extend(each.query for each in reader.feed(TextDelta(token)) if isinstance(each, Guess))
    assert found == [["Lake Baikal"], ["Mount Elbrus"]]
