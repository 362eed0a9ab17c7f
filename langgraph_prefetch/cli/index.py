"""``langgraph-prefetch index``: files into a passage store."""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.files import check_writable, write
from langgraph_prefetch.cli.index_progress import told
from langgraph_prefetch.cli.passages import add_store_options, embedder_of, open_store
from langgraph_prefetch.errors import ConfigurationError, UnknownCollectionError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from langgraph_prefetch.cli.command import Commands
    from langgraph_prefetch.ingest import Estimate, IngestReport
    from langgraph_prefetch.ingest.settings import Cleanup
    from langgraph_prefetch.ingest.sources import Source
    from langgraph_prefetch.ingest.splitting import Splitter
    from langgraph_prefetch.retrieval import PgVectorStore

FORMATS = ("auto", "text", "markdown", "html", "jsonl", "python")
CLEANUPS = ("incremental", "full", "scoped_full", "none")
SIZE, OVERLAP = 1_000, 100
INDEX_FROM = 10_000
"""Passages from which an index is made unless told otherwise: a search that compares so many takes about 20 ms."""

_DESCRIPTION = """\
Split files into passages, embed them and put them into a passage store, all at the same time.

Folders are read recursively: .txt, .rst, .log, .md, .html, .jsonl and .py (its documentation strings; nothing is
imported or run). Hidden files and virtual environments are passed over. What is as an earlier run left it is not read
again. What cannot be read is listed, with the reason, and the rest goes on.

It needs the extra `ingest`, and `embedded` for a server of your own."""

_EXAMPLES = """\
  langgraph-prefetch index docs
  langgraph-prefetch index docs 'corpora/*.jsonl' --collection notes --embedder minilm
  langgraph-prefetch index pages.jsonl --text-field body --title-field heading
  langgraph-prefetch index --package json --package asyncio --collection python
  langgraph-prefetch index docs --dry-run"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "index", "put files into a passage store", _run, description=_DESCRIPTION, examples=_EXAMPLES
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="PATH", help="files, folders, patterns such as 'docs/**/*.md'")
    add("--package", action="append", default=[], metavar="NAME", help="an installed Python package, by its name")
    add_store_options(parser)
    add("--format", choices=FORMATS, default="auto", help="of all files (default: by each file's name)")
    add("--root", metavar="DIR", help="name files in the store from there (default: by their absolute paths)")
    add("--encoding", metavar="NAME", help="of files that do not say it themselves (default: UTF-8)")
    add("--text-field", default="text", metavar="NAME", help="of a line of JSON (default: %(default)s)")
    add("--title-field", default="title", metavar="NAME", help="of a line of JSON (default: %(default)s)")
    add("--follow-links", action="store_true", help="read what symbolic links in folders point at")
    add(
        "--chunk-size",
        type=int,
        default=SIZE,
        metavar="N",
        help="characters of a passage, at most (default: %(default)d)",
    )
    add("--overlap", type=int, default=OVERLAP, metavar="N", help="characters repeated, at most (default: %(default)d)")
    add(
        "--cleanup",
        choices=CLEANUPS,
        default="incremental",
        help="what of earlier runs is deleted: older passages of the files that are read (incremental; scoped_full: at "
        "the end), also those of all other files (full), nothing (none) (default: %(default)s)",
    )
    add("--force", action="store_true", help="read, embed and write what is unchanged, too")
    add(
        "--index",
        action=argparse.BooleanOptionalAction,
        help=f"make an HNSW index at the end (default: where there are {INDEX_FROM:,} passages or more)",
    )
    add("--dry-run", action="store_true", help="count what would be done; nothing is embedded or written")
    add("--json", type=Path, metavar="OUT", help="write the figures there")


def _run(arguments: argparse.Namespace) -> int:
    if not arguments.paths and not arguments.package:
        raise ConfigurationError("name at least one file, folder or pattern, or a --package")
    if arguments.json is not None:
        check_writable(arguments.json)
    given = _source(arguments), _splitter(arguments), embedder_of(arguments)
    if arguments.dry_run:
        return _told(_estimate(arguments, *given), arguments.json)
    report, indexed = _index(arguments, *given)
    return _told(report, arguments.json, indexed)


def _index(
    arguments: argparse.Namespace, source: Source, split: Splitter, embeddings: Embeddings
) -> tuple[IngestReport, bool]:
    from langgraph_prefetch.ingest import ingest_sync

    with open_store(arguments, embeddings, create=True) as store:
        with told() as progress:
            report = ingest_sync(
                source,
                split,
                embeddings,
                store,
                cleanup=_cleanup(arguments),
                force_update=arguments.force,
                progress=progress,
            )
        wanted = arguments.index
        if wanted is None:  # vectors that no index takes are no error of who did not ask for one
            wanted = store.can_be_indexed and store.count() >= INDEX_FROM
        if wanted:
            store.create_index()
        return report, wanted


def _estimate(arguments: argparse.Namespace, source: Source, split: Splitter, embeddings: Embeddings) -> Estimate:
    from langgraph_prefetch.ingest import estimate

    def counted(store: PgVectorStore | None) -> Estimate:
        return asyncio.run(
            estimate(source, split, embeddings, store, cleanup=_cleanup(arguments), force_update=arguments.force)
        )

    try:
        store = open_store(arguments, embeddings, create=False)
    except UnknownCollectionError:
        return counted(None)  # everything is new
    with store:
        return counted(store)


def _cleanup(arguments: argparse.Namespace) -> Cleanup | None:
    return None if arguments.cleanup == "none" else cast("Cleanup", arguments.cleanup)


def _source(arguments: argparse.Namespace) -> Source:
    from langgraph_prefetch.ingest.sources import JoinedSource, files, python_package

    sources: list[Source] = [python_package(name) for name in arguments.package]
    if arguments.paths:
        sources.append(
            files(
                *arguments.paths,
                root=arguments.root,
                format=arguments.format,
                encoding=arguments.encoding,
                text_field=arguments.text_field,
                title_field=arguments.title_field,
                follow_links=arguments.follow_links,
            )
        )
    return sources[0] if len(sources) == 1 else JoinedSource(sources=tuple(sources))


def _splitter(arguments: argparse.Namespace) -> Splitter:
    from langgraph_prefetch.ingest.splitting import default_splitter

    return default_splitter(size=arguments.chunk_size, overlap=arguments.overlap)


def _told(result: IngestReport | Estimate, out: Path | None, indexed: bool | None = None) -> int:
    print(result)
    if indexed:
        print("index: HNSW")
    if out is not None:
        write(out, json.dumps(_figures(result), indent=2, default=str) + "\n")
    found = result.documents + result.unchanged
    if not found and result.skipped_count:
        raise ConfigurationError("nothing could be read of what was named; the reasons are above")
    return 0


def _figures(result: IngestReport | Estimate) -> dict[str, Any]:
    figures = asdict(result)
    figures.pop("trace", None)
    return figures
