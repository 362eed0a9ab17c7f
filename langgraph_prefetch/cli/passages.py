"""What the commands on a passage store share: which store, which embedder."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.errors import MissingExtraError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from langgraph_prefetch.retrieval import PgVectorStore

URL_VARIABLE = "LANGGRAPH_PREFETCH_URL"
DEFAULT_URL = "embedded://"


def add_store_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that name a store and its embedder."""
    add = parser.add_argument
    add(
        "--url",
        metavar="URL",
        help=f"the database, as postgresql://...; without it what ${URL_VARIABLE} says, where no password is seen by "
        f"other users of the machine, else {DEFAULT_URL}, a server of your own",
    )
    add("--collection", default="default", metavar="NAME", help="default: %(default)s")
    add("--tenant", metavar="NAME", help="whose passages these are (default: there are no tenants)")
    add(
        "--embedder",
        default="hashing",
        metavar="NAME",
        help="hashing (no model), wordllama, minilm, or module:object, a LangChain Embeddings (default: %(default)s)",
    )


def embedder_of(arguments: argparse.Namespace) -> Embeddings:
    """The embedder that was asked for.

    Raises:
        ConfigurationError: there is none of that name.
        MissingExtraError: a library is not installed.
    """
    try:
        from langgraph_prefetch.retrieval.embedders import embedder
    except MissingExtraError as error:
        raise MissingExtraError(error.library, "ingest") from error
    return embedder(arguments.embedder)


def open_store(arguments: argparse.Namespace, embeddings: Embeddings, *, create: bool) -> PgVectorStore:
    """The store that was asked for.

    Raises:
        ConfigurationError: it is another one than asked for, or there is none and it is not to be made.
        StoreError: the server cannot be reached, or lacks something.
    """
    from langgraph_prefetch.retrieval import PgVectorStore

    identity: Any = getattr(embeddings, "identity", None)
    return PgVectorStore(
        embeddings,
        url=arguments.url or os.environ.get(URL_VARIABLE) or DEFAULT_URL,
        collection=arguments.collection,
        tenant=arguments.tenant,
        embedder=identity if isinstance(identity, str) else None,
        create=create,
    )
