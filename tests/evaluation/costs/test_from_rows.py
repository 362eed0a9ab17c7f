"""From rows to usage and time: what ran is counted once, what failed is unknown, and pairs are pairs."""

from decimal import Decimal

import pytest

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.evaluation.costs.bill import bill
from langgraph_prefetch.evaluation.costs.compare import difference, saved_seconds
from langgraph_prefetch.evaluation.costs.deployment import Deployment, deployment
from langgraph_prefetch.evaluation.costs.from_rows import usage_of
from langgraph_prefetch.evaluation.costs.price_file import load_prices
from langgraph_prefetch.evaluation.costs.usage import Counted
from langgraph_prefetch.evaluation.rows import Answered, RunRow, SearchRow

PRICES = load_prices("evals/prices.toml")
ELSEWHERE = Deployment(
    requests_per_message=3,
    message_bytes=2_000,
    cache_writes_per_speculation=1,
    cache_reads_per_call=1,
    item_bytes=5_000,
    keep_seconds=3_600,
    worker_vcpus=0.5,
    worker_gb=1,
    embedding_tokens_per_search=10,
)


def search(answered: Answered, seconds: float | None = 0.5) -> SearchRow:
    return SearchRow(query="any", answered=answered, seconds=0.1, retrieval_seconds=seconds)


def row(arm: str, question: str = "q1", **values: object) -> RunRow:
    given = {"seconds": 5.0, "input_tokens": 1_000, "output_tokens": 100} | values
    return RunRow(suite="cost", arm=arm, question_id=question, question="any?", **given)  # type: ignore[arg-type]


WRAPPED = [
    row("wrapped", searches=(search("ready"), search("ran")), speculations=3, wasted=2, seconds=4.0),
    row("wrapped", "q2", searches=(search("late", 0.7),), speculations=1, wasted=0, wasted_input_tokens=50),
]
BARE = [row("bare", searches=(search("ran"), search("ran"))), row("bare", "q2", searches=(search("ran"),))]


def test_every_search_is_counted_once() -> None:
    """Those that ran, and all that were started early; the ones that answered nothing on their own."""
    usage = usage_of(WRAPPED, Deployment(), PRICES)
    assert [usage.retrievals.known, usage.wasted_retrievals.known] == [Decimal(3), Decimal(2)]
    assert [usage.input_tokens.known, usage.wasted_input_tokens.known] == [Decimal(2_000), Decimal(50)]
    assert usage.questions == 2
    bare = usage_of(BARE, Deployment(), PRICES)
    assert [bare.retrievals.known, bare.wasted_retrievals.known] == [Decimal(3), Decimal(0)]


def test_in_one_process_there_is_no_queue_and_no_worker() -> None:
    """Nothing that is not used has a line."""
    made = bill("wrapped", usage_of(WRAPPED, Deployment(), PRICES), PRICES, model="example-large")
    assert {line.group for line in made.lines} == {"model", "retrieval"}


def test_speculations_that_run_elsewhere_have_their_lines() -> None:
    """Queue, table and worker by the speculation, look-ups by the call, vectors of queries by the search."""
    usage = usage_of(WRAPPED, ELSEWHERE, PRICES)
    assert usage.queue_requests.known == 3 * 4
    assert usage.cache_reads.known == 3 * 2  # items of 5,000 bytes, units of 4,096
    assert usage.cache_writes.known == 4 * 5  # units of 1,024
    assert usage.cache_gb_months.known == Decimal("0.000000027778")  # 4 * 5,000 * 3,600 / (10**9 * 2,592,000)
    seconds = Decimal("0.566667")  # the mean of 0.5, 0.5 and 0.7
    assert usage.worker_vcpu_seconds.known == 4 * seconds * Decimal("0.5")
    assert usage.worker_gb_seconds.known == 4 * seconds
    assert usage.embedding_tokens.known == 5 * 10
    bare = usage_of(BARE, ELSEWHERE, PRICES)
    assert (bare.queue_requests, bare.cache_reads, bare.worker_gb_seconds) == (Counted(), Counted(), Counted())
    assert bare.embedding_tokens.known == 30


