"""Two paths to large blobs and KV caches: simulated beside the published figures, live on this machine, and engines.

Published figures are those of arXiv 2602.21548, from 8-GPU Hopper nodes and production traces; ours are a simulation of
their published shape, with one constant fitted on one figure.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from benchmarks.serving_parts import paths_engine, paths_live
from benchmarks.serving_parts.part import Check, Part, Table
from benchmarks.serving_parts.paths_simulated import (
    LONG,
    SHORT,
    Scale,
    ablation,
    calibrated,
    capacity,
    cluster_with,
    cut_in_step,
    layerwise_cut,
    offline,
    scaled_speedup,
    speedup,
)
from langgraph_prefetch.evaluation.reporting.values import Lines
from langgraph_prefetch.serving.disaggregated.catalogue import (
    AGENTS_64K,
    CALIBRATED_FLOPS,
    DENSE_32B,
    HOPPER_NODE,
    MODELS,
    MOE_27B,
    MOE_660B,
)
from langgraph_prefetch.serving.disaggregated.cluster import BASIC, FULL, Cluster, Loading
from langgraph_prefetch.serving.disaggregated.engine_choice import EngineChooser
from langgraph_prefetch.serving.disaggregated.engine_simulation import Sessions, simulate_engines
from langgraph_prefetch.serving.disaggregated.ratio import pd_range
from langgraph_prefetch.serving.disaggregated.suggest import suggest_pd

TURNS = Loading(layerwise=True, two_paths=True, scheduled=False)
BALANCE_STRIDE = 5


def run(*, short: bool, seed: int) -> Part:
    """All of it."""
    scale = SHORT if short else LONG
    tables: list[Table] = [ratios()]
    checks: list[Check] = []
    figures: dict[str, Any] = {}
    for part in (offline_part, ablation_part, balance_part, online_part):
        table, kept, found = part(scale, seed)
        tables.append(table)
        checks += kept
        figures |= found
    tables += [split_table(scale, seed), engine_table(seed)]
    live, kept, found = paths_live.run(short=short)
    tables.append(live)
    checks += kept
    figures |= found
    engine, found = paths_engine.run(short=short)
    tables.append(engine)
    figures |= found
    return Part(
        name="paths", tables=tables, checks=checks, figures=figures, plots=(ablation_plot(figures["ablation"]),)
    )


def ratios() -> Table:
    """The closed formula, and what the models' shapes give back."""
    found = pd_range(8, 1, 500, 50)
    rows = [("P/D without bottleneck (g=8, s=1, M=500, B=50)", f"{found.least} ... {found.most}", "1/7 ... 7/2", "")]
    published = {"DeepSeek-V3.2 660B": "13-36", "Qwen2.5-32B": "117-267"}
    for model in MODELS:
        low, high = (model.cache_compute_ratio(tokens, 429) for tokens in (16_384, 65_536))
        wanted = published.get(model.name, "not given")
        rows.append((f"GB/PFLOP, {model.name}, 16K to 64K", f"{low:.0f}-{high:.0f}", wanted, "counted from its shape"))
    return Table(caption="Arithmetic", head=("what", "here", "published", "why"), rows=tuple(rows))


