"""``langgraph-prefetch advise``: whether prefetch would help, from one's own traces."""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.files import check_writable, write
from langgraph_prefetch.cli.progress import progress
from langgraph_prefetch.config import require_at_least
from langgraph_prefetch.errors import ConfigurationError, MissingExtraError
from langgraph_prefetch.evaluation.advice.advise import ASSUMED_PRICES, AdviceSettings, advise
from langgraph_prefetch.evaluation.advice.as_json import as_json
from langgraph_prefetch.evaluation.advice.figures import Prices
from langgraph_prefetch.evaluation.advice.near_misses import Corpus
from langgraph_prefetch.evaluation.advice.text import as_text
from langgraph_prefetch.evaluation.advice.values import Advised
from langgraph_prefetch.evaluation.importers.read import FORMATS, read_trace
from langgraph_prefetch.evaluation.importers.values import Trace
from langgraph_prefetch.intent.cue_file import load_cues

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = """\
Say from recorded runs, tool by tool, whether prefetch would help: how early queries can be read, what each serve mode
would hide and cost, which settings to paste, and for which tools to leave it off. The runs are played to the real
machine on virtual time; no model and no tool is called, and no text of a trace is printed.

Read are our own episodes and event files, runs exported from LangSmith, recordings of astream_events (v1, v2) and of
stream_mode="messages", and message lists of a checkpointer, each as JSON or as lines of JSON. The times that they hold
are used; the rest is assumed, and said."""

_EXAMPLES = """\
  langgraph-prefetch advise runs.jsonl
  langgraph-prefetch advise langsmith.json --tool web_search --price-per-call 0.005 --value-of-second 0.02
  langgraph-prefetch advise events.jsonl --prices prices.toml --model my-model --value-of-second 0.02
  langgraph-prefetch advise threads.json --tokens-per-second 80 --latency 0.3 --json advice.json
  langgraph-prefetch advise runs.jsonl --corpus passages.jsonl --embedder minilm --out report"""