def test_a_run_that_failed_or_did_not_tell_is_unknown() -> None:
    """What it used is not 0; what its arm never uses is."""
    failed = [*WRAPPED, row("wrapped", "q3", error="TimeoutError"), row("wrapped", "q4", input_tokens=None)]
    usage = usage_of(failed, ELSEWHERE, PRICES)
    assert usage.questions == 4
    assert usage.input_tokens == Counted(known=Decimal(2_000), unknown_runs=2)
    assert usage.output_tokens.unknown_runs == 1
    assert usage.retrievals == Counted(known=Decimal(3), unknown_runs=1)
    assert usage.queue_requests.unknown_runs == 1
    bare = usage_of([*BARE, row("bare", "q3", error="TimeoutError")], ELSEWHERE, PRICES)
    assert bare.retrievals.unknown_runs == 1
    assert bare.queue_requests.complete
    assert bare.wasted_retrievals.complete


def test_a_model_that_was_called_has_read_something() -> None:
    """A provider that says 0 has not told; a run without a model call has used no tokens."""
    called, never = row("bare", model_calls=2, input_tokens=0), row("bare", "q2", input_tokens=0, output_tokens=0)
    usage = usage_of([called, never], Deployment(), PRICES)
    assert usage.input_tokens == Counted(unknown_runs=1)
    assert usage.output_tokens == Counted(known=Decimal(100))


def test_tokens_from_a_prompt_cache_are_priced_apart() -> None:
    """They are a part of what was read, also where they are all of it."""
    rows = [row("bare", cached_input_tokens=400, model_calls=1), row("bare", "q2", cached_input_tokens=1_000)]
    usage = usage_of(rows, Deployment(), PRICES)
    assert usage.input_tokens == Counted(known=Decimal(600))
    assert usage.cached_input_tokens == Counted(known=Decimal(1_400))
    made = bill("bare", usage, PRICES, model="example-large")
    assert {line.name: line.amount for line in made.lines}["model input, cached"] == Decimal("0.00042")


def test_money_per_saved_second() -> None:
    """2 wasted searches and 50 wasted tokens, for half a second a question."""
    bills = [
        bill(name, usage_of(rows, Deployment(), PRICES), PRICES, model="example-large")
        for name, rows in (("bare", BARE), ("wrapped", WRAPPED))
    ]
    found = difference(*bills)
    assert dict(found.lines)["wasted retrievals"] == Decimal(2)
    assert found.total == Decimal("2.075")
    assert saved_seconds(BARE, WRAPPED) == (1.0, 0.0)
    assert found.per_saved_second(0.5) == Decimal("0.00415")
    assert found.per_saved_second(0.0) is None
    assert found.per_saved_second(-1.0) is None


def test_pairs_are_of_one_question_and_only_of_runs_with_an_answer() -> None:
    """A failed run's time is not used, and neither is that of the run it would have been compared with."""
    bare = [row("bare"), row("bare", "q2", error="any"), row("bare", "q3", warm=True)]
    bare.append(row("bare", "q4"))
    wrapped = [
        row("wrapped", seconds=3.0),
        row("wrapped", "q2"),
        row("wrapped", "q3"),
        row("wrapped", "q4", error="any"),
    ]
    assert saved_seconds(bare, wrapped) == (2.0,)


def test_a_deployment_is_read_strictly() -> None:
    """Unknown names and what is no count are errors."""
    assert deployment({}) == Deployment()
    assert deployment({"worker_vcpus": 0.25}).assumptions() == ("worker vcpus: 0.25",)
    with pytest.raises(ConfigurationError, match=r"deployment\.worker_cpus.*Did you mean 'worker_vcpus'"):
        deployment({"worker_cpus": 1})
    with pytest.raises(ConfigurationError, match="keep_seconds must be a finite number from 0"):
        deployment({"keep_seconds": -1})
    with pytest.raises(ConfigurationError, match="message_bytes must be a whole number"):
        deployment({"message_bytes": 0.5})
    with pytest.raises(ConfigurationError, match="messages_per_request must be at least 1"):
        deployment({"messages_per_request": 0})
