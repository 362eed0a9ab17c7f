"""A call of one variant is never answered with a result of another."""

import threading
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import create_retriever_tool, tool

from langgraph_prefetch import PrefetchMiddleware, ToolPolicy, Variants, prefetcher_of, with_prefetch
from langgraph_prefetch.events import VariantAssigned
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from tests.graph.cases.rigs import DONE, GO, calls, created, model, of_kind, thinks, tool_texts, watch
from tests.graph.variants.rigs import BOTH, keys_of, of_user, telling, two_tools
from tests.graph.variants.test_components import retrievers

SHARED: dict[str, Any] = {"reuse_seconds": 60.0, "ignore_configurable": ("user", "thread_id")}


def shared(name: str) -> dict[str, Any]:
    """All users share one scope, and the key of the experiment is no part of the key of a result."""
    return {**SHARED, "scope": lambda _: name}


def test_tools_in_one_scope() -> None:
    """Users of one variant share results; those of the other do not get them, though nothing else differs."""
    variants, searches = two_tools("scope")
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [variants.tool()]), ["search"], **shared("scope"))
    users = {each: keys_of(variants.experiment, each, 3) for each in BOTH}
    for number in range(3):
        for variant in BOTH:
            said = wrapped.invoke(GO, of_user(users[variant][number]))
            assert tool_texts(said) == [f"alpha by {variant}"]
    assert {name: len(search) for name, search in searches.items()} == {"a": 1, "b": 1}


def test_a_retriever_that_a_tool_hides() -> None:
    """The tool is one and the same object: what it searches with differs, so its results do not cross."""
    variants = retrievers("hidden")
    search = create_retriever_tool(variants.retriever(), "search", "Search for passages.")
    wrapped = with_prefetch(created(model(calls("alpha"), DONE), [search]), ["search"], **shared("hidden"))
    for variant in ("a", "b", "a", "b"):
        (user,) = keys_of(variants.experiment, variant, 1)
        assert tool_texts(wrapped.invoke(GO, of_user(user))) == [f"alpha by {variant}"]
    assert prefetcher_of(wrapped).report().served_reuse == 2


def test_a_declared_identity_does_not_bridge_variants() -> None:
    """ToolPolicy(identity=…) says that a tool made anew is the same; a variant is not."""
    variants, _ = two_tools("identity")
    policy = ToolPolicy(name="search", identity="the one")
    wrapped = with_prefetch(created(model(calls("alpha"), DONE), [variants.tool()]), [policy], **shared("identity"))
    for variant in ("a", "b", "a"):
        (user,) = keys_of(variants.experiment, variant, 1)
        assert tool_texts(wrapped.invoke(GO, of_user(user))) == [f"alpha by {variant}"]


def test_what_cannot_change_results_may_share_them() -> None:
    """With separate_results=False a prompt's variants share what was searched."""
    prompts = Variants(name="apart not", variants={"a": "A", "b": "B"}, key="user", separate_results=False)
    search = telling("the only one")
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [search.tool]), ["search"], **shared("apart not"))
    for variant in ("a", "b"):
        wrapped.invoke(GO, of_user(keys_of(prompts.experiment, variant, 1)[0]))
    assert len(search) == 1


def test_a_swap_between_runs() -> None:
    """What was read with the component before answers no run that begins after it was replaced, nor the way back."""
    variants, searches = two_tools("swapped")
    (user,) = keys_of(variants.experiment, "a", 1)
    wrapped = with_prefetch(created(model(calls("alpha"), DONE), [variants.tool()]), ["search"], **shared("swapped"))
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by a"]
    variants.swap({"a": telling("a, renewed").tool})
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by a, renewed"]
    variants.swap({"a": searches["a"].tool})
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by a"]
    assert len(searches["a"]) == 2


