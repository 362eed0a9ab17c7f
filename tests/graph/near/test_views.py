"""Which calls a ranking may answer: those that are the same search, for the same caller, of the same contents."""

import itertools
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_core.vectorstores import InMemoryVectorStore

from langgraph_prefetch import ConfigurationError, ToolPolicy, with_prefetch
from langgraph_prefetch.events import NearAnswered, NearChecked, NearFetched, NearTierChanged
from langgraph_prefetch.testing.models import Call, Turn
from tests.graph.cases.rigs import of_kind, tool_texts, until, watch
from tests.graph.near.rigs import (
    NOTHING_EARLY,
    TEXTS,
    WARM,
    K,
    Searching,
    Switching,
    Words,
    agent_of,
    memory,
    model_of,
    near,
    question,
    rendered,
    served,
    settled,
    thinking,
    told,
    vectors_of,
    warmed,
)

QUERY = "market of Gorsley"


@pytest.mark.parametrize("others", [{"k": K + 2}, {"k": K - 1}, {"k": 0}])
def test_a_call_with_other_arguments_is_a_miss(others: dict[str, Any]) -> None:
    """Case 59: never the narrower answer, nor the wider one."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source))
    turn = Turn(text="I think about the markets.", calls=[Call("search", {"query": QUERY, **others})])
    model_of(graph).script = [turn, Turn(text="Done.")]
    graph.invoke(question())
    assert served(events) == [False]
    assert searching.queries == [QUERY]
    assert of_kind(events, NearAnswered) == []


def test_an_argument_that_says_what_is_usual_anyway_changes_nothing() -> None:
    """``k`` as the tool's own default has it is the same search."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source))
    turn = Turn(text="I think about the markets.", calls=[Call("search", {"query": QUERY, "k": K})])
    model_of(graph).script = [turn, Turn(text="Done.")]
    assert tool_texts(graph.invoke(question())) == [searching.answer(QUERY)]
    assert served(events) == [True]


