"""What ``langgraph-prefetch replay --serve verified`` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langgraph_prefetch.cli.progress import progress
from langgraph_prefetch.config import NextCalls, Price, require_at_least
from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.settings import ReplaySettings
from langgraph_prefetch.evaluation.traces import Recording
from langgraph_prefetch.evaluation.verified.figures import Tried, as_json, by_file
from langgraph_prefetch.evaluation.verified.replay import VerifiedReplay, World, check_measurable, replay_verified
from langgraph_prefetch.intent.cues import CueSet, default_cues

_OF_CORPUS = ("embedder", "n", "anchors", "k", "epsilon", "confidence", "embedding_cache")


def verified_replay(
    given: Mapping[str, Any], seed: int, recordings: Sequence[Recording], settings: ReplaySettings, cues: CueSet | None
) -> VerifiedReplay:
    """What is asked for by the options that were ``given``; a corpus is read and embedded.

    Raises:
        ConfigurationError: a value out of its range, an option that needs another one, or nothing to be measured.
        TraceFileError: a file of passages cannot be read.
        MissingExtraError: a library is not installed that a corpus needs.
    """
    for name in _OF_CORPUS:
        if name in given and "corpus" not in given:
            raise ConfigurationError(f"--{name.replace('_', '-')} goes with --corpus")
    rules: dict[str, Any] = {}
    if "max_wasted_share" in given:
        rules["max_wasted_share"] = given["max_wasted_share"]
    if "token_price" in given:
        rules["token_price"] = Price(money=given["token_price"])
    world = _world(given, seed, settings, cues) if "corpus" in given else None
    verified = VerifiedReplay(rules=NextCalls(**rules), world=world)
    check_measurable(recordings, settings, verified)
    return verified


def _world(given: Mapping[str, Any], seed: int, settings: ReplaySettings, cues: CueSet | None) -> World:
    from langgraph_prefetch.evaluation.near.guesses import NearWorld, StoredResults
    from langgraph_prefetch.evaluation.near.store import open_store
    from langgraph_prefetch.near.settings import NearSettings

    near = NearSettings(**{name: given[name] for name in ("epsilon", "confidence", "n", "anchors") if name in given})
    k = given.get("k", 5)
    require_at_least("k", k, 1)
    store = open_store(given["corpus"], given.get("embedder", "hashing"), given.get("embedding_cache"))
    return NearWorld(
        store=store,
        settings=near,
        results=StoredResults(store, k),
        tools=settings.tools,
        cues=default_cues() if cues is None else cues,
        seed=seed,
    )


def measure_verified(
    recordings: Sequence[Recording],
    settings: ReplaySettings,
    verified: VerifiedReplay,
    cues: CueSet | None,
    *,
    real_time: bool,
) -> tuple[Tried, ...]:
    """Play the recordings once more, with private model calls."""
    total = sum(len(recording.episodes) for recording in recordings)
    with progress("next model calls", total) as on_episode:
        return replay_verified(recordings, settings, verified, cues=cues, on_episode=on_episode, real_time=real_time)


def verified_objects(tried: Sequence[Tried], files: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What is added to the JSON object of each file, and the object of all together."""
    return {name: {"verified": as_json(held)} for name, held in by_file(tried, files).items()}
