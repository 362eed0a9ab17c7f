"""What is wrong at start is said at start, in one sentence that says what to do."""

from collections.abc import Callable
from typing import Any

import pytest

from langgraph_prefetch import ConfigurationError, with_prefetch
from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.aws.worker import Searches, WorkerSettings, load_retriever
from langgraph_prefetch.cli import main
from langgraph_prefetch.errors import (
    CredentialsError,
    QueueUnusableError,
    RemoteToolError,
    RetrieverError,
    TableUnusableError,
)
from langgraph_prefetch.testing.local_aws import REGION
from tests.aws import searching
from tests.aws.parts import Faults, Place
from tests.aws.test_agents import agent_of

NAME = "tests.aws.searching"


def test_the_executor_needs_a_cache(place: Place) -> None:
    with pytest.raises(ConfigurationError, match=r"add cache=DynamoDBCache"):
        with_prefetch(agent_of(), tools=["search"], executor=place.executor())


def test_a_cache_alone_needs_a_scope_and_a_time(place: Place) -> None:
    with pytest.raises(ConfigurationError, match="add scope= and reuse_seconds="):
        with_prefetch(agent_of(), tools=["search"], cache=place.cache())


@pytest.mark.parametrize("name", ["executor", "cache"])
def test_something_else_in_their_place(place: Place, name: str) -> None:
    options: dict[str, Any] = {"executor": place.executor(), "cache": place.cache()} | {name: "a name"}
    with pytest.raises(ConfigurationError, match=f"{name} takes .*, not str"):
        with_prefetch(agent_of(), tools=["search"], **options)


def test_a_tool_that_reads_more_than_a_worker_is_told(place: Place) -> None:
    """A tool that is given the run's configuration is refused, unless it is declared what of it is read."""
    agent = agent_of(tool=searching.tenants)
    with pytest.raises(RemoteToolError, match=r"'config' is the run's configuration; say which values"):
        with_prefetch(agent, tools=["tenants"], executor=place.executor(), cache=place.cache())
    declared = place.executor(configurable=("tenant",))
    with_prefetch(agent, tools=["tenants"], executor=declared, cache=place.cache())
    not_there = place.executor(tools=("search",))
    with_prefetch(agent, tools=["tenants"], executor=not_there, cache=place.cache())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SQSExecutor("searches", region_name=REGION), "takes the URL of an SQS queue"),
        (lambda: SQSExecutor("https://q", tools="search", region_name=REGION), r"tuple of names.*\('search',\)"),
        (lambda: SQSExecutor("https://q"), "no AWS region is known"),
        (lambda: DynamoDBCache("", region_name=REGION), "table takes a name"),
        (lambda: DynamoDBCache("t", namespace="a#b", region_name=REGION), "without '#'"),
        (lambda: DynamoDBCache("t", lookup_seconds=0, region_name=REGION), "lookup_seconds must be at least 0.001"),
        (lambda: DynamoDBCache("t", endpoint_url="no url", region_name=REGION), "no AWS client can be made"),
        (lambda: WorkerSettings(wait_seconds=30), "20 at most"),
        (lambda: WorkerSettings(concurrency=0), "concurrency must be at least 1"),
    ],
)
def test_values_out_of_range(make: Callable[[], object], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigurationError, match=message):
        make()


def test_no_such_queue_or_table(place: Place) -> None:
    """The message names what is missing, and where it was looked for."""
    reach = place.aws.reach()
    with pytest.raises(
        QueueUnusableError, match=rf"no-queue: there is no such thing in region {REGION}.*Check the URL"
    ):
        SQSExecutor(place.queue.rpartition("/")[0] + "/no-queue", **reach).check()
    with pytest.raises(TableUnusableError, match="'no-table': there is no such thing in region"):
        DynamoDBCache("no-table", **reach).check()
    place.executor().check()
    place.cache().check()


def test_a_table_with_another_key(place: Place) -> None:
    client = place.aws.client("dynamodb")
    client.create_table(
        TableName="other-key",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}, {"AttributeName": "at", "KeyType": "RANGE"}],
        AttributeDefinitions=[
            {"AttributeName": "id", "AttributeType": "S"},
            {"AttributeName": "at", "AttributeType": "N"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    with pytest.raises(TableUnusableError, match=r"its key is id \(HASH, S\), at \(RANGE, N\).*partition key 'pk'"):
        DynamoDBCache("other-key", **place.aws.reach()).check()


@pytest.mark.parametrize("code", ["ExpiredTokenException", "UnrecognizedClientException", "AccessDeniedException"])
def test_credentials_that_will_not_do(place: Place, code: str) -> None:
    cache = place.cache()
    Faults(cache.connection.client, code)
    with pytest.raises(CredentialsError, match=f"credentials do not do .{code}"):
        cache.check()


def test_no_credentials(place: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    cache = DynamoDBCache(place.table, region_name=REGION, endpoint_url=place.aws.url)
    with pytest.raises(CredentialsError, match="NoCredentialsError"):
        cache.check()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("search", "module:object, such as"),
        ("no_such_module:search", r"'no_such_module' .* cannot be imported .ModuleNotFoundError"),
        (f"{NAME}:serch", "has no 'serch'"),
        (f"{NAME}:not_callable", "not with int"),
        (f"{NAME}:two_arguments", "takes one argument, the Job"),
        (f"{NAME}:Shelf", "not with ABCMeta|not with ModelMetaclass|not with"),
    ],
)
def test_retrievers_that_cannot_search(name: str, message: str) -> None:
    with pytest.raises(RetrieverError, match=message):
        Searches(load_retriever(name), Threads("test", 1))


def test_the_worker_says_it_in_a_line(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2 and one line, before anything is taken from the queue."""
    for name, value in place.aws.environment().items():
        monkeypatch.setenv(name, value)
    common = ["worker", "--queue", place.queue, "--retriever", f"{NAME}:every", "--table"]
    assert main([*common, "no-table"]) == 2
    assert main([*common, place.table, "--retriever", f"{NAME}:nothing"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["langgraph-prefetch"] * 2
    assert "no-table" in lines[0]