def offline_part(scale: Scale, seed: int) -> tuple[Table, list[Check], dict[str, Any]]:
    """One figure fitted, the others predicted."""
    stride = scale.stride
    fitted = calibrated(stride, seed)
    rows, figures, checks = [], {"fitted_flops": fitted}, []

    def row(name: str, found: float, published: str, why: str) -> None:
        rows.append((name, f"{found:.2f}x", published, why))
        figures[name] = found

    row("660B, 2P4D, 2,048 agents", speedup(MOE_660B, (2, 4), 2048, stride, seed), "up to 1.87x", "FITTED on this")
    row(
        "660B, 2P4D, 1,024 agents",
        speedup(MOE_660B, (2, 4), 1024, stride, seed),
        "up to 1.87x",
        "fewer agents keep fewer links busy",
    )
    found = {}
    for split in ((1, 1), (2, 1), (1, 2)):
        found[split] = speedup(MOE_27B, split, 2048, stride, seed)
    tail = "storage alone counts; their 27B loses time in hand-overs that we take to be ideal"
    row("27B, 1P1D", found[1, 1], "up to 1.78x", tail)
    row("27B, 2P1D", found[2, 1], "", tail)
    row("27B, 1P2D", found[1, 2], "up to 2.46x", tail)
    row("27B, mean of the three", fmean(found.values()), "1.64x", "theirs is over sizes and traces too")
    dense = speedup(DENSE_32B, (1, 2), 2048, stride, seed)
    row("32B, 1P2D", dense, "as 27B", "262 KB a token: storage alone counts here")
    for factor in (0.5, 2.0):
        row(
            f"660B, turns append x{factor:g}",
            scaled_speedup(factor, stride, seed),
            "1.82x-1.99x",
            "1,024 agents, ours waiting for their own tokens half of the time",
        )
    jct = offline(MOE_660B, (2, 4), FULL, 2048, stride, seed).seconds * stride
    rows.append(("660B, 2P4D, seconds for 2,048 agents", f"{jct:.0f}", "3,167", "predicted, its tail included"))
    bounds = [
        speedup(m, s, 2048, stride, seed) <= 1 + s[1] / s[0]
        for m, s in ((MOE_660B, (2, 4)), (MOE_27B, (1, 1)), (MOE_27B, (2, 1)), (MOE_27B, (1, 2)), (DENSE_32B, (1, 2)))
    ]
    checks += [
        _within(
            "fitted constant, TFLOP/s of a GPU",
            fitted / 1e12,
            0.93 * CALIBRATED_FLOPS / 1e12,
            1.07 * CALIBRATED_FLOPS / 1e12,
        ),
        _within("27B at 1P1D", found[1, 1], 1.6, 2.0),
        _within("32B at 1P2D", dense, 1.7, 3.0),
        Check(what="never above 1 + D/P", measured=f"{sum(bounds)} of {len(bounds)}", wanted="all", kept=all(bounds)),
    ]
    head = ("all agents at once, 64K", "here", "published", "why it differs")
    note = f"fitted: {fitted / 1e12:.0f} TFLOP/s of a GPU, 64K trace, every {stride}th turn; nothing else is tuned"
    return (
        Table(
            caption="Two paths, offline: turns a second until 80 % of them are done",
            head=head,
            rows=tuple(rows),
            note=note,
        ),
        checks,
        figures,
    )


def ablation_part(scale: Scale, seed: int) -> tuple[Table, list[Check], dict[str, Any]]:
    """One part after the other."""
    found = ablation(scale.stride, seed)
    published = ("", "-17.21 %", "-38.19 %", "-45.62 %")
    why = ("", "see below", "the step before is smaller", "")
    rows = tuple(
        (name, f"{-100 * cut or 0:.1f} %", wanted, reason)
        for (name, cut), wanted, reason in zip(found, published, why, strict=True)
    )
    steps = [found[n][1] - found[n - 1][1] for n in (1, 2, 3)]
    check = Check(
        what="the second path is worth most",
        measured=", ".join(f"{100 * step:.1f}" for step in steps) + " points",
        wanted="the second is the largest",
        kept=steps[1] == max(steps),
    )
    cluster = Cluster.of(MOE_660B, HOPPER_NODE, 2, 4)
    ahead = {size: cluster_with(size) for size in (80e9, 60e9)}
    rooms = ", ".join(
        f"{size / 1e9:.0f} GB for {_room(each):.0f} caches -{100 * layerwise_cut(each, scale.stride, seed):.1f} %"
        for size, each in ahead.items()
    )
    in_step = cut_in_step(cluster, AGENTS_64K)
    note = (
        f"Layerwise loading: a prefill GPU of {HOPPER_NODE.hbm_bytes / 1e9:.0f} GB has room for {_room(cluster):.0f}"
        f" mean caches, so that enough of them are read ahead to keep the storage NIC busy without it. With less"
        f" memory: {rooms}. If all GPUs read, load and compute in step, without reading ahead: -{100 * in_step:.1f} %."
        " The published figure lies between; how far their GPUs read ahead is not published."
    )
    head = ("660B, 2P4D, mean of 1,024 and 2,048 agents", "time for 80 % of the turns", "published", "why it differs")
    table = Table(caption="Ablation", head=head, rows=rows, note=note)
    return table, [check], {"ablation": dict(found), "layerwise_in_step": in_step}


def ablation_plot(found: Mapping[str, float]) -> Lines:
    """Part after part, ours beside what is published."""
    return Lines(
        caption="Time saved against basic, part after part (660B, 2P4D): layerwise, two paths, scheduler",
        x="parts in use",
        y="share of the time saved",
        series={
            "here": tuple((float(number), cut) for number, cut in enumerate(found.values())),
            "published": tuple((float(number), cut) for number, cut in enumerate((0.0, 0.1721, 0.3819, 0.4562))),
        },
        note="Why they differ stands below the table of the same figures.",
    )


