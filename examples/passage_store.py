"""A folder of texts in a passage store on PostgreSQL, and an agent whose searches of it start early."""

import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import create_retriever_tool

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.ingest import ingest_sync
from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.embedded import temporary
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings
from langgraph_prefetch.testing.latency import with_latency
from langgraph_prefetch.testing.models import Call, ScriptedChatModel, Turn

PAGES = {
    "humber.md": "# Humber Bridge\n\nA suspension bridge near Hull. Its main span is 1,410 metres long.",
    "forth.md": "# Forth Bridge\n\nA cantilever railway bridge west of Edinburgh, opened in 1890.",
    "tay.txt": "The first Tay Bridge at Dundee fell in a storm in 1879.",
}
THOUGHT = (
    "The user asks how long the bridge is. I need to search Humber Bridge, and then read the length of its main span "
    "from the passage. The longest span is the one between the two towers, so that is the figure to look for."
)


def fill(store: PgVectorStore, folder: Path) -> None:
    for name, text in PAGES.items():
        (folder / name).write_text(text, encoding="utf-8")
    report = ingest_sync(folder, None, store.embeddings, store)
    print(f"written: {report.written.added} passages of {report.documents} documents")
    again = ingest_sync(folder, None, store.embeddings, store)
    print(f"again: {again.unchanged} files are as they were, {again.embedded} passages embedded")
    assert (report.written.added, again.unchanged, again.embedded) == (3, 3, 0)


def ask(store: PgVectorStore) -> None:
    retriever = store.as_retriever(k=1)
    search = create_retriever_tool(retriever, "search", "Search what is known about bridges.")
    # Stands for a server across a network; a local search takes milliseconds, and there is nothing to hide.
    search = with_latency(search, 0.3)
    # Stands in for a model behind an API: writes one word every 20 ms.
    model = ScriptedChatModel(
        script=[Turn(THOUGHT, calls=[Call("search", {"query": "Humber Bridge"})]), Turn(text="1,410 metres.")],
        seconds_per_token=0.02,
    )
    agent: Any = with_prefetch(create_agent(model, [search]), tools=["search"])
    result = agent.invoke({"messages": [("user", "How long is the main span of the Humber Bridge?")]})
    print(f"found: {result['messages'][-2].text!r}")
    print(agent.prefetch.report())

    assert "1,410 metres" in result["messages"][-2].text
    assert agent.prefetch.report().served == 1


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        # A server for as long as this runs. url="embedded://" is one that stays, "postgresql://..." one that you have.
        temporary(durable=False) as server,
        PgVectorStore(HashingEmbeddings(), url=server.url, collection="bridges") as store,
    ):
        fill(store, Path(folder))
        (nearest,) = store.similarity_search("which bridge fell in a storm", k=1)
        print(f"nearest: {nearest.page_content}")
        assert "Tay Bridge" in nearest.page_content
        ask(store)


if __name__ == "__main__":
    main()
