"""Knowledge bases and embeddings of Bedrock, searched early over HTTP, on threads of their own."""

import asyncio
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_aws import AmazonKnowledgeBasesRetriever, BedrockEmbeddings
from langchain_core.documents import Document
from langchain_core.tools import create_retriever_tool
from langchain_core.vectorstores import InMemoryVectorStore

import langgraph_prefetch
from langgraph_prefetch import Prefetcher, prefetcher_of, with_prefetch
from langgraph_prefetch.aws.bedrock import own_threads
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn
from langgraph_prefetch.testing.wire import LocalBedrock, Passage
from tests.aws.bedrock.parts import client

PASSAGES = ("The Humber Bridge has a main span of 1,410 metres.", "The Severn Bridge opened in 1966.")
THOUGHT = "I need to search Humber Bridge, and then read the length of its main span, the one between the two towers."
BASE = "KNOWLEDGE1"
TITAN, COHERE = "amazon.titan-embed-text-v2:0", "cohere.embed-english-v3"


def knowledge(server: LocalBedrock) -> AmazonKnowledgeBasesRetriever:
    settings = {"vectorSearchConfiguration": {"numberOfResults": 1}}
    return AmazonKnowledgeBasesRetriever(
        knowledge_base_id=BASE, retrieval_config=settings, min_score_confidence=None, client=client(server)
    )


def embeddings(server: LocalBedrock, model_id: str = TITAN) -> BedrockEmbeddings:
    return BedrockEmbeddings(
        model_id=model_id, client=client(server, "bedrock-runtime"), region_name="us-east-1", normalize=False
    )


def thinking(text: str = THOUGHT) -> ScriptedChatModel:
    return ScriptedChatModel(script=[Turn(text)], seconds_per_token=0.002)


@pytest.fixture
async def busy_threads() -> Iterator[None]:  # type: ignore[misc]
    """All of the loop's default threads are taken for as long as the test lasts."""
    over = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        asyncio.get_running_loop().set_default_executor(pool)
        held = asyncio.get_running_loop().run_in_executor(None, over.wait, 60)
        yield
        over.set()
        await held


def test_a_knowledge_base_is_searched_early() -> None:
    """A knowledge base's retriever is prefetched as it is, with its documents, scores and sources."""
    with LocalBedrock(knowledge=[Passage(text=PASSAGES[0], source="s3://b/humber.txt"), PASSAGES[1]]) as server:
        bare = knowledge(server).invoke("Humber Bridge")
        prefetch = Prefetcher(["passages"])
        retriever = prefetch.retriever(knowledge(server), name="passages")
        with prefetch.run():
            list(thinking().stream("How long?", {"callbacks": [prefetch.handler()]}))
            found = retriever.invoke("Humber Bridge")
        assert found == bare
        assert found[0].page_content == PASSAGES[0]
        assert found[0].metadata["location"]["s3Location"]["uri"] == "s3://b/humber.txt"
        assert prefetch.report().served == 1
        assert server.queries == ("Humber Bridge", "Humber Bridge")


@pytest.mark.parametrize("style", ["invoke", "ainvoke"])
async def test_in_an_agent(style: str) -> None:
    """As a tool of an agent the retriever is prefetched under the tool's name."""
    with LocalBedrock(knowledge=PASSAGES) as server:
        tool = create_retriever_tool(own_threads(knowledge(server)), "search", "Search the passages.")
        script = [Turn(THOUGHT, calls=[Call("search", {"query": "Humber Bridge"})]), Turn(text="1,410 metres.")]
        agent = create_agent(ScriptedChatModel(script=script, seconds_per_token=0.002), [tool])
        wrapped: Any = with_prefetch(agent, ["search"])
        asked: Any = {"messages": [("user", "How long?")]}
        result = await (wrapped.ainvoke(asked) if style == "ainvoke" else asyncio.to_thread(wrapped.invoke, asked))
    assert result["messages"][2].text == PASSAGES[0]
    assert (prefetcher_of(wrapped).report().served, server.queries) == (1, ("Humber Bridge",))


