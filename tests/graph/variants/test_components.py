"""Two retrievers, tools, models or prompts inside one graph."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, create_retriever_tool, tool

from langgraph_prefetch import ConfigurationError, Prefetcher, Variants, prefetcher_of, with_prefetch
from langgraph_prefetch.events import SearchCallAnswered, VariantAssigned
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn
from tests.graph.cases.rigs import DONE, GO, KINDS, calls, created, model, of_kind, thinks, tool_texts, watch
from tests.graph.variants.rigs import keys_of, of_user, telling, two_tools


class Telling(BaseRetriever):
    """Says which it is."""

    variant: str

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [Document(f"{query} by {self.variant}")]


def retrievers(name: str) -> Variants[BaseRetriever]:
    return Variants(name=name, variants={each: Telling(variant=each) for each in ("a", "b")}, key="user")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("style", ["sync", "async"])
async def test_a_tool_is_one_of_its_variants(kind: str, style: str) -> None:
    """Every kind of agent, either way: the run's own variant answers, early as well, and the events say which."""
    variants, searches = two_tools(f"tool {kind} {style}")
    wrapped = with_prefetch(KINDS[kind](model(thinks("alpha"), DONE), [variants.tool()]), ["search"])
    events = watch(wrapped)
    for variant in ("a", "b"):
        (user,) = keys_of(variants.experiment, variant, 1)
        config = of_user(user)
        said = (
            await wrapped.ainvoke(GO, config)
            if style == "async"
            else await asyncio.to_thread(wrapped.invoke, GO, config)
        )
        assert tool_texts(said) == [f"alpha by {variant}"]
        assert len(searches[variant]) == 1
    given = [each.variant for each in of_kind(events, VariantAssigned) if each.experiment == variants.experiment.name]
    assert given == ["a", "b"]
    assert all(each.source is not None for each in of_kind(events, SearchCallAnswered))


async def test_an_async_only_tool_may_be_a_variant() -> None:
    """Such tools raise when invoked; early, too, they are awaited."""
    searches = {each: telling(each, style="async") for each in ("a", "b")}
    variants = Variants(name="async", variants={n: s.tool for n, s in searches.items()}, key="user")
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [variants.tool()]), ["search"])
    (user,) = keys_of(variants.experiment, "b", 1)
    assert tool_texts(await wrapped.ainvoke(GO, of_user(user))) == ["alpha by b"]
    assert prefetcher_of(wrapped).report().served == 1


def test_a_retriever_by_hand_and_inside_a_tool() -> None:
    """A retriever is chosen wherever it is called: by code, or by a tool that knows nothing of variants."""
    variants = retrievers("retriever")
    (user,) = keys_of(variants.experiment, "b", 1)
    assert variants.retriever().invoke("alpha", of_user(user))[0].page_content == "alpha by b"

    prefetch = Prefetcher(["docs"])
    early = prefetch.retriever(variants.retriever(), name="docs")
    with prefetch.run({"user": user}):
        assert early.invoke("beta", of_user(user))[0].page_content == "beta by b"

    search = create_retriever_tool(variants.retriever(), "search", "Search for passages.")
    wrapped = with_prefetch(created(model(thinks("gamma"), DONE), [search]), ["search"])
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["gamma by b"]
    assert prefetcher_of(wrapped).report().served == 1


async def test_a_model_is_one_of_its_variants() -> None:
    """The model of a run thinks, with the agent's tools bound to it, streams, and its run says which variant it is."""
    turns: dict[str, Sequence[Turn]] = {each: (thinks(each), Turn(text=f"said by {each}")) for each in ("a", "b")}
    models: dict[str, BaseChatModel] = {each: model(*script) for each, script in turns.items()}
    variants = Variants(name="model", variants=models, key="user")
    wrapped = with_prefetch(created(variants.model(), [telling("x").tool]), ["search"])
    heard = Metadata()
    for variant in ("a", "b"):
        (user,) = keys_of(variants.experiment, variant, 1)
        parts = [
            part.text
            async for part, _ in wrapped.astream(GO, {**of_user(user), "callbacks": [heard]}, stream_mode="messages")
        ]
        assert f"said by {variant}" in "".join(parts)
        assert heard.variants["langgraph_prefetch.variant.model"] == variant
    assert prefetcher_of(wrapped).report().served == 2


