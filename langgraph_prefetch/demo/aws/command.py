"""The command: its options, the order of its work, what it says."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.demo.agent import FIRST_TOKEN_SECONDS, PASSAGES, as_text, make_agent, search_tool
from langgraph_prefetch.demo.aws import bedrock
from langgraph_prefetch.demo.aws.parts import WORKERS, Parts, parts
from langgraph_prefetch.demo.corpus import passages
from langgraph_prefetch.demo.figures import Figures
from langgraph_prefetch.demo.questions import QUESTIONS
from langgraph_prefetch.demo.settings import DemoSettings
from langgraph_prefetch.demo.table import table
from langgraph_prefetch.demo.trial import Pair, Trial
from langgraph_prefetch.errors import DemoError, PrefetchError

DESCRIPTION = """\
The demo's agent bare and wrapped, across processes on this machine: its model behind a local Bedrock, its searches sent
through SQS to two worker processes, their results in DynamoDB. Everything is on loopback, started and ended here."""
INTERRUPTED = 130


def main(words: Sequence[str] | None = None) -> int:
    """Run it.

    Returns:
        0; 1 if the agent answered differently when wrapped, or a served passage was not the search's own; 2 if it was
        used wrongly or cannot run here; 130 after Ctrl-C.
    """
    arguments = _parser().parse_args(words)
    try:
        return run(arguments)
    except PrefetchError as error:
        _say(f"langgraph-prefetch: {error}")
        return 2
    except KeyboardInterrupt:
        _say("interrupted")
        return INTERRUPTED


def run(arguments: argparse.Namespace) -> int:
    """See ``main``.

    Raises:
        ConfigurationError: an option out of its range.
        DemoError: something cannot be started here.
    """
    settings = DemoSettings(
        questions=arguments.questions,
        latency_seconds=arguments.latency,
        tokens_per_second=arguments.tokens_per_second,
    )
    asked = QUESTIONS[: settings.questions]
    corpus = passages()
    if not corpus:
        raise DemoError("this Python has no documentation strings; is it run with -OO?")
    _say(f"starting PostgreSQL, SQS and DynamoDB, {WORKERS} workers and Bedrock; indexing {len(corpus):,} passages ...")
    with parts(arguments.server, asked, corpus, settings) as at:
        executor, cache = at.executor(), at.cache()
        pair = _pair(at, settings, executor=executor, cache=cache)
        print(_heading(settings, at), end="\n\n", flush=True)
        trials: list[Trial] = []
        with table() as add_row:
            for question in asked:
                trials.append(pair.ask_at_once(question.text))
                add_row(question.topic, Figures.of(trials[-1:]))
            total = Figures.of(trials)
            add_row("all questions", total)
        print(f"\n{_remarks(total, at, cache)}", flush=True)
        executor.close()
        cache.close()
    for number, worker in enumerate(at.workers, start=1):
        print(f"Worker {number} {worker.lines[-1] if worker.lines else 'said nothing'}.")
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(total.as_json(), indent=2) + "\n", encoding="utf-8")
    return int(not total.equal)


def _pair(at: Parts, settings: DemoSettings, **options: Any) -> Pair:
    model, search = bedrock.model(at.bedrock.url), search_tool(at.store, settings.latency_seconds)
    return Pair(
        lambda: make_agent(model, search),
        lambda query: as_text(at.store.similarity_search(query, k=PASSAGES)),
        **options,
    )


def _heading(settings: DemoSettings, at: Parts) -> str:
    return (
        f"The model is ChatBedrockConverse on a local Bedrock, scripted: it streams reasoning, "
        f"{settings.tokens_per_second:g} tokens a second after {FIRST_TOKEN_SECONDS:g} s.\n"
        f"The bare agent searches PostgreSQL in its own process; the wrapped one's early searches go through SQS to "
        f"{len(at.workers)} worker processes, and their results come by way of DynamoDB.\n"
        f"A search takes {settings.latency_seconds:g} s longer than the database does. Both agents are asked each "
        "question at the same time."
    )


def _remarks(total: Figures, at: Parts, cache: DynamoDBCache) -> str:
    read = cache.connection.latency.mean
    return "\n".join(
        [
            f"Saved {total.saved_seconds:.1f} s of {total.bare_seconds:.1f} s; hidden {total.hidden_seconds:.1f} s of "
            f"the {total.hideable_seconds:.1f} s in which a query stood in the stream before it was asked for.",
            f"Same answers in {total.same_answers} of {total.questions} questions, same searches and passages in "
            f"{total.same_passages}; {total.checked} searches made again, {total.wrong} with another result.",
            f"{total.speculations} searches were sent; one look into the table takes "
            f"{0.0 if read is None else read * 1_000:.1f} ms; messages left in the queues: {at.messages_left()}.",
        ]
    )


def _parser() -> argparse.ArgumentParser:
    default = DemoSettings()
    parser = argparse.ArgumentParser(prog="python -m langgraph_prefetch.demo.aws", description=DESCRIPTION)
    add = parser.add_argument
    add("--server", type=Path, required=True, metavar="PROGRAM", help="ministack; scripts/aws-server.sh installs it")
    add("--questions", type=int, default=default.questions, metavar="N", help="the first N of %(default)d")
    add("--latency", type=float, default=default.latency_seconds, metavar="SECONDS", help="added to every search")
    add("--tokens-per-second", type=float, default=default.tokens_per_second, metavar="N", help="of the model")
    add("--json", type=Path, metavar="OUT", help="write the figures there")
    return parser


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
