"""What the workers of the tests search with, and their agents too. Each search leaves two lines in a file."""

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool

from langgraph_prefetch import is_speculative
from langgraph_prefetch.jobs import Job
from langgraph_prefetch.values import Output

LOG, SECONDS = "TEST_SEARCH_LOG", "TEST_SEARCH_SECONDS"


def seconds() -> float:
    return float(os.environ.get(SECONDS, "0"))


@contextmanager
def noted(query: str) -> Iterator[None]:
    """Writes down that a search began and that it ended, with who made it."""
    _write({"begins": query, "pid": os.getpid(), "early": is_speculative()})
    yield
    _write({"ends": query, "pid": os.getpid()})


def _write(line: Mapping[str, object]) -> None:
    path = os.environ.get(LOG)
    if path:
        with open(path, "a", encoding="utf-8") as file:  # one write of a short line: whole, also beside others
            file.write(json.dumps(line) + "\n")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def let_go(log: Path) -> None:
    """From now on searches whose query begins with ``held`` go on, in whatever process."""
    log.with_suffix(".go").touch()


def wait_until_let_go() -> None:
    go = Path(os.environ[LOG]).with_suffix(".go")
    for _ in range(30_000):
        if go.exists():
            return
        time.sleep(0.01)


def answer(query: str) -> str:
    return f"passages about {query}"


@tool
def search(query: str) -> str:
    """Search the encyclopedia."""
    with noted(query):
        if query.startswith("large "):
            return answer(query) * (int(query.split()[1]) // len(answer(query)) + 1)
        if query.startswith("poison"):
            raise ConnectionError("the backend is away")
        if query.startswith("held "):
            wait_until_let_go()
        time.sleep(seconds())
    return answer(query)


@tool
def tenants(query: str, config: RunnableConfig) -> str:
    """Search what the tenant has."""
    with noted(query):
        return f"{config['configurable'].get('tenant')}: {answer(query)}"


@tool(response_format="content_and_artifact")
async def documents(query: str) -> tuple[str, list[Document]]:
    """Search documents."""
    with noted(query):
        await asyncio.sleep(seconds())
    found = [Document(page_content=answer(query), metadata={"page": 3, "score": 0.5}, id="d1")]
    return "\n\n".join(each.page_content for each in found), found


class Shelf(BaseRetriever):
    """A retriever without an asynchronous form."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int = 1
    ) -> list[Document]:
        with noted(query):
            return [Document(page_content=f"{answer(query)} {number}") for number in range(k)]


shelf = Shelf()
every = {"search": search, "documents": documents, "tenants": tenants, "shelf": shelf}


def by_job(job: Job) -> Output:
    """A plain function."""
    with noted(str(job.arguments["query"])):
        return Output(f"{job.scope}: {answer(str(job.arguments['query']))}")


not_callable = 7


def two_arguments(job: Job, other: int) -> Output:
    raise NotImplementedError