def _room(cluster: Cluster) -> float:
    return cluster.context_tokens(cluster.prefill[0], cluster.prefill) / AGENTS_64K.context


def balance_part(scale: Scale, seed: int) -> tuple[Table, list[Check], dict[str, Any]]:
    """Most over mean traffic of the storage NICs, in windows of a second.

    From a fifth of the run on: all agents come at once, and until the slower side's queue is full the others carry more
    than their share. A turn that stands for many makes that phase as many times too long: hence the finer stride.
    """
    rows, found = [], {}
    stride = min(scale.stride, BALANCE_STRIDE)
    for name, model, split, published in (
        ("27B, 1P2D (three machines)", MOE_27B, (1, 2), "1.53 -> 1.18"),
        ("660B, 2P4D", MOE_660B, (2, 4), ""),
    ):
        turns, chosen = (
            offline(model, split, loading, 2048, stride, seed).storage_imbalance(begin=0.2) for loading in (TURNS, FULL)
        )
        rows.append((name, f"{turns:.2f} -> {chosen:.2f}", published, "reads are whole, NICs ideal"))
        found[name] = (turns, chosen)
    turns, chosen = found["27B, 1P2D (three machines)"]
    checks = [
        _within("imbalance, sides taking turns", turns, 1.4, 1.6),
        Check(
            what="imbalance with the scheduler",
            measured=f"{chosen:.2f}",
            wanted=f"below {turns:.2f}",
            kept=chosen < turns,
        ),
    ]
    head = ("largest / mean", "taking turns -> scheduler", "published", "why it differs")
    caption = f"Balance of storage NICs (every {stride}th turn)"
    return Table(caption=caption, head=head, rows=tuple(rows)), checks, {"imbalance": found}


def online_part(scale: Scale, seed: int) -> tuple[Table, list[Check], dict[str, Any]]:
    """How many agents a second can come."""
    rows, gains = [], []
    for name, model, split, published in (
        ("27B, 1P1D", MOE_27B, (1, 1), "1.67x"),
        ("660B, 2P4D", MOE_660B, (2, 4), "2.25x"),
    ):
        one, two = (capacity(model, split, loading, scale, seed) for loading in (BASIC, FULL))
        gains.append(two / one)
        rows.append((name, f"{one:.3f} -> {two:.3f}", f"{two / one:.2f}x", published))
    mean = fmean(gains)
    rows.append(("mean", "", f"{mean:.2f}x", "1.96x"))
    head = ("first token within 4 s", "agents/s", "gain", "published")
    note = "theirs: 0.45 agents/s for the 660B model with two paths; no pauses for tools, as there"
    table = Table(caption="Two paths, online", head=head, rows=tuple(rows), note=note)
    return table, [_within("online mean", mean, 1.6, 2.2)], {"online_gains": gains}


def split_table(scale: Scale, seed: int) -> Table:
    """`suggest_pd` on six equal nodes."""
    found = suggest_pd({HOPPER_NODE: 6}, AGENTS_64K, model=MOE_660B, agents=1024, stride=scale.stride, seed=seed)
    rows = tuple((each.name, f"{each.turns_per_second:.1f}", each.limiting_resource) for each in found.tried)
    head = ("split of 6 nodes", "turns/s", "limited by")
    return Table(caption="suggest_pd, 660B, 1,024 agents", head=head, rows=rows, note="the paper runs 2P4D")


def engine_table(seed: int) -> Table:
    """Four engines in simulation, chosen by session, prefix and load."""
    engines = ("a", "b", "c", "d")
    rows = []
    for name, chooser in (("taking turns", None), ("chooser", EngineChooser(engines, characters_per_second=20_000))):
        each = simulate_engines(engines, Sessions(), chooser=chooser, seed=seed)
        rows.append((name, f"{each.mean_seconds:.2f}", f"{each.p95_seconds:.2f}", f"{100 * each.cached_share:.0f} %"))
    head = ("4 engines, 60 sessions of 8 turns", "to first token, s", "p95, s", "cached")
    return Table(caption="Engines by session, prefix and load (simulated)", head=head, rows=tuple(rows))


def _within(what: str, found: float, low: float, high: float) -> Check:
    return Check(what=what, measured=f"{found:.2f}", wanted=f"{low:.2f} to {high:.2f}", kept=low <= found <= high)
