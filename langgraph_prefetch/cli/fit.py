"""``langgraph-prefetch fit``: cues fitted to one's own recorded runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command
from langgraph_prefetch.cli.files import check_writable, read_recordings, write
from langgraph_prefetch.cli.progress import progress
from langgraph_prefetch.evaluation.fit_trial import (
    FOLDS,
    MIN_CANDIDATES,
    MIN_QUESTIONS,
    MIN_SEARCHES,
    Fitted,
    fit_traces,
)
from langgraph_prefetch.intent.cue_file import cue_text, load_cues
from langgraph_prefetch.intent.cues import default_cues

if TYPE_CHECKING:
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = f"""\
Fit the weights of cues and the probabilities of queries to recorded runs, and say how good they are on questions that
they were not fitted to. Both are drawn towards the cues they start from: what few questions show moves little or not at
all.

It takes {MIN_QUESTIONS} questions, {MIN_SEARCHES} search calls and {MIN_CANDIDATES} candidate queries.
With fewer, or where the fitted cues are no better on the rest, nothing is written and the exit code is 2.

Load the file with langgraph_prefetch.load_cues, for with_prefetch(..., cues=...)."""

_EXAMPLES = """\
  langgraph-prefetch fit runs.jsonl --out cues.json
  langgraph-prefetch fit monday.jsonl tuesday.jsonl --tool web_search --out cues.json
  langgraph-prefetch replay wednesday.jsonl --cues cues.json"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "fit",
        "fit the cues to recorded agent runs",
        _run,
        description=_DESCRIPTION,
        examples=_EXAMPLES,
    )
    add = parser.add_argument
    add(
        "files", nargs="+", metavar="FILE", help="recorded episodes, one a line; see `langgraph-prefetch replay --help`"
    )
    add("--out", type=Path, required=True, metavar="OUT", help="write the fitted cues there")
    add("--tool", action="append", metavar="NAME", help="a recorded action that is a search call (default: search)")
    add("--cues", metavar="FILE", help="cues to start from (default: the package's)")


def _run(arguments: argparse.Namespace) -> int:
    check_writable(arguments.out)
    cues = default_cues() if arguments.cues is None else load_cues(arguments.cues)
    episodes = [episode for each in read_recordings(arguments.files) for episode in each.episodes]
    with progress("fitting", FOLDS + 1) as on_part:
        fitted = fit_traces(episodes, arguments.tool or ["search"], cues, on_part=on_part)
    write(arguments.out, cue_text(fitted.cues, fitted.as_json()))
    print(_table(fitted))
    print(f"\n{fitted.weights} weights and {fitted.rates} rates moved; written to {arguments.out}")
    return 0


def _table(fitted: Fitted) -> str:
    before, after = fitted.before, fitted.after
    rows = (
        ("precision of guesses", before.precision, after.precision),
        ("recall of search calls", before.recall, after.recall),
        ("Brier score (lower is better)", before.brier, after.brier),
        ("calibration error (lower is better)", before.calibration_error, after.calibration_error),
        ("log loss (lower is better)", before.log_loss, after.log_loss),
    )
    head = (
        f"{fitted.questions} questions, {fitted.searches} search calls, {fitted.candidates} candidate queries; "
        f"{FOLDS}-fold cross-validation by question\n{'':36}  before   after"
    )
    return "\n".join((head, *(f"{name:36}  {old:6.4f}  {new:6.4f}" for name, old, new in rows)))
