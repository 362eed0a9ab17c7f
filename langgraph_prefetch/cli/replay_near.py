"""The options of ``langgraph-prefetch replay`` that go with ``--serve``, and what bounded serving does."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.cli.progress import progress
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.intent.cues import CueSet

if TYPE_CHECKING:
    from langgraph_prefetch.evaluation.near.bounded import BoundedReplay, BoundedResult

_NEAR = ("corpus", "embedder", "epsilon", "confidence", "n", "anchors", "k", "embedding_cache")
_OPTIONS = {
    **dict.fromkeys(_NEAR, ("bounded", "verified")),
    "splits": ("bounded",),
    "max_wasted_share": ("verified",),
    "token_price": ("verified",),
}
"""Which modes an option goes with."""


def add_serve_options(parser: argparse.ArgumentParser) -> None:
    """Add them; none has a default here, so that one given without its mode is noticed."""
    add = parser.add_argument
    add(
        "--serve",
        choices=("exact", "bounded", "verified"),
        default="exact",
        help="bounded: near misses too (needs --corpus); verified: the next model call, started on guessed results",
    )
    add("--corpus", nargs="+", metavar="FILE", help='passages that are searched, one {"title", "text"} a line')
    add("--embedder", metavar="NAME", help="with --corpus: hashing, wordllama, minilm or module:object (hashing)")
    add("--epsilon", type=float, metavar="SHARE", help="with --corpus: wrong sets, at most (0.01)")
    add("--confidence", type=float, metavar="SHARE", help="with --corpus: that the bound holds (0.9)")
    add("--n", type=int, metavar="N", help="with --corpus: passages fetched around an anchor (500)")
    add("--anchors", type=int, metavar="N", help="with --corpus: fetches of a step, at most (4)")
    add("--k", type=int, metavar="K", help="with --corpus: passages a call asks for (5)")
    add("--splits", type=int, metavar="N", help="with bounded: random halvings of the questions (100)")
    add("--seed", type=int, default=0, metavar="N", help="of all that is random (default: %(default)d)")
    add("--embedding-cache", type=Path, metavar="FOLDER", help="with --corpus: keep vectors there for the next time")
    add("--max-wasted-share", type=float, metavar="SHARE", help="with verified: cancelled calls, at most (0.5)")
    add(
        "--token-price",
        type=float,
        metavar="PRICE",
        help="with verified: of a token, in the unit of --value-of-second (default: tokens are not weighed)",
    )


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those of the options above that were given.

    Raises:
        ConfigurationError: one without its mode.
    """
    given = {name: getattr(arguments, name) for name in _OPTIONS if getattr(arguments, name) is not None}
    for name in given:
        if arguments.serve not in _OPTIONS[name]:
            raise ConfigurationError(f"--{name.replace('_', '-')} goes with --serve {' or '.join(_OPTIONS[name])}")
    return given


def bounded_replay(given: Mapping[str, Any], seed: int, tools: tuple[str, ...]) -> BoundedReplay:
    """What is asked for by the options that were ``given``.

    Raises:
        ConfigurationError: a value out of its range.
        MissingExtraError: numpy is not installed.
    """
    from langgraph_prefetch.evaluation.near.bounded import BoundedReplay
    from langgraph_prefetch.near.settings import NearSettings

    near = {name: given[name] for name in ("epsilon", "confidence", "n", "anchors") if name in given}
    rest: dict[str, Any] = {name: given[name] for name in ("k", "splits") if name in given}
    return BoundedReplay(
        corpus=tuple(given.get("corpus", ())),
        embedder=given.get("embedder", "hashing"),
        near=NearSettings(**near),
        seed=seed,
        cache=given.get("embedding_cache"),
        tools=tools,
        **rest,
    )


def measure_bounded(recordings: Sequence[Recording], settings: BoundedReplay, cues: CueSet | None) -> BoundedResult:
    """Play the recordings once more, with neighbourhoods."""
    from langgraph_prefetch.evaluation.near.bounded import replay_bounded

    total = sum(len(recording.episodes) for recording in recordings)
    with progress("near misses", total) as on_episode:
        return replay_bounded(recordings, settings, cues=cues, on_episode=on_episode)


def bounded_objects(result: BoundedResult, settings: BoundedReplay) -> dict[str, dict[str, Any]]:
    """What is added to the JSON object of each file, and the object of all together."""
    common = result.settings_as_json(settings)
    return {each.file: {**each.as_json(), **common} for each in result.figures}


def bounded_text(result: BoundedResult) -> str:
    """The tables, and what it took."""
    from langgraph_prefetch.evaluation.near.figures import near_table

    cost = result.cost()
    return (
        f"{near_table(result.figures, result.rivals)}\n\n"
        f"{result.identity}, {result.passages} passages; a step: {cost['fetches_per_step']:.2f} fetches, "
        f"{cost['vector_bytes_per_step'] / 1e6:.2f} MB of vectors, {cost['embedded_texts_per_step']:.1f} texts embedded"
    )