def register(commands: Commands) -> None:
    """Add the command."""
    default = AdviceSettings()
    parser = add_command(
        commands,
        "advise",
        "say from recorded runs whether prefetch would help",
        _run,
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    add = parser.add_argument
    add("traces", nargs="+", metavar="TRACES", help="files of one agent's runs")
    add("--format", choices=FORMATS, metavar="NAME", help=f"of all files: {', '.join(FORMATS)} (default: found out)")
    add("--tool", action="append", metavar="NAME", help="a tool that only reads, by your word; the others are left out")
    add(
        "--tokens-per-second",
        type=float,
        default=default.tokens_per_second,
        metavar="N",
        help="of model calls without times (default: %(default)g)",
    )
    add(
        "--latency",
        type=float,
        default=default.latency_seconds,
        metavar="SECONDS",
        help="of tools without recorded durations (default: %(default)g)",
    )
    add(
        "--graph-step-seconds",
        type=float,
        default=default.graph_step_seconds,
        metavar="SECONDS",
        help="from a message to its tools, where that was not recorded (default: %(default)g)",
    )
    add(
        "--reuse",
        type=float,
        default=default.reuse_seconds,
        metavar="SECONDS",
        help="for the mode with reuse (default: %(default)g)",
    )
    add("--cues", metavar="FILE", help="cues fitted by `langgraph-prefetch fit` (default: the package's)")
    add(
        "--price-per-call",
        type=float,
        metavar="PRICE",
        help=f"of a tool's call, in the unit of --value-of-second (default: {ASSUMED_PRICES.call:g} s)",
    )
    add(
        "--value-of-second", type=float, metavar="VALUE", help="what a saved second is worth, in money; starts the gate"
    )
    add("--prices", metavar="FILE", help="a price file, for the price of a retrieval and of --model's tokens")
    add("--model", metavar="NAME", help="with --prices: whose tokens cancelled model calls cost")
    add("--corpus", nargs="+", metavar="FILE", help='passages that the tools search, one {"title", "text"} a line')
    add(
        "--embedder",
        default="hashing",
        metavar="NAME",
        help="with --corpus: hashing, wordllama, minilm or module:object",
    )
    add("--k", type=int, default=5, metavar="K", help="with --corpus: passages a call asks for (default: %(default)d)")
    add("--epsilon", type=float, default=0.01, metavar="SHARE", help="with --corpus: wrong sets, at most (%(default)g)")
    add("--embedding-cache", type=Path, metavar="FOLDER", help="with --corpus: keep vectors there for the next time")
    add("--show-queries", action="store_true", help="print some queries, and constant texts in the code")
    add("--json", type=Path, metavar="OUT", help="write the figures there")
    add(
        "--out",
        type=Path,
        metavar="DIR",
        help="write a report there: report.md, report.html, report.json, and the code as settings.py",
    )


def _run(arguments: argparse.Namespace) -> int:
    settings = _settings(arguments)
    if arguments.json is not None:
        check_writable(arguments.json)
    if arguments.out is not None and arguments.out.exists() and not arguments.out.is_dir():
        raise ConfigurationError(f"cannot write {arguments.out}: it is no folder")
    traces = list(_traces(arguments.traces, arguments.format))
    with progress("replaying", None) as on_play:
        advised = advise(traces, settings, on_play)
    print(as_text(advised), end="")
    if arguments.json is not None:
        write(arguments.json, json.dumps(as_json(advised), indent=2, ensure_ascii=False) + "\n")
    if arguments.out is not None:
        _write_report(advised, arguments.out)
    return 0


def _write_report(advised: Advised, folder: Path) -> None:
    # These draw, and load what draws: only who asks for a report waits for that.
    from langgraph_prefetch.evaluation.advice.report import report_of
    from langgraph_prefetch.evaluation.reporting.write import write_report

    report = report_of(advised)
    try:
        written = write_report(report, folder)
    except MissingExtraError as error:
        print(f"no page, for {error}", file=sys.stderr)
        written = write_report(report, folder, ("json", "markdown"))
    for name, code in (("settings.py", advised.code), ("verified.py", advised.verified_code)):
        (folder / name).unlink(missing_ok=True)  # of an earlier report, which may have advised otherwise
        if code:
            write(folder / name, code)
    print("", *filter(None, (written.markdown, written.html)), sep="\n")


def _traces(paths: Iterable[str], form: str | None) -> Iterable[Trace]:
    for path in paths:
        trace = read_trace(path, form)
        for each in trace.skipped:
            print(f"skipped {each}", file=sys.stderr)
        if trace.skipped_count:
            print(f"{path}: records skipped: {trace.skipped_count}", file=sys.stderr)
        yield trace


def _settings(arguments: argparse.Namespace) -> AdviceSettings:
    require_at_least("--k", arguments.k, 1)
    corpus = None
    if arguments.corpus:
        corpus = Corpus(
            files=tuple(arguments.corpus),
            embedder=arguments.embedder,
            k=arguments.k,
            epsilon=arguments.epsilon,
            cache=arguments.embedding_cache,
        )
    return AdviceSettings(
        tools=tuple(arguments.tool or ()),
        tokens_per_second=arguments.tokens_per_second,
        latency_seconds=arguments.latency,
        graph_step_seconds=arguments.graph_step_seconds,
        reuse_seconds=arguments.reuse,
        prices=_prices(arguments),
        corpus=corpus,
        cues=None if arguments.cues is None else load_cues(arguments.cues),
        show_queries=arguments.show_queries,
    )


def _prices(arguments: argparse.Namespace) -> Prices:
    """Those that were given; without a value of a second a price is in seconds of waiting."""
    call, value = arguments.price_per_call, arguments.value_of_second
    if arguments.prices is None:
        if arguments.model is not None:
            raise ConfigurationError("--model goes with --prices: its tokens have no price otherwise")
        unit = "" if value is None else "money"
        return Prices(
            call=ASSUMED_PRICES.call if call is None and not unit else call or 0.0,
            second=ASSUMED_PRICES.second if value is None else value,
            unit=unit,
        )
    from langgraph_prefetch.evaluation.costs.price_file import load_prices

    prices = load_prices(arguments.prices)
    if value is None:
        raise ConfigurationError(
            f"--prices needs --value-of-second: what a saved second is worth, in {prices.currency}"
        )
    if (stale := prices.stale(datetime.datetime.now(datetime.UTC).date())) is not None:
        print(stale, file=sys.stderr)
    if call is None:
        call = float(prices.retrieval.per_call) if prices.retrieval is not None else 0.0
    model = prices.model(arguments.model) if arguments.model is not None else None
    return Prices(
        call=call,
        second=value,
        token_read=float(model.input_per_million) / 1e6 if model is not None else 0.0,
        token_written=float(model.output_per_million) / 1e6 if model is not None else 0.0,
        unit=prices.currency,
    )
