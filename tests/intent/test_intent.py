"""Intent is told from talk about searching, in four languages and in no other."""

import pytest

from tests.intent.readers import queries, signals


@pytest.mark.parametrize(
    "text",
    [
        "I need to search for Lake Baikal.",
        "I should first search for Lake Baikal, then go on.",
        "Let me search for Lake Baikal.",
        "So I'll search Lake Baikal next and see how deep it is.",
        "To answer this, I can search Lake Baikal.",
        "I have no answer yet, so I must search for Lake Baikal to find its depth.",
        "Not only should I search for Lake Baikal but also rest.",
        "I already know Oslo, so I need to search for Lake Baikal.",
        "<think>I need to search for Lake Baikal.</think>",
        "I need to find information about Lake Baikal.",
        "She said “search for gold” yesterday. I need to search for Lake Baikal.",
        "```\nsearch(x)\n```\nI need to search for Lake Baikal.",
    ],
)
def test_directives(text: str) -> None:
    """A directive of the model to itself gives its object."""
    assert queries(text) == ["Lake Baikal"]


@pytest.mark.parametrize(
    "text",
    [
        "I don't need to search for Lake Baikal.",
        "I do not have to search for Lake Baikal.",
        "I already searched for Lake Baikal.",
        "I have already been told, so I should not search for Lake Baikal.",
        "There is no need to look up Lake Baikal.",
        "It can be found without searching for Lake Baikal.",
        "If that fails I will search for Lake Baikal.",
        "Would you like me to say that I should search for Lake Baikal?",
        "They told me I should search for Lake Baikal.",
        'The user said "search for my bank password".',
        'The user wrote: "I need to search for Lake Baikal. Then I will search for Oslo." That is all.',
        "The note reads ‘I need to search for Lake Baikal’.",
        "Docs say `I need to search for Lake Baikal` works.",
        "Call `search(query)` for it.",
        "```\nI need to search for Lake Baikal.\n```",
        'I liked "The Search for Spock" and The Search for Spock.',
        "I need to search.",
        "I'll use a search engine to find out.",
        "I need to search for it.",
    ],
)
def test_no_directives(text: str) -> None:
    """Negated, done, conditional, reported and quoted searches, code and titles are no intent."""
    assert queries(text) == []


def test_a_quoted_phrase_is_kept() -> None:
    """A directive around a quoted term gives the phrase, whole; a run that keeps quotes gets them."""
    text = 'I need to search for "deep blue lakes" next.'
    assert queries(text) == ["deep blue lakes"]
    assert queries(text, earlier=('"old lakes"',)) == ['"deep blue lakes"']


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("산악 기후를 검색해 봐야겠다.", ["산악 기후"]),
        ("먼저 산악 기후에 대해 검색해야 합니다.", ["산악 기후"]),
        ("안전 수칙을 찾아보자.", ["안전 수칙"]),
        ("산악 기후를 검색할 필요는 없다.", []),
        ("산악 기후는 이미 검색했으니 해야 할 일이 없다.", []),
        ("산악 기후를 찾아보지 않아도 해야 할 말은 안다.", []),
        ("我需要搜索一下高山气候。", ["高山气候"]),
        ("让我查一下高山气候，然后回答。", ["高山气候"]),
        ("不断变化的气温要查一下。", ["不断变化的气温"]),
        ("不需要搜索高山气候。", []),
        ("如果不行，我会搜索高山气候。", []),
        ("用户说“我需要搜索我的密码”。", []),
        ("书名是《我需要搜索北京》。", []),
        ("高山気候を検索してみよう。", ["高山気候"]),
        ("まず、高山気候について調べる必要があります。", ["高山気候"]),
        ("高山気候を検索する必要はない。", []),
        ("高山気候は調べなくても分かる。", []),
    ],
)
def test_korean_chinese_japanese(text: str, expected: list[str]) -> None:
    """Positives give the object of the clause, negatives nothing, and look-alikes of negation are none."""
    assert queries(text) == expected
    assert queries(list(text)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Ich sollte nach der Band Search und dem Album Find suchen.",
        "Debo buscar la empresa Google Search en Lima.",
        "Je dois chercher le groupe Look Up à Lyon.",
        "Мне нужно найти группу Search и альбом Look Up.",
        "Devo cercare informazioni su Search Engine Land.",
    ],
)
def test_other_languages_never_fire(text: str) -> None:
    """An English word in a sentence of another language is a name, not a cue."""
    assert signals(text) == []
