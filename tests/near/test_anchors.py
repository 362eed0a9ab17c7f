"""Around which texts is fetched, and when: causal, bounded, and the same however the stream is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langgraph_prefetch.near.anchors import RESERVED, Anchor, AnchorReader
from langgraph_prefetch.near.names import names

QUESTION = "Who directed The Guest (2014 film)?"
THOUGHT = "I need to find the director of The Guest. Adam Wingard made it, I think. I should search Adam Wingard next."


def taken(reader: AnchorReader, thought: str, *, cut: int = 4, guesses: tuple[str, ...] = ()) -> list[Anchor]:
    """Every anchor that is offered, all of them fetched."""
    found: list[Anchor] = []

    def fetch(anchors: object) -> None:
        for anchor in anchors:  # type: ignore[attr-defined]
            reader.fetched()
            found.append(anchor)

    fetch(reader.begin())
    for at in range(0, len(thought), cut):
        fetch(reader.read(thought[at : at + cut]))
    for guess in guesses:
        reader.guessed(guess)
    fetch(reader.finish())
    return found


def test_the_question_comes_first_and_the_end_of_the_thought_has_its_share() -> None:
    found = taken(AnchorReader(QUESTION, 4), THOUGHT, guesses=("Adam Wingard next",))
    assert [each.kind for each in found] == ["question", "thought", "guess", "name"]
    assert found[1].text == THOUGHT
    assert found[3].text == "Adam Wingard"


def test_with_room_it_fetches_while_the_thought_is_written() -> None:
    """Fetches beyond those kept for the end are made at borders of clauses, around what has been said by then."""
    reader = AnchorReader("", RESERVED + 2)
    early: list[Anchor] = []
    for word in ("The Guest is a film", ". ", "Adam Wingard"):
        for anchor in reader.read(word):
            reader.fetched()
            early.append(anchor)
    assert [each.text for each in early] == ["The Guest", "The Guest is a film."]
    assert reader.left == RESERVED


@given(
    thought=st.text(alphabet="abc .,!?\nAB。、「」\"'", max_size=200),
    most=st.integers(0, 9),
    cut=st.integers(1, 7),
)
def test_no_more_than_allowed_and_nothing_twice(thought: str, most: int, cut: int) -> None:
    found = taken(AnchorReader(QUESTION, most), thought, cut=cut)
    assert len(found) <= most
    assert len({each.text for each in found}) == len(found)
    assert all(each.text.strip() for each in found)


def test_anchors_are_made_of_what_was_said_before_them() -> None:
    """Causal: nothing in an anchor stands behind the point at which it was offered."""
    reader = AnchorReader(QUESTION, 20)
    for anchor in reader.begin():
        assert anchor.text == QUESTION
    said = ""
    for piece in THOUGHT.split(" "):
        said += f"{piece} "
        for anchor in reader.read(f"{piece} "):
            assert anchor.text in said


def test_a_question_that_was_an_anchor_is_not_offered_again() -> None:
    assert not list(AnchorReader("", 4).begin())


def test_an_anchor_that_is_not_fetched_costs_nothing() -> None:
    reader = AnchorReader(QUESTION, 1)
    assert len(list(reader.begin())) == 1
    assert reader.left == 1
    assert next(reader.finish(), None) is None  # nothing has been said


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("I need to search Jonny Craig and Pete Doherty.", ("Jonny Craig and Pete Doherty",)),
        ("The Guest (2014 film) was made in 2014.", ("The Guest (2014 film)",)),
        ('She wrote "a room of one\'s own".', ("a room of one's own",)),
        (
            "So the United States of America and Mary-Kate Olsen, then.",
            ("United States of America and Mary-Kate Olsen",),
        ),
        ("we look at École Polytechnique", ("École Polytechnique",)),
        ("《红楼梦》的作者", ("红楼梦",)),
        ("nothing to see here. It was so.", ()),
    ],
)
def test_names_are_found(text: str, wanted: tuple[str, ...]) -> None:
    assert names(text)[-len(wanted) :] == wanted if wanted else names(text) == ()


def test_the_name_said_last_comes_last() -> None:
    assert names("Paris and Rome. Oslo, then Paris and Rome.") == ("Oslo", "Paris and Rome")
