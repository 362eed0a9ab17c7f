"""Near misses: the query cannot be guessed, and still its passages are there when the call comes."""

import time

import numpy as np
from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from langgraph_prefetch import Budgets, NearMiss, prefetcher_of, with_prefetch
from langgraph_prefetch.near.source import MemorySource
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn

K = 2
PASSAGES = [
    f"The {thing} of {place} was built in {1700 + 13 * at}."
    for at, (thing, place) in enumerate(
        (thing, place) for thing in ("bridge", "town hall", "school") for place in ("Ashford", "Elmbury", "Fernwick")
    )
]
THOUGHT = "I have to find out when things were built in these towns, and which of them is the oldest of all. "
QUERIES = ["Ashford bridge year", "when was the hall in Elmbury built", "age of Fernwick school", "oldest bridge"]


def render(documents: list[Document]) -> str:
    """What the tool returns for documents."""
    return "\n".join(each.page_content for each in documents)


def main() -> None:
    embeddings: Embeddings = HashingEmbeddings()
    vectors = np.asarray(embeddings.embed_documents(PASSAGES), dtype=np.float32)
    store = MemorySource([str(at) for at in range(len(PASSAGES))], vectors, texts=PASSAGES)
    searches: list[str] = []

    @tool
    def search(query: str) -> str:
        """Search for passages about towns."""
        searches.append(query)
        time.sleep(0.2)  # stands for a store behind a network
        found = store.neighbourhood(np.asarray(embeddings.embed_query(query), dtype=np.float32), K)
        return render([Document(text) for text in found.texts])

    turns = [Turn(THOUGHT, calls=[Call("search", {"query": query})]) for query in QUERIES]
    model = ScriptedChatModel(script=[*turns, Turn(text="The bridge of Ashford.")], seconds_per_token=0.01)
    agent = with_prefetch(
        create_agent(model, [search]),
        tools=["search"],
        serve="bounded",
        epsilon=0.01,
        near={"search": NearMiss(source=store, embeddings=embeddings, k=K, render=render)},
        budgets=Budgets(guesses_per_step=0, sealed_per_step=0),  # to see near misses alone
    )
    for _ in agent.stream({"messages": [HumanMessage("What is the oldest thing in these towns?")]}):
        pass
    print(prefetcher_of(agent).report())

    # The first three searches showed that the tool is what we said. The fourth was answered without one, which one time
    # in twenty (audit_share) is checked by a search in the background.
    assert searches[:3] == QUERIES[:3]
    assert prefetcher_of(agent).report().served_near == 1


if __name__ == "__main__":
    main()
