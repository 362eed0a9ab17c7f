"""Published and assumed figures, as data. Everything here says where it is from.

Means of traces, shapes of models and the NICs are those of arXiv 2602.21548; FLOPs and bytes of cache follow from the
models' public configurations, and give back that paper's cache-compute ratios (its table 1) within 6 %.
"""

from __future__ import annotations

from langgraph_prefetch.serving.disaggregated.hardware import NodeKind, ServedModel, TraceShape

CALIBRATED_FLOPS = 573e12
"""Of one GPU in prefill: the one constant that is fitted, on 1.87x for the 660B model on 2 prefill and 4 decode
nodes with 2,048 agents of the 64K trace. It is 29 % of what a Hopper GPU does at most in 8 bits."""

HOPPER_NODE = NodeKind(
    name="hopper",
    gpus=8,
    compute_nic=50e9,
    storage_nic=50e9,
    memory=500e9,
    hbm_bytes=141e9,
    flops=CALIBRATED_FLOPS,
    source=(
        "arXiv 2602.21548 sections 4.2 and 7.2: 8 Hopper GPUs, 8 + 1 NICs of 400 Gb/s, about 500 GB/s of memory."
        " Assumed: 141 GB for each GPU (the paper says only Hopper; 80 GB would not hold the 32B"
        " model in 16 bits and a longest context beside it). Fitted: FLOP/s."
    ),
)

MOE_660B = ServedModel(
    name="DeepSeek-V3.2 660B",
    cache_bytes_per_token=61 * (512 + 64 + 128),
    active_parameters=37e9,
    attention_flops=61 * 2048 * 128 * 2 * (576 + 512),
    attention_flops_per_token=61 * 64 * 128 * 2,
    weight_bytes=671e9,
    sharded=True,
    seconds_per_token=0.036,
    source=(
        "public configuration: 61 layers, latent 512 + 64, index key 128, FP8; 37e9 active parameters; sparse attention"
        " over 2,048 tokens, 128 heads; indexer of 64 heads of 128. Seconds per token: arXiv 2602.21548 table 3."
    ),
)
MOE_27B = ServedModel(
    name="27B, the same architecture",
    cache_bytes_per_token=30 * (512 + 64 + 64),
    active_parameters=4.3e9,
    attention_flops=30 * 1024 * 32 * 2 * (576 + 512),
    attention_flops_per_token=30 * 32 * 64 * 2,
    weight_bytes=27e9,
    sharded=True,
    seconds_per_token=0.020,
    source=(
        "arXiv 2602.21548 appendix A.2: 30 layers, hidden 2,560, 72 experts of 1,536, 6 + 2 active, 32 heads, indexer"
        " of 32 heads of 64, top 1,024. Counted from that: 4.3e9 active parameters. Assumed: latent 512 + 64, as in the"
        " 660B model; seconds per token."
    ),
)
DENSE_32B = ServedModel(
    name="Qwen2.5-32B",
    cache_bytes_per_token=64 * 2 * 8 * 128 * 2,
    active_parameters=31e9,
    attention_flops=0.0,
    attention_flops_per_token=64 * 40 * 128 * 4,
    weight_bytes=65e9,
    sharded=False,
    seconds_per_token=0.030,
    source=(
        "public configuration: 64 layers, 40 heads, 8 of keys and values, of 128, FP16; 31e9 parameters without"
        " embeddings. Assumed: seconds per token. Each GPU holds all weights (arXiv 2602.21548 section 7.2:"
        " data parallel)."
    ),
)
MODELS = (MOE_660B, MOE_27B, DENSE_32B)

_TABLE_2 = "arXiv 2602.21548 table 2"
AGENTS_32K = TraceShape(
    name="32K", max_tokens=32_768, turns=60, appended=608, generated=148, total=28_639, context=17_183, source=_TABLE_2
)
AGENTS_48K = TraceShape(
    name="48K", max_tokens=49_152, turns=106, appended=474, generated=172, total=42_607, context=25_120, source=_TABLE_2
)
AGENTS_64K = TraceShape(
    name="64K", max_tokens=65_536, turns=157, appended=429, generated=176, total=55_958, context=32_721, source=_TABLE_2
)
TRACES = (AGENTS_32K, AGENTS_48K, AGENTS_64K)
