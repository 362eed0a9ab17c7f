"""The language of a thought, by what most of it is written in."""

import pytest

from langgraph_prefetch.evaluation.readings.language import UNKNOWN, first_known, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("I need to search Humber Bridge.", "en"),
        ("한강을 검색해 봐야겠다.", "ko"),
        ("信濃川を検索しよう。", "ja"),
        ("我需要搜索长江。", "zh"),
        ("LangGraph의 ToolNode를 검색해 보자.", "ko"),
        ("LangGraphのToolNodeを調べよう。", "ja"),
        ("我来搜索LangGraph ToolNode的信息。", "zh"),
        ("I should search for the name 한강 in the news.", "en"),
        ("Café Société was released in 2016.", "en"),
        ("", UNKNOWN),
        ("1234 – 5678!", UNKNOWN),
        ("Мне нужно найти реку Волгу", UNKNOWN),
        ("Αναζήτηση για Ακρόπολη Wikipedia", UNKNOWN),
    ],
)
def test_the_script_tells(text: str, language: str) -> None:
    """Names in other scripts do not decide, and scripts without cues are nobody's."""
    assert language_of(text) == language


def test_the_first_text_that_tells_counts() -> None:
    """An empty thought is of its question's language."""
    assert first_known(("", "…", "長江有多長？我要知道。")) == "zh"
    assert first_known(()) == UNKNOWN
