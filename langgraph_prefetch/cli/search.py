"""``langgraph-prefetch search``: what a passage store finds."""

from __future__ import annotations

import argparse
import json
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.files import check_writable, write
from langgraph_prefetch.cli.passages import add_store_options, embedder_of, open_store
from langgraph_prefetch.config import require_at_least

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_WIDTH, _SHOWN = 100, 300

_DESCRIPTION = """\
Print the passages of a store that are nearest to a query, with their distances (smaller is nearer).

Name the embedder that the store was filled with. It needs the extra `ingest`, and `embedded` for a server of your
own."""

_EXAMPLES = """\
  langgraph-prefetch search 'how do I close a file'
  langgraph-prefetch search 'opening hours' -k 10 --collection notes --embedder minilm"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "search", "search a passage store", _run, description=_DESCRIPTION, examples=_EXAMPLES
    )
    parser.add_argument("query", metavar="QUERY")
    parser.add_argument("-k", type=int, default=4, metavar="N", help="passages, at most (default: %(default)d)")
    add_store_options(parser)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the passages there")


def _run(arguments: argparse.Namespace) -> int:
    require_at_least("-k", arguments.k, 1)
    if arguments.json is not None:
        check_writable(arguments.json)
    with open_store(arguments, embedder_of(arguments), create=False) as store:
        found = store.nearest(arguments.query, arguments.k)
    for hit in found.hits:
        text = textwrap.shorten(hit.text, _SHOWN, placeholder=" ...")
        print(f"{hit.distance:.4f}  {textwrap.fill(text, _WIDTH, subsequent_indent=' ' * 8)}")
    if not found.hits:
        print("nothing found: the store is empty")
    if arguments.json is not None:
        rows = [
            {"id": hit.id, "text": hit.text, "metadata": dict(hit.metadata), "distance": hit.distance}
            for hit in found.hits
        ]
        write(arguments.json, json.dumps(rows, indent=2, ensure_ascii=False) + "\n")
    return 0
