"""Results that one item does not hold: whole again, or a miss."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from langgraph_prefetch.aws import DynamoDBCache
from langgraph_prefetch.errors import NotDispatchedError
from langgraph_prefetch.jobs import Form, Held, HeldState, Job
from langgraph_prefetch.values import Output
from tests.aws.parts import Place, until

LARGE = Output(os.urandom(600_000).hex(), ["é🌉" * 10])  # nothing that compression could make small


def job_of(cache: DynamoDBCache, name: str) -> Job:
    return Job(
        id=name,
        generation=f"{name}-1",
        tool="search",
        form=Form.MESSAGE,
        arguments={"query": name},
        deadline=cache.now() + 30,
        keep_seconds=60.0,
        scope_id="here",
    )


def kept(cache: DynamoDBCache, name: str, output: Output = LARGE) -> Job:
    job = job_of(cache, name)
    assert asyncio.run(cache.begin(job, here=True)).state is HeldState.ABSENT
    cache.keep(job, output, age=0.1, took=0.1)
    until(lambda: cache.connection.threads.unfinished == 0)
    return job


def found(cache: DynamoDBCache, job: Job) -> Held:
    return asyncio.run(cache.begin(replace(job, generation="another")))


@pytest.fixture
def bucket(place: Place) -> str:
    client = place.aws.client("s3")
    client.create_bucket(Bucket="results")
    client.close()
    return "results"


def with_bucket(place: Place, bucket: str) -> DynamoDBCache:
    return place.cache(bucket=bucket, s3_endpoint_url=place.aws.url, lookup_seconds=10)


def items(place: Place) -> list[dict[str, Any]]:
    client = place.aws.client("dynamodb")
    scanned: list[dict[str, Any]] = client.scan(TableName=place.table)["Items"]
    client.close()
    return scanned


def test_split_over_items(place: Place) -> None:
    """Every item is below what DynamoDB takes, and has its own time to live."""
    cache = place.cache(lookup_seconds=10)
    job = kept(cache, "split")
    assert found(cache, job).output == LARGE
    parts = [each for each in items(place) if "#part#" in each["pk"]["S"]]
    assert len(parts) > 1
    assert all(len(each["body"]["B"]) < 400_000 and "expires_at" in each for each in parts)


def test_in_a_bucket(place: Place, bucket: str) -> None:
    """By reference: one item leads to the object."""
    cache = with_bucket(place, bucket)
    job = kept(cache, "object")
    assert found(cache, job).output == LARGE
    (item,) = items(place)
    assert item["object"]["S"] == "default/object/object-1"
    with pytest.raises(NotDispatchedError):  # a process that was not told of the bucket
        found(place.cache(lookup_seconds=10), job)


def without_a_part(place: Place, client: Any, part: dict[str, Any]) -> None:
    client.delete_item(TableName=place.table, Key={"pk": part["pk"]})


def with_another_part(place: Place, client: Any, part: dict[str, Any]) -> None:
    client.put_item(TableName=place.table, Item=part | {"body": {"B": b"something else"}})


@pytest.mark.parametrize("spoil", [without_a_part, with_another_part])
def test_parts_that_are_not_those_that_were_written(place: Place, spoil: Callable[..., None]) -> None:
    """Missing or changed: nothing is put together from them."""
    cache = place.cache(lookup_seconds=10)
    job = kept(cache, "spoilt")
    client = place.aws.client("dynamodb")
    spoil(place, client, next(each for each in items(place) if "#part#" in each["pk"]["S"]))
    with pytest.raises(NotDispatchedError, match="UnreadableItemError"):
        found(cache, job)


@pytest.mark.parametrize(
    "changes",
    [
        {"v": {"N": "2"}},
        {"v": {"S": "1"}},
        {"expires_at": {"S": "soon"}},
        {"state": {"S": "half done"}},
        {"gen": {"N": "7"}, "state": {"N": "1"}},
    ],
)
def test_items_of_another_version(place: Place, changes: dict[str, Any]) -> None:
    """They are a miss, and the next who wants the search begins it in their place."""
    cache = place.cache(lookup_seconds=10)
    job = kept(cache, "other", Output("small"))
    assert found(cache, job).state is HeldState.READY
    (item,) = items(place)
    place.aws.client("dynamodb").put_item(TableName=place.table, Item=item | changes)
    if "gen" in changes:  # it cannot even be told whose it is
        with pytest.raises(NotDispatchedError):
            found(cache, job)
        return
    assert found(cache, job).state is HeldState.ABSENT


@pytest.mark.parametrize("body", [b"no JSON", b"cos\nsystem\n(S'true'\ntR.", b'{"v":9}'])
def test_bodies_that_are_no_output(place: Place, body: bytes) -> None:
    """A miss; nothing that is stored is ever carried out."""
    cache = place.cache(lookup_seconds=10)
    job = kept(cache, "body", Output("small"))
    (item,) = items(place)
    place.aws.client("dynamodb").put_item(TableName=place.table, Item=item | {"body": {"B": body}})
    with pytest.raises(NotDispatchedError, match="UnreadableItemError"):
        found(cache, job)
