"""A retriever called by your own code, without a graph: hear the model, answer the retriever early."""

import time

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import HumanMessage
from langchain_core.retrievers import BaseRetriever

from langgraph_prefetch import Prefetcher
from langgraph_prefetch.testing.models import ScriptedChatModel, Turn


class SlowStore(BaseRetriever):
    """Stands for a vector store behind a network."""

    searches: int = 0

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        self.searches += 1
        time.sleep(0.3)
        return [Document(f"A passage about {query}.")]


def main() -> None:
    model = ScriptedChatModel(
        script=[
            Turn("I should search Tay Bridge first. There were two of them, so I have to keep them apart later on.")
        ],
        seconds_per_token=0.02,
    )
    store = SlowStore()
    prefetch = Prefetcher(["store"])
    retriever = prefetch.retriever(store, name="store")

    with prefetch.run():
        for _ in model.stream([HumanMessage("Which bridge fell?")], {"callbacks": [prefetch.handler()]}):
            pass
        documents = retriever.invoke("Tay Bridge")
    print(documents[0].page_content)
    print(prefetch.report())

    assert documents == [Document("A passage about Tay Bridge.")]
    assert store.searches == 1
    assert prefetch.report().hidden_seconds > 0.15


if __name__ == "__main__":
    main()
