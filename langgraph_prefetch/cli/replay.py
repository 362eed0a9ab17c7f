"""``langgraph-prefetch replay``: what prefetch would have done for recorded runs."""

from __future__ import annotations

import argparse
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.files import check_writable, read_recordings, write
from langgraph_prefetch.cli.progress import progress
from langgraph_prefetch.cli.replay_near import (
    add_serve_options,
    bounded_objects,
    bounded_replay,
    bounded_text,
    given_options,
    measure_bounded,
)
from langgraph_prefetch.cli.replay_verified import measure_verified, verified_objects, verified_replay
from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.evaluation.measures import FileMeasures
from langgraph_prefetch.evaluation.replay import replay
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.table import main_table, time_tables
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.evaluation.verified.figures import verified_table
from langgraph_prefetch.intent.cue_file import load_cues
from langgraph_prefetch.intent.cues import CueSet

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = """\
Play recorded agent runs to the real machine, on virtual time, and say what it would have hidden.

A file holds one episode a line, as JSON: {"style", "question", "steps": [{"thought", "action", "query",
"observation"}, ...]} with style one of react_text, think_tags, tool_calls. The model is assumed to write one token
(about four characters) at a steady rate, first the thought and then the action; every search takes the same time; other
tools take none."""

_EXAMPLES = """\
  langgraph-prefetch replay runs.jsonl
  langgraph-prefetch replay runs.jsonl --no-sealed --json figures.json
  langgraph-prefetch replay *.jsonl --tokens-per-second 80 --latency 0.3 --reuse 60
  langgraph-prefetch replay runs.jsonl --tool web_search --tool lookup_article
  langgraph-prefetch replay runs.jsonl --real-time --limit-episodes 5
  langgraph-prefetch replay *.jsonl --serve bounded --epsilon 0.01 --corpus passages.jsonl --embedder minilm
  langgraph-prefetch replay *.jsonl --serve verified"""


def register(commands: Commands) -> None:
    """Add the command."""
    default = ReplaySettings()
    parser = add_command(
        commands,
        "replay",
        "measure on recorded agent runs",
        _run,
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="recorded episodes, one a line")
    add("--tool", action="append", metavar="NAME", help="a recorded action that is a search call (default: search)")
    add("--tokens-per-second", type=float, default=default.tokens_per_second, metavar="N", help="default: %(default)g")
    add(
        "--latency",
        type=float,
        default=default.latency_seconds,
        metavar="SECONDS",
        help="of every search (default: %(default)g)",
    )
    add(
        "--graph-step-seconds",
        type=float,
        default=default.graph_step_seconds,
        metavar="SECONDS",
        help="from the end of the model's message to the call (default: %(default)g)",
    )
    add(
        "--look-every",
        type=float,
        default=default.look_every_seconds,
        metavar="SECONDS",
        help="look at the stream so often, instead of at every token (default: every token)",
    )
    add("--no-sealed", action="store_true", help="reasoning alone: no start from closed arguments or textual actions")
    add("--reuse", type=float, metavar="SECONDS", help="answer repeated equal calls of a run for so long")
    add("--max-guesses", type=int, default=default.max_guesses, metavar="N", help="a step (default: %(default)d)")
    add("--threshold", type=float, metavar="P", help="P(search) from which a guess may start (default: the package's)")
    add("--cues", metavar="FILE", help="cues fitted by `langgraph-prefetch fit` (default: the package's)")
    add("--min-probability", type=float, metavar="P", help="of a guess to be right, at least (default: the package's)")
    add(
        "--gate",
        action=argparse.BooleanOptionalAction,
        default=default.gate,
        help="start a guess only where it is worth its price (default: no gate)",
    )
    add(
        "--cost",
        type=float,
        default=default.cost,
        metavar="PRICE",
        help="of one call, in the unit of --value-of-second (default: %(default)g)",
    )
    add(
        "--value-of-second",
        type=float,
        default=default.value_of_second,
        metavar="VALUE",
        help="what a saved second is worth (default: %(default)g, so that --cost is in saved seconds)",
    )
    add(
        "--inject-collisions",
        action="store_true",
        help="run every episode as many callers at once, in one scope, whose calls look alike: other users, k of other "
        "types (1, True, 1.0, '1') and of equal hashes; wrong answers must stay 0",
    )
    add(
        "--real-time",
        action="store_true",
        help="wait for every token and search, on the real clock: as slow as the runs",
    )
    add("--limit-episodes", type=int, metavar="N", help="play only the first N episodes of each file")
    add_serve_options(parser)
    add("--json", type=Path, metavar="OUT", help="write the figures there, as a list with an object for each file")


def _run(arguments: argparse.Namespace) -> int:
    settings = ReplaySettings(
        tools=tuple(arguments.tool or ReplaySettings().tools),
        tokens_per_second=arguments.tokens_per_second,
        latency_seconds=arguments.latency,
        graph_step_seconds=arguments.graph_step_seconds,
        sealed=not arguments.no_sealed,
        reuse_seconds=arguments.reuse,
        max_guesses=arguments.max_guesses,
        threshold=arguments.threshold,
        min_probability=arguments.min_probability,
        gate=arguments.gate,
        cost=arguments.cost,
        value_of_second=arguments.value_of_second,
        look_every_seconds=arguments.look_every,
        inject_collisions=arguments.inject_collisions,
    )
    if arguments.limit_episodes is not None:
        require_at_least("--limit-episodes", arguments.limit_episodes, 1)
    if arguments.json is not None:
        check_writable(arguments.json)
    cues = None if arguments.cues is None else load_cues(arguments.cues)
    given = given_options(arguments)
    bounded = bounded_replay(given, arguments.seed, settings.tools) if arguments.serve == "bounded" else None
    recordings = [_first(arguments.limit_episodes, each) for each in read_recordings(arguments.files)]
    verified = None
    if arguments.serve == "verified":
        verified = verified_replay(given, arguments.seed, recordings, settings, cues)
    files = _measure(recordings, settings, cues, real_time=arguments.real_time)
    print(main_table(files))
    for each in files:
        print(f"\n{time_tables(each)}")
    objects = [each.as_json() for each in files]
    if bounded is not None:
        result = measure_bounded(recordings, bounded, cues)
        print(f"\n{bounded_text(result)}")
        objects = _joined(objects, bounded_objects(result, bounded))
        objects[-1]["others"] = [each.as_json() for each in result.rivals]
    if verified is not None:
        tried = measure_verified(recordings, settings, verified, cues, real_time=arguments.real_time)
        names = [each.file for each in recordings]
        print(f"\n{verified_table(tried, names)}")
        objects = _joined(objects, verified_objects(tried, names))
    if arguments.json is not None:
        write(arguments.json, json.dumps(objects, indent=2) + "\n")
    return 0


def _joined(objects: list[dict[str, Any]], added: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Each file's figures with those that are added, and then the objects that are of no one file."""
    files = [{**each, **added.get(each["file"], {})} for each in objects]
    names = {each["file"] for each in objects}
    return files + [{"file": name, **figures} for name, figures in added.items() if name not in names]


def _measure(
    recordings: Sequence[Recording], settings: ReplaySettings, cues: CueSet | None, *, real_time: bool
) -> list[FileMeasures]:
    total = sum(len(recording.episodes) for recording in recordings)
    with progress("replaying", total) as on_episode:
        return [replay(each, settings, cues=cues, on_episode=on_episode, real_time=real_time) for each in recordings]


def _first(limit: int | None, recording: Recording) -> Recording:
    return dataclasses.replace(recording, episodes=recording.episodes[:limit])
