"""The demo's agent on the real clock: how much sooner it answers when wrapped, against what could be hidden.

    python benchmarks/end_to_end.py [--json OUT] [--rounds 6] [--latency 0.5] [--tokens-per-second 50]

Each round asks all questions of the demo of the bare and of the wrapped agent, bare first and wrapped first in turn
(ABBA). The questions of one agent are asked at the same time, as users do, and searches run on the embedded PostgreSQL
with the stated latency added. A pair is one question of one round.

What could be saved is told by events: the hideable seconds of the slowest call of each step, that is the part of its
retrieval between the moment its query stood in the stream and the moment it was asked for. Limit: the time saved is
within 10 % of that. What is lost is told by its reason:

- late: the search began later than its query was readable, since only the following words end a query;
- unguessed: the query was readable but not guessed, and the search began when the call's arguments were written;
- rest: what prefetch itself, waking up, and the machine take.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from langgraph_prefetch.demo.agent import PASSAGES, as_text, make_agent, scripted_model, search_tool
from langgraph_prefetch.demo.corpus import passages
from langgraph_prefetch.demo.figures import Figures
from langgraph_prefetch.demo.filling import filled_store
from langgraph_prefetch.demo.questions import QUESTIONS
from langgraph_prefetch.demo.saving import total
from langgraph_prefetch.demo.server import postgres
from langgraph_prefetch.demo.threads import all_at_once
from langgraph_prefetch.demo.trial import Pair, Said, Trial, Wrapped
from langgraph_prefetch.retrieval import PgVectorStore

LIMIT = 0.10
RESAMPLES = 2_000
TEXTS = [question.text for question in QUESTIONS]


def rounds_of(pairs: Sequence[Pair], rounds: int) -> list[Trial]:
    """All questions in every round, each with a pair of agents of its own."""
    trials: list[Trial] = []
    asked = list(zip(pairs, TEXTS, strict=True))
    for number in range(rounds):
        bare: list[Said] = []
        wrapped: list[Wrapped] = []
        for which in ("bare", "wrapped") if number % 2 == 0 else ("wrapped", "bare"):
            if which == "bare":
                bare = all_at_once([partial(pair.ask_bare, text) for pair, text in asked])
            else:
                wrapped = all_at_once([partial(pair.ask_wrapped, text) for pair, text in asked])
        trials += [pair.trial(one, other) for pair, one, other in zip(pairs, bare, wrapped, strict=True)]
        saved = sum(each.bare.seconds - each.wrapped.seconds for each in trials[-len(TEXTS) :])
        print(f"round {number + 1}: saved {saved:.2f} s in {len(TEXTS)} questions", flush=True)
    return trials


def share(trials: Sequence[Trial]) -> float:
    """Saved / what could be saved, the median over pairs: other work on the machine makes some of them useless."""
    return statistics.median(_saved(each) / each.saving.allowed for each in trials)


def ratio(trials: Sequence[Trial]) -> float:
    """Wrapped / bare, the median over pairs."""
    return statistics.median(each.wrapped.seconds / each.bare.seconds for each in trials)


def interval(trials: Sequence[Trial], figure: Any) -> tuple[float, float]:
    """The bootstrap interval of a figure over pairs, 95 %."""
    generator = random.Random(0)
    found = sorted(figure(generator.choices(trials, k=len(trials))) for _ in range(RESAMPLES))
    return found[int(RESAMPLES * 0.025)], found[int(RESAMPLES * 0.975)]


def _saved(trial: Trial) -> float:
    return trial.bare.seconds - trial.wrapped.seconds


def measured(store: PgVectorStore, rounds: int, latency: float, tokens_per_second: float) -> dict[str, Any]:
    """The figures of one run of the benchmark."""
    model, search = scripted_model(QUESTIONS, tokens_per_second), search_tool(store, latency)
    pairs = [
        Pair(lambda: make_agent(model, search), lambda query: as_text(store.similarity_search(query, k=PASSAGES)))
        for _ in TEXTS
    ]
    pairs[1].ask_at_once(TEXTS[1])  # what is made at the first use is not measured
    trials = rounds_of(pairs, rounds)
    figures, saving = Figures.of(trials), total(each.saving for each in trials)
    saved, n = figures.saved_seconds, len(trials)
    return {
        "pairs": n,
        "latency_seconds": latency,
        "tokens_per_second": tokens_per_second,
        "bare_seconds_median": round(statistics.median(each.bare.seconds for each in trials), 3),
        "wrapped_seconds_median": round(statistics.median(each.wrapped.seconds for each in trials), 3),
        "ratio_median": round(ratio(trials), 4),
        "ratio_interval": [round(each, 4) for each in interval(trials, ratio)],
        "saved_seconds_mean": round(saved / n, 4),
        "allowed_seconds_mean": round(saving.allowed / n, 4),
        "share_of_allowed": round(share(trials), 4),
        "share_interval": [round(each, 4) for each in interval(trials, share)],
        "share_of_sum": round(saved / saving.allowed, 4),
        "lost_late_seconds_mean": round(saving.late / n, 4),
        "lost_unguessed_seconds_mean": round(saving.unguessed / n, 4),
        "lost_rest_seconds_mean": round((saving.hidden - saved) / n, 4),
        "equal": figures.equal,
        "coverage": figures.coverage,
        "accuracy": figures.accuracy,
        "amplification": figures.amplification,
        "limit": LIMIT,
        "held": abs(1 - share(trials)) <= LIMIT,
    }


def text(figures: dict[str, Any]) -> str:
    """The figures for people."""
    low, high = figures["ratio_interval"]
    least, most = figures["share_interval"]
    verdict = "held" if figures["held"] else "NOT HELD"
    return (
        f"end to end, medians of {figures['pairs']} pairs: bare {figures['bare_seconds_median']} s, wrapped "
        f"{figures['wrapped_seconds_median']} s; wrapped / bare {figures['ratio_median']} ({low} to {high})\n"
        f"saved of what could be hidden: {figures['share_of_allowed']:.1%} ({least:.1%} to {most:.1%}), limit: within "
        f"{LIMIT:.0%}: {verdict}; all together {figures['saved_seconds_mean']} s of "
        f"{figures['allowed_seconds_mean']} s a question, {figures['share_of_sum']:.1%}\n"
        f"lost a question: {figures['lost_late_seconds_mean']} s started late, "
        f"{figures['lost_unguessed_seconds_mean']} s not guessed, {figures['lost_rest_seconds_mean']} s the rest\n"
        f"answers and passages {'equal' if figures['equal'] else 'NOT EQUAL'}; coverage {figures['coverage']:.0%}, "
        f"accuracy {figures['accuracy']:.0%}, amplification {figures['amplification']:.2f}"
    )


def main() -> None:
    """Print the figures, and write them as JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--rounds", type=int, default=6, help="of all questions, bare and wrapped (14 s each)")
    parser.add_argument("--latency", type=float, default=0.5, help="seconds added to every search")
    parser.add_argument("--tokens-per-second", type=float, default=50.0)
    arguments = parser.parse_args()
    with postgres() as server, filled_store(server.url, passages()) as store:
        figures = measured(store, arguments.rounds, arguments.latency, arguments.tokens_per_second)
    print(text(figures))
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