def test_a_swap_in_the_middle_of_a_run() -> None:
    """The run keeps what it began with, in what starts early and in what runs on the call, and so does what is kept."""
    variants, _ = two_tools("in the middle")
    (user,) = keys_of(variants.experiment, "a", 1)
    renewed = telling("a, renewed")

    @tool
    def other(query: str) -> str:
        """Do something else."""
        variants.swap({"a": renewed.tool}, weights={"a": 0.0, "b": 1.0})
        return "swapped"

    script = (Turn(calls=[Call("other", {"query": "x"})]), thinks("alpha"), calls("beta"), DONE)
    wrapped = with_prefetch(
        created(model(*script, *script), [variants.tool(), other]), ["search"], **shared("in the middle")
    )
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["swapped", "alpha by a", "beta by a"]
    assert len(renewed) == 0
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["swapped", "alpha by b", "beta by b"]


def test_weights_that_change_move_a_key_between_runs_alone() -> None:
    """A key whose variant changes begins its next run there, with nothing of its last."""
    variants, _ = two_tools("reweighed")
    (user,) = keys_of(variants.experiment, "a", 1)
    wrapped = with_prefetch(created(model(calls("alpha"), DONE), [variants.tool()]), ["search"], **shared("reweighed"))
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by a"]
    variants.swap(weights={"a": 0, "b": 1})
    assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by b"]


def test_many_users_at_once() -> None:
    """The same, with threads that share one scope while components are replaced under them."""
    variants, _ = two_tools("crowd")
    llm = ScriptedChatModel(script=[calls("alpha"), DONE])
    wrapped = with_prefetch(created(llm, [variants.tool()]), ["search"], **shared("crowd"))
    users = {user: each for each in BOTH for user in keys_of(variants.experiment, each, 6)}
    wrong: list[str] = []

    def ask(user: str, variant: str) -> None:
        for _ in range(4):
            (text,) = tool_texts(wrapped.invoke(GO, of_user(user)))
            if not text.startswith(f"alpha by {variant}"):
                wrong.append(text)

    threads = [threading.Thread(target=ask, args=each) for each in users.items()]
    for thread in threads:
        thread.start()
    for number in range(5):
        variants.swap({each: telling(f"{each}, number {number}").tool for each in BOTH})
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_concluded_experiment() -> None:
    """Everybody gets the winner, nobody is told of an experiment, and what was read before it ended answers nobody."""
    variants, searches = two_tools("concluded")
    wrapped = with_prefetch(created(model(thinks("alpha"), DONE), [variants.tool()]), ["search"], **shared("concluded"))
    users = [keys_of(variants.experiment, each, 1)[0] for each in BOTH]
    for user in users:
        wrapped.invoke(GO, of_user(user))
    variants.conclude("b")
    events = watch(wrapped)
    for user in users:
        assert tool_texts(wrapped.invoke(GO, of_user(user))) == ["alpha by b"]
    assert of_kind(events, VariantAssigned) == []
    assert len(searches["b"]) == 2
    variants.swap({"b": telling("b, renewed").tool})
    assert tool_texts(wrapped.invoke(GO, of_user(users[1]))) == ["alpha by b, renewed"]


def test_a_swap_in_the_middle_of_a_middlewares_run() -> None:
    """Also where a tool's callbacks know nothing of the run: what runs on the call is what the run began with."""
    variants, searches = two_tools("middleware")
    (user,) = keys_of(variants.experiment, "a", 1)

    @tool
    def other(query: str) -> str:
        """Do something else."""
        variants.swap(weights={"a": 0.0, "b": 1.0})
        return "swapped"

    llm = model(Turn(calls=[Call("other", {"query": "x"})]), calls("alpha"), DONE)
    middleware: Any = PrefetchMiddleware(["search"], dry_run=True)
    agent: Any = create_agent(llm, [variants.tool(), other], middleware=[middleware])
    assert tool_texts(agent.invoke(GO, of_user(user))) == ["swapped", "alpha by a"]
    assert len(searches["b"]) == 0