def test_fixed_arguments_are_part_of_the_view() -> None:
    """A tool whose calls always carry a filter: with it they are answered, with another they are not."""
    source = memory()
    searching = Searching(source)

    @tool
    def find(query: str, area: str) -> str:
        """Find passages."""
        searching.queries.append(f"{area}: {query}")
        return str(searching.answer(query)) if area == "all" else f"nothing in {area}"

    model = Switching(script=[])
    graph: Any = with_prefetch(
        create_agent(model, [find]),
        tools=[ToolPolicy(name="find", fixed_arguments={"area": "all"})],
        serve="bounded",
        near={"find": near(source)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)

    def turns(*areas: str) -> list[Turn]:
        calls = [Call("find", {"query": query, "area": area}) for query, area in zip(WARM, areas, strict=False)]
        return [*(Turn(text="I think about towns.", calls=[each]) for each in calls), Turn(text="Done.")]

    model.script = turns("all", "all", "all")
    graph.invoke(question())
    settled(graph.prefetch, events, calls=3)
    model.script = turns("all", "north")
    result = graph.invoke(question())
    assert served(events)[3:] == [True, False]
    assert tool_texts(result) == [searching.answer(WARM[0]), "nothing in north"]


def test_each_tenant_is_answered_from_its_own_store() -> None:
    """Cases 50 and 51: the source is chosen by trusted configuration, and nothing is shared."""
    stores = {"a": memory(), "b": memory([f"{text} (b)" for text in TEXTS])}
    searching = {name: Searching(store) for name, store in stores.items()}
    asked: list[str] = []

    @tool
    def search(query: str, config: RunnableConfig) -> str:
        """Search for passages."""
        tenant = config["configurable"]["tenant"]
        asked.append(tenant)
        return str(searching[tenant].answer(query))

    model = Switching(script=thinking(*WARM).script)
    said = near(lambda configurable: stores.get(configurable.get("tenant")))
    graph: Any = with_prefetch(
        create_agent(model, [search]),
        tools=["search"],
        serve="bounded",
        near={"search": said},
        scope=lambda configurable: configurable["tenant"],
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    for number, tenant in enumerate(("a", "b"), start=1):
        graph.invoke(question(), {"configurable": {"tenant": tenant}})
        settled(graph.prefetch, events, calls=3 * number)
    assert asked == ["a"] * 3 + ["b"] * 3  # what was learned of a says nothing of b
    model.script = thinking(QUERY).script
    for tenant in ("a", "b", "a"):
        result = graph.invoke(question(), {"configurable": {"tenant": tenant}})
        assert tool_texts(result) == [searching[tenant].answer(QUERY)]
    assert served(events)[6:] == [True] * 3
    assert asked == ["a"] * 3 + ["b"] * 3


def test_a_source_that_is_not_the_callers_is_found_out_before_it_answers() -> None:
    """Case 50: one store is named, and the tool searches another for this tenant: its first results differ."""
    stores = {"a": memory(), "b": memory([f"{text} (b)" for text in TEXTS])}
    searching = {name: Searching(store) for name, store in stores.items()}

    @tool
    def search(query: str, config: RunnableConfig) -> str:
        """Search for passages."""
        return str(searching[config["configurable"]["tenant"]].answer(query))

    model = Switching(script=thinking(*WARM).script)
    graph: Any = with_prefetch(
        create_agent(model, [search]),
        tools=["search"],
        serve="bounded",
        near={"search": near(stores["a"])},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    graph.invoke(question(), {"configurable": {"tenant": "a"}})
    settled(graph.prefetch, events, calls=3)
    result = graph.invoke(question(), {"configurable": {"tenant": "b"}})
    settled(graph.prefetch, events, calls=6)
    assert served(events) == [False] * 6
    assert tool_texts(result) == [searching["b"].answer(each) for each in WARM]
    assert [each.open for each in of_kind(events, NearTierChanged)] == [True, False]


def test_another_conversation_of_the_same_caller_needs_no_new_trust() -> None:
    """``thread_id`` names a conversation; it says nothing of what a tool is."""
    searching = Searching(memory())
    graph, _, events = warmed(searching, near(searching.source), QUERY, config={"configurable": {"thread_id": "1"}})
    graph.invoke(question(), {"configurable": {"thread_id": "2"}})
    assert served(events) == [True]


def test_an_index_that_changes_between_the_thought_and_the_call_is_a_miss() -> None:
    """The epoch is read after the call came; what is fetched anew afterwards answers again."""
    source = memory()
    searching, words = Searching(source), Words()
    # One fetch at a time, and the first brings all there is: none is under way when the index changes.
    graph, _, events = warmed(searching, near(source, words, anchors=1), QUERY, QUERY)
    changed = [f"{text}, as of today" for text in TEXTS]
    embed = words.embed_query

    def changing(text: str) -> list[float]:
        if text == QUERY and not searching.queries:
            told(events, NearFetched, 1)
            source.replace([f"p{at:03d}" for at in range(len(TEXTS))], vectors_of(changed), texts=changed)
        return embed(text)

    words.embed_query = changing  # type: ignore[method-assign]
    result = graph.invoke(question())
    first = of_kind(events, NearAnswered)[0]
    assert first.reason == "the index has changed"
    assert tool_texts(result) == [searching.answer(QUERY)] * 2
    assert "as of today" in tool_texts(result)[0]


def test_another_tool_voids_what_no_epoch_vouches_for() -> None:
    """A tool that may have written: passages of a store that cannot tell are forgotten, others stay."""
    words = Words()
    store = InMemoryVectorStore(words)
    store.add_texts(list(TEXTS), ids=[f"p{at:03d}" for at in range(len(TEXTS))])
    written: list[str] = []

    @tool
    def search(query: str) -> str:
        """Search for passages."""
        return rendered(store.similarity_search(query, k=K))

    @tool
    def write(text: str) -> str:
        """Write a passage."""
        written.append(text)
        store.add_texts([text], ids=["new"])
        return "written"

    model = Switching(
        script=[
            Turn(text="I think about the mayor of Elmbury.", calls=[Call("write", {"text": "the mayor of Elmbury"})]),
            Turn(calls=[Call("search", {"query": "the mayor of Elmbury"})]),
            Turn(text="Done."),
        ]
    )
    graph: Any = with_prefetch(
        create_agent(model, [search, write]),
        tools=["search"],
        serve="bounded",
        near={"search": near(store, words)},
        force_streaming=True,
        budgets=NOTHING_EARLY,
    )
    events = watch(graph)
    result = graph.invoke(question())
    assert of_kind(events, NearFetched)
    assert {each.reason for each in of_kind(events, NearAnswered)} <= {"nothing fetched", "unsure"}
    assert "[new]" in tool_texts(result)[1]


def test_near_is_for_tools_that_are_named() -> None:
    searching = Searching(memory())
    with pytest.raises(ConfigurationError, match="no tool named 'look_up'"):
        with_prefetch(
            create_agent(thinking(), [searching.tool]),
            tools=["search"],
            serve="bounded",
            near={"look_up": near(searching.source)},
        )


def test_an_index_that_changes_after_the_tool_has_searched_teaches_nothing() -> None:
    """The ranking and the result are of what stood there before; what stands there now says nothing of either."""
    source = memory()
    changes = itertools.count()

    class Changing(Searching):
        def answer(self, query: str, k: int = K) -> Any:
            found = super().answer(query, k)
            number = next(changes)
            until(lambda: len(of_kind(events, NearAnswered)) > number)
            texts = [f"{text}, version {number}" for text in TEXTS]
            self.source.replace([f"p{at:03d}" for at in range(len(TEXTS))], vectors_of(texts), texts=texts)
            return found

    graph, prefetch = agent_of(thinking(*WARM, *WARM), Changing(source), near(source))
    events = watch(prefetch)
    graph.invoke(question())
    until(lambda: prefetch.shared.executor.running == 0)
    assert of_kind(events, NearChecked) == []
    assert of_kind(events, NearTierChanged) == []