def test_a_model_alone() -> None:
    """Without a graph a model is chosen by the call's own configuration, whichever way it is asked."""
    variants = Variants(
        name="alone", key="user", variants={n: ScriptedChatModel(script=[Turn(text=n)] * 9) for n in ("a", "b")}
    )
    (user,) = keys_of(variants.experiment, "b", 1)
    chosen, config = variants.model(), of_user(user)
    assert chosen.invoke("hi", config).text == "b"
    assert "".join(part.text for part in chosen.stream("hi", config)) == "b"
    assert chosen.bind_tools([]).invoke("hi", config).text == "b"
    assert chosen.batch(["hi", "ho"], config)[1].text == "b"
    assert asyncio.run(chosen.ainvoke("hi", config)).text == "b"


def test_prompts_and_settings() -> None:
    """A prompt is a runnable, and anything at all can be asked for where the code runs."""
    prompts = Variants(name="prompt", key="user", variants={n: ChatPromptTemplate([("system", n)]) for n in ("a", "b")})
    ks = Variants(name="k", key="user", variants={"few": 3, "many": 30}, separate_results=False)
    (user,) = keys_of(prompts.experiment, "b", 1)
    chain = prompts.runnable() | RunnableLambda(lambda said: (said.to_messages(), ks.of()))
    messages, k = chain.invoke({}, of_user(user))
    assert messages == [SystemMessage("b")]
    assert k == ks.components[ks.experiment.variant_of(user)]


def test_a_run_without_a_key_gets_the_default() -> None:
    """No key, an empty one, or one of a kind that has no text of its own: the default, and the event says so."""
    variants, _ = two_tools("no key", default="b")
    wrapped = with_prefetch(created(model(calls("alpha"), DONE), [variants.tool()]), ["search"])
    events = watch(wrapped)
    for user in (None, "", object(), True):
        assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by b"]  # type: ignore[arg-type]
    assert {each.unit for each in of_kind(events, VariantAssigned) if each.experiment == "no key"} == {None}


def test_the_key_is_not_in_the_events() -> None:
    """Events name a key without showing it, and tell two keys apart."""
    variants, _ = two_tools("unnamed")
    wrapped = with_prefetch(created(model(calls("alpha"), DONE), [variants.tool()]), ["search"])
    events = watch(wrapped)
    for user in ("ada@example.org", "bob@example.org", "ada@example.org"):
        wrapped.invoke(GO, of_user(user))
    given = [each.unit for each in of_kind(events, VariantAssigned) if each.experiment == "unnamed"]
    assert given[0] == given[2] != given[1]
    assert "ada" not in repr(events)


class Metadata(BaseCallbackHandler):
    """Remembers the variants in the metadata of model and retriever runs."""

    def __init__(self) -> None:
        self.variants: dict[str, Any] = {}

    def on_chat_model_start(self, serialized: Any, messages: Any, *, metadata: Any = None, **kwargs: Any) -> None:
        self.variants |= {name: each for name, each in (metadata or {}).items() if ".variant." in name}


@tool
def other(query: str) -> str:
    """Search for passages."""
    return query


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Variants(name="", variants={"a": 1}), "needs a name"),
        (lambda: Variants(name="x", variants={}), "components by name"),
        (lambda: Variants(name="x", variants={"a": 1}, weights={"a": -1}), "number from 0"),
        (lambda: Variants(name="x", variants={"a": 1}, weights={"a": float("nan")}), "number from 0"),
        (lambda: Variants(name="x", variants={"a": 1}, weights={"a": 0}), "all weights are 0"),
        (lambda: Variants(name="x", variants={"a": 1, "b": 2}, weights={"a": 1}), "name the same variants"),
        (lambda: Variants(name="x", variants={"plain": 1}, default="plian"), "Did you mean 'plain'"),
        (lambda: Variants(name="x", variants={"a": 1}, key=3), "key takes"),  # type: ignore[arg-type]
        (lambda: Variants(name="x", variants={"a": 1}).tool(), "int, not a BaseTool"),
        (lambda: Variants(name="x", variants={"a": telling("a").tool, "b": other}).tool(), "differ in name"),
    ],
)
def test_wrong_use_says_what_to_do(make: Any, said: str) -> None:
    """Everything that cannot work is found before a run."""
    with pytest.raises(ConfigurationError, match=said):
        make()


def test_tools_a_model_would_call_differently() -> None:
    """Variants of one tool have one name, one description, one set of arguments."""
    one: BaseTool = telling("a").tool
    variants = Variants(name="x", variants={"a": one, "b": one.model_copy(update={"description": "Find."})})
    with pytest.raises(ConfigurationError, match="differ in description"):
        variants.tool()