@pytest.mark.usefixtures("busy_threads")
async def test_searches_do_not_wait_for_the_loops_threads() -> None:
    """While models hold every default thread of the loop, a knowledge base is searched, early and for a real call."""
    with LocalBedrock(knowledge=PASSAGES) as server:
        prefetch = Prefetcher(["passages"])
        retriever = prefetch.retriever(own_threads(knowledge(server)), name="passages")
        with prefetch.run():
            async for _ in thinking().astream("How long?", {"callbacks": [prefetch.handler()]}):
                pass
            early = await retriever.ainvoke("Humber Bridge")
            missed = await retriever.ainvoke("Severn Bridge")
    assert [document.page_content for document in (*early, *missed)] == list(PASSAGES)
    assert prefetch.report().served == 1


@pytest.mark.usefixtures("busy_threads")
async def test_early_searches_of_a_plain_retriever_have_the_prefetchers_threads() -> None:
    """Without ``own_threads`` the speculation is still off the loop's threads: only a miss would wait for them."""
    with LocalBedrock(knowledge=PASSAGES) as server:
        prefetch = Prefetcher(["passages"])
        retriever = prefetch.retriever(knowledge(server), name="passages")
        with prefetch.run():
            async for _ in thinking().astream("How long?", {"callbacks": [prefetch.handler()]}):
                pass
            found = await retriever.ainvoke("Humber Bridge")
    assert (found[0].page_content, prefetch.report().served) == (PASSAGES[0], 1)


@pytest.mark.parametrize("model_id", [TITAN, COHERE], ids=["titan", "cohere"])
async def test_a_vector_store_on_bedrocks_embeddings(model_id: str, busy_threads: None) -> None:
    """The shapes of both providers are served, and a store over them is a retriever like any other."""
    with LocalBedrock() as server:
        vectors = own_threads(embeddings(server, model_id))
        store = InMemoryVectorStore(vectors)
        await store.aadd_documents([Document(text) for text in PASSAGES])
        prefetch = Prefetcher(["passages"])
        retriever = prefetch.retriever(store.as_retriever(search_kwargs={"k": 1}), name="passages")
        with prefetch.run():
            async for _ in thinking().astream("How long?", {"callbacks": [prefetch.handler()]}):
                pass
            found = await retriever.ainvoke("Humber Bridge")
        assert (found[0].page_content, prefetch.report().served) == (PASSAGES[0], 1)


@pytest.mark.parametrize("model_id", [TITAN, COHERE], ids=["titan", "cohere"])
def test_embeddings_on_own_threads_are_the_same(model_id: str) -> None:
    """Only where the call waits differs: sync, async, one text or several give the same vectors, of length 1."""
    with LocalBedrock() as server:
        bare = embeddings(server, model_id)
        vectors = own_threads(bare)
        one = bare.embed_query("Humber")
        (several,) = vectors.embed_documents(["Humber"])
        (later,) = asyncio.run(vectors.aembed_documents(["Humber"]))
        assert one == vectors.embed_query("Humber") == several == later == asyncio.run(vectors.aembed_query("Humber"))
    assert abs(sum(value * value for value in one) - 1) < 1e-9


def test_an_error_of_the_service_is_the_callers() -> None:
    """A search that raises on the server raises in the real call, and is a miss when it ran early."""

    def away(base_id: str, query: str) -> Any:
        raise ConnectionError(f"{base_id} is away")

    with LocalBedrock(knowledge=away) as server:
        prefetch = Prefetcher(["passages"])
        retriever = prefetch.retriever(knowledge(server), name="passages")
        with prefetch.run():
            list(thinking().stream("How long?", {"callbacks": [prefetch.handler()]}))
            with pytest.raises(Exception, match="is away"):
                retriever.invoke("Humber Bridge")
        assert len(server.failures) >= 2
    assert prefetch.report().failed == 1


def test_only_retrievers_and_embeddings() -> None:
    """Anything else is said to be wrong."""
    wrong: Any = object()
    with pytest.raises(ConfigurationError, match="retriever or embeddings"):
        own_threads(wrong)
    with LocalBedrock() as server, pytest.raises(ConfigurationError, match="threads"):
        own_threads(embeddings(server), threads=0)


def test_no_model_and_no_price_is_written_into_the_package() -> None:
    """Model ids and prices change weekly: nothing of ours knows one."""
    known = re.compile(r"(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek)\.[a-z0-9-]+-[a-z0-9.:-]*\d|\$\s?\d")
    package = Path(langgraph_prefetch.__file__).parent
    files = [*package.glob("aws/**/*.py"), *package.glob("testing/wire/*.py")]
    assert len(files) > 30
    found = [(file.name, line) for file in files for line in file.read_text().splitlines() if known.search(line)]
    assert found == []
    assert known.search(TITAN)
