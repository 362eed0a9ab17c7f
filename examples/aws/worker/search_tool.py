"""What this deployment's workers search: passages in PostgreSQL with pgvector. Put your own tool here.

The agent has the same tool: `from search_tool import search`, and `with_prefetch(agent, tools=["search"], ...)`.
"""

import os
from functools import cache
from typing import Any

from langchain_core.documents import Document
from langchain_core.tools import tool

from langgraph_prefetch.retrieval import PgVectorStore
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings

PASSAGES = 3


@cache
def store() -> PgVectorStore:
    """Opened at the first search, in the agent's process only if it makes one itself."""
    # Needs no model; take the embedder that your passages were written with.
    return PgVectorStore(HashingEmbeddings(), url=os.environ["DATABASE_URL"], collection="passages")


@tool(response_format="content_and_artifact")
async def search(query: str) -> tuple[str, Any]:
    """Search the passages."""
    found: list[Document] = await store().asimilarity_search(query, k=PASSAGES)
    return "\n\n".join(passage.page_content for passage in found), found
