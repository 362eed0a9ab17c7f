"""A model by its name, or a reason in one line."""

import sys

import pytest

from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.evaluation.named_model import in_a_line, named_model


@pytest.mark.parametrize("name", ["nonsense", "nonsense:model"])
def test_a_wrong_model_is_named(name: str) -> None:
    """Whatever LangChain says about it, in one line."""
    with pytest.raises(ConfigurationError, match="cannot make the model") as raised:
        named_model(name)
    assert "\n" not in str(raised.value)


def test_an_error_in_a_line() -> None:
    """Long or empty messages too."""
    assert in_a_line(ValueError("first\n  second")) == "first second"
    assert in_a_line(ValueError()) == "ValueError"
    assert len(in_a_line(ValueError("word " * 200))) <= 240


def test_without_langchain_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a judge's or an agent's fault: one command helps."""
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)
    with pytest.raises(MissingExtraError, match=r"langgraph-prefetch\[langchain\]"):
        named_model("openai:gpt-5-mini")
