"""An owned model is the model itself in all that anybody can see, but for where its calls pass."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, FakeListChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import ConfigurableField
from pydantic import BaseModel, PrivateAttr

from langgraph_prefetch import ConfigurationError, Prefetcher
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn, UnstreamedScriptedChatModel


def prefetcher() -> Prefetcher:
    return Prefetcher(["search"], serve="verified")


def scripted(**settings: Any) -> ScriptedChatModel:
    return ScriptedChatModel(script=[Turn(text="Hello there")], **settings)


def test_class_name_and_profile() -> None:
    """It is one of its class, of the same name, profile, settings and serialised form."""
    model = scripted(profile={"max_input_tokens": 8}, reasoning_as="bedrock")
    ours = prefetcher().model(model)
    assert isinstance(ours, ScriptedChatModel)
    assert type(ours) is not ScriptedChatModel
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        assert getattr(type(ours), name) == getattr(ScriptedChatModel, name)
    assert (ours.profile, ours.reasoning_as, ours.get_name()) == ({"max_input_tokens": 8}, "bedrock", model.get_name())
    assert ours._llm_type == model._llm_type
    assert ours._identifying_params == model._identifying_params
    assert ours._get_ls_params() == model._get_ls_params()
    assert ours.model_dump() == model.model_dump()
    assert repr(ours) == repr(model)
    assert {**dumpd(ours), "repr": ""} == {**dumpd(model), "repr": ""}


def test_it_shares_the_models_state() -> None:
    """A model that counts in itself counts on, and a setting changed later is changed in both."""
    model = FakeListChatModel(responses=["one", "two", "three"])
    ours = prefetcher().model(model)
    assert [ours.invoke("q").content, model.invoke("q").content, ours.invoke("q").content] == ["one", "two", "three"]
    model.responses = ["four"]
    assert ours.responses == ["four"]


class Counting(ScriptedChatModel):
    _count: int = PrivateAttr(default=0)

    def count(self) -> int:
        self._count += 1
        return self._count


def test_private_attributes_are_shared() -> None:
    """Those too."""
    model = Counting(script=())
    ours = prefetcher().model(model)
    assert [ours.count(), model.count(), ours.count()] == [1, 2, 3]


def test_twice_is_once() -> None:
    """An owned model is handed back as it is; one of another prefetcher is refused."""
    one = prefetcher()
    ours = one.model(scripted())
    assert one.model(ours) is ours
    assert type(one.model(scripted())) is type(ours)
    with pytest.raises(ConfigurationError, match="belongs to another prefetcher"):
        prefetcher().model(ours)


def test_under_exact_it_is_the_model() -> None:
    """Nothing is owned that need not be."""
    model = scripted()
    assert Prefetcher(["search"]).model(model) is model


@pytest.mark.parametrize("wrong", [scripted().bind(stop=["."]), scripted().with_retry(), "gpt", None])
def test_what_is_no_chat_model(wrong: Any) -> None:
    """The error says what to hand over instead."""
    with pytest.raises(ConfigurationError, match="hand it the model itself"):
        prefetcher().model(wrong)


def test_copies_are_owned_and_pickles_refused() -> None:
    """A copy passes by the same prefetcher; a pickle would reach a process that has none."""
    ours = prefetcher().model(scripted())
    for copied in (copy.copy(ours), copy.deepcopy(ours), ours.model_copy(update={"argument_pieces": 7})):
        assert type(copied) is type(ours)
    with pytest.raises(TypeError, match="hand on the model it was made of"):
        pickle.dumps(ours)


class City(BaseModel):
    """A city."""

    name: str


class Structured(ScriptedChatModel):
    def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
        return self.bind_tools([schema]) | (lambda message: message.content)


def test_what_is_made_of_it_works() -> None:
    """Bound, retried, configured, with fallbacks or structured: each calls the model as the plain one does."""
    model, ours = scripted(), prefetcher().model(scripted())
    ways: tuple[Callable[[ScriptedChatModel], Any], ...] = (
        lambda each: each.bind_tools([City]),
        lambda each: each.with_retry(),
        lambda each: each.with_fallbacks([scripted()]),
        lambda each: each.with_config(tags=["mine"]),
        lambda each: each.configurable_fields(argument_pieces=ConfigurableField(id="pieces")),
    )
    for made in ways:
        assert made(ours).invoke("q").content == made(model).invoke("q").content == "Hello there"
    structured = prefetcher().model(Structured(script=[Turn(text="Hello there")]))
    assert structured.with_structured_output(City).invoke("q") == "Hello there"
    assert type(ours.bind_tools([City]).bound) is type(ours)  # type: ignore[attr-defined]


PLAIN = (scripted(), UnstreamedScriptedChatModel(script=[Turn(text="Hello there")]))


@pytest.mark.parametrize("plain", PLAIN)
def test_every_way_of_calling(plain: BaseChatModel) -> None:
    """Whole, streamed and batched."""
    ours = prefetcher().model(plain)
    assert ours.invoke("q").content == plain.invoke("q").content
    assert [each.content for each in ours.stream("q")] == [each.content for each in plain.stream("q")]
    assert [each.content for each in ours.batch(["q", "q"])] == ["Hello there", "Hello there"]


async def test_every_way_of_awaiting() -> None:
    """Whole, streamed, and as events."""
    for plain in PLAIN:
        ours = prefetcher().model(plain)
        assert (await ours.ainvoke("q")).content == (await plain.ainvoke("q")).content
        assert [each.content async for each in ours.astream("q")] == [each.content async for each in plain.astream("q")]
        events = [event["event"] async for event in ours.astream_events("q", version="v2")]
        assert events == [event["event"] async for event in plain.astream_events("q", version="v2")]


class Old(BaseChatModel):
    """A model of the old kind: it takes no run manager, and calls its own stream to make a message."""

    @property
    def _llm_type(self) -> str:
        return "old"

    def _generate(self, messages: list[BaseMessage], stop: list[str] | None = None, **kwargs: Any) -> ChatResult:  # type: ignore[override]
        assert "run_manager" not in kwargs
        return ChatResult(generations=[ChatGeneration(message=AIMessage("old"))])


class Nested(ScriptedChatModel):
    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        last = list(self._stream(messages, stop, run_manager, **kwargs))[-1]
        return ChatResult(generations=[ChatGeneration(message=last.message)])


def test_unusual_models() -> None:
    """One without a run manager, one that streams to itself, and one whose messages are used up."""
    assert prefetcher().model(Old()).invoke("q").content == "old"
    nested = Nested(script=[Turn(text="Hello there")])
    assert prefetcher().model(nested).invoke("q").response_metadata["model_name"] == "scripted"
    used_up = GenericFakeChatModel(messages=iter([AIMessage("a b"), AIMessage("c")]))
    ours = prefetcher().model(used_up)
    assert "".join(str(each.content) for each in ours.stream("q")) == "a b"
    assert ours.invoke([HumanMessage("q")]).content == "c"
