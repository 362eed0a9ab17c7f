"""The command: its options, the order of its work, what it says."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from langgraph_prefetch.demo.agent import FIRST_TOKEN_SECONDS, scripted_model
from langgraph_prefetch.demo.corpus import passages
from langgraph_prefetch.demo.figures import Figures
from langgraph_prefetch.demo.filling import filled_store
from langgraph_prefetch.demo.questions import QUESTIONS
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.demo.session import Session
from langgraph_prefetch.demo.settings import DemoSettings
from langgraph_prefetch.demo.table import table
from langgraph_prefetch.errors import ConfigurationError, DemoError
from langgraph_prefetch.evaluation.named_model import named_model

ADDED, LOCAL = "all questions", "without added latency"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    default = DemoSettings()
    add = parser.add_argument
    add("--questions", type=int, default=default.questions, metavar="N", help="the first N of %(default)d")
    add(
        "--latency",
        type=float,
        default=default.latency_seconds,
        metavar="SECONDS",
        help="added to every search, since a local one leaves nothing to hide (default: %(default)g, the median of "
        "recorded web searches)",
    )
    add(
        "--tokens-per-second",
        type=float,
        default=default.tokens_per_second,
        metavar="N",
        help="of the scripted model (default: %(default)g)",
    )
    add("--model", metavar="NAME", help="a model as LangChain names it, say openai:gpt-5-mini, in place of the script")
    add("--json", type=Path, metavar="OUT", help="write the figures there")


def run(arguments: argparse.Namespace) -> int:
    """Run the demo.

    Returns:
        0; 1 if the scripted agent answered differently when wrapped, or a served passage was not the search's own.

    Raises:
        ConfigurationError: an option out of its range, a model that cannot be made, an output that cannot be written.
        DemoError: this Python has no documentation strings, or the model fails.
        EmbeddedServerError: the server does not start.
    """
    settings = DemoSettings(
        questions=arguments.questions,
        latency_seconds=arguments.latency,
        tokens_per_second=arguments.tokens_per_second,
        model=arguments.model,
    )
    if arguments.json is not None:
        _check_writable(arguments.json)
    asked = QUESTIONS[: settings.questions]
    model = named_model(settings.model) if settings.model else scripted_model(asked, settings.tokens_per_second)
    _say("reading the documentation of this Python's standard library ...")
    corpus = passages()
    if not corpus:
        raise DemoError("this Python has no documentation strings; is it run with -OO?")
    _say(f"starting PostgreSQL, and indexing {len(corpus):,} passages with pgvector ...")
    with postgres(durable=False) as server, filled_store(server.url, corpus) as store:
        session = Session(settings, model, store)
        print(_heading(settings, store.count()), end="\n\n", flush=True)
        with table() as add_row:
            for question in asked:
                add_row(question.topic, Figures.of([session.ask(question)]))
            total, local = session.totals()
            add_row(ADDED, total)
            if local is not None:
                add_row(LOCAL, local)
        print(f"\n{_remarks(settings, total, local, session.search_seconds)}")
    if arguments.json is not None:
        _write(arguments.json, session.as_json())
    return _exit_code(settings, [total, *([local] if local is not None else [])])


def _exit_code(settings: DemoSettings, totals: Sequence[Figures]) -> int:
    # A model of one's own may answer differently twice; what was served must be right in any case.
    return int(any(each.wrong if settings.model else not each.equal for each in totals))


def _heading(settings: DemoSettings, size: int) -> str:
    if settings.model:
        model = f"The model is {settings.model}."
    else:
        model = (
            f"The model is scripted: it streams reasoning written for this demo, {settings.tokens_per_second:g} tokens "
            f"a second after {FIRST_TOKEN_SECONDS:g} s. --model takes a real one."
        )
    search = f"Searches run on PostgreSQL with pgvector (HNSW, {size:,} passages)"
    if settings.latency_seconds:
        search += f" and take {settings.latency_seconds:g} s longer than they do there"
    return f"{model}\n{search}.\nBoth agents are asked each question at the same time."


def _remarks(settings: DemoSettings, total: Figures, local: Figures | None, search_seconds: float) -> str:
    lines = [
        f"Saved {total.saved_seconds:.1f} s of {total.bare_seconds:.1f} s; hidden {total.hidden_seconds:.1f} s of the "
        f"{total.hideable_seconds:.1f} s in which a query stood in the stream before it was asked for.",
        f"Same answers in {total.same_answers} of {total.questions} questions, same searches and passages in "
        f"{total.same_passages}; {total.checked} searches made again, {total.wrong} with another result.",
        f"Served: {total.served_reasoning} from reasoning, {total.served_sealed} once the call's arguments were "
        f"written, which hides little; {total.speculations} speculations started, {total.false_starts} of them in "
        "messages without a search.",
    ]
    if settings.model and not total.equal:
        lines.append("A model may answer differently when asked twice; served passages were checked in any case.")
    if local is not None or not settings.latency_seconds:
        lines.append(
            f"Without added latency a search takes {search_seconds * 1_000:.1f} ms: there is nothing to hide, and "
            "nothing to gain. Prefetching is for searches that take a tenth of a second or more."
        )
    if total.troubles:
        lines.append(f"Troubles: {total.troubles} (see the log of langgraph_prefetch).")
    return "\n".join(lines)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _check_writable(out: Path) -> None:
    if out.is_dir() or not out.parent.is_dir() or not os.access(out if out.exists() else out.parent, os.W_OK):
        raise ConfigurationError(f"cannot write {out}")


def _write(out: Path, figures: object) -> None:
    try:
        out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"cannot write {out}: {error.strerror or type(error).__name__}") from error
