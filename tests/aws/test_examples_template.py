"""The deployment's templates: valid, private, encrypted, and no more rights than the code uses."""

import asyncio
import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor
from langgraph_prefetch.aws.table import Claim
from langgraph_prefetch.aws.worker import Worker, WorkerSettings
from langgraph_prefetch.aws.worker.writes import Writes
from langgraph_prefetch.jobs import Job
from langgraph_prefetch.speculation.flight import FlightState
from langgraph_prefetch.testing.local_aws import REGION
from langgraph_prefetch.values import Output
from tests.aws import searching
from tests.aws.machine import Machine
from tests.aws.parts import Place, until
from tests.aws.templates import EXAMPLES, actions, resources, statements
from tests.aws.test_writes import found as result_of
from tests.aws.test_writes import new_job

BOTH = ("prefetch.yaml", "network.yaml")
SERVICES = {"SQS": "sqs", "DynamoDB": "dynamodb"}
BATCHES = {
    "SendMessageBatch": "SendMessage",
    "DeleteMessageBatch": "DeleteMessage",
    "ChangeMessageVisibilityBatch": "ChangeMessageVisibility",
}
"""IAM knows the single forms alone."""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", BOTH)
def test_the_linter_finds_nothing(name: str) -> None:
    """Offline, with the schemas that it brings."""
    command = [str(Path(sys.executable).with_name("cfn-lint")), "--regions", "eu-central-1", "--", str(EXAMPLES / name)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_queues_are_encrypted_bounded_and_lead_to_the_dead_letters() -> None:
    """Nothing is kept for longer than it is of use, and what nobody can read is kept for two weeks."""
    queues = resources("prefetch.yaml", "AWS::SQS::Queue")
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())
    searches, dead = queues["Searches"], queues["DeadLetters"]
    assert searches["RedrivePolicy"] == {"deadLetterTargetArn": {"GetAtt": "DeadLetters.Arn"}, "maxReceiveCount": 4}
    assert searches["MessageRetentionPeriod"] == 300
    assert dead["MessageRetentionPeriod"] == 14 * 86_400
    assert dead["RedriveAllowPolicy"]["redrivePermission"] == "byQueue"
    (allowed,) = dead["RedriveAllowPolicy"]["sourceQueueArns"]
    assert allowed["Sub"].endswith(f":{searches['QueueName']['Sub']}")
    assert searches["RedrivePolicy"]["maxReceiveCount"] > WorkerSettings().attempts, "retries would be cut short"
    (policy,) = resources("prefetch.yaml", "AWS::SQS::QueuePolicy").values()
    (denied,) = statements(policy["PolicyDocument"])
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_visibility_is_the_same_for_queue_and_worker() -> None:
    """One parameter feeds both."""
    (task,) = resources("prefetch.yaml", "AWS::ECS::TaskDefinition").values()
    (container,) = task["ContainerDefinitions"]
    words = container["Command"]
    assert words[words.index("--visibility-seconds") + 1] == {"Ref": "VisibilitySeconds"}
    assert resources("prefetch.yaml", "AWS::SQS::Queue")["Searches"]["VisibilityTimeout"] == {
        "Ref": "VisibilitySeconds"
    }


def test_the_table_is_what_the_cache_needs(place: Place) -> None:
    """Made from the template's own properties, it passes the check that agents and workers make at start."""
    (table,) = resources("prefetch.yaml", "AWS::DynamoDB::Table").values()
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert "PointInTimeRecoverySpecification" in table
    client = place.aws.client("dynamodb")
    names = ("AttributeDefinitions", "KeySchema", "BillingMode")
    client.create_table(TableName="of-the-template", **{name: table[name] for name in names})
    ttl = table["TimeToLiveSpecification"]
    client.update_time_to_live(TableName="of-the-template", TimeToLiveSpecification=ttl)
    client.close()
    cache = place.cache()
    cache.table.name = "of-the-template"
    assert cache.table.check() is True
    cache.close()


def test_no_right_is_wider_than_its_resource() -> None:
    """No action has a wildcard; one statement alone names no resource, and its action has none."""
    documents = [each["PolicyDocument"] for each in resources("prefetch.yaml", "AWS::IAM::ManagedPolicy").values()]
    for role in resources("prefetch.yaml", "AWS::IAM::Role").values():
        documents += [each["PolicyDocument"] for each in role["Policies"]]
        assert "ManagedPolicyArns" not in role
    for document in documents:
        assert not any("*" in action for action in actions(document))
        for statement in statements(document):
            if statement["Resource"] == "*":
                assert statement["Action"] == ["ecr:GetAuthorizationToken"]
            else:
                assert isinstance(statement["Resource"], dict)


class Called:
    """Notes which actions of IAM the calls of a session need."""

    def __init__(self) -> None:
        self.actions: set[str] = set()
        self.session = boto3.Session(aws_access_key_id="a", aws_secret_access_key="b", region_name=REGION)
        self.session.events.register("before-call.*.*", self._note)

    def _note(self, model: Any, params: Any, **_: Any) -> None:
        if model.name == "BatchExecuteStatement":
            verbs = {each["Statement"].split()[0] for each in json.loads(params["body"])["Statements"]}
            self.actions |= {f"dynamodb:PartiQL{verb.title()}" for verb in verbs}
            return
        service = SERVICES[model.service_model.service_id]
        self.actions.add(f"{service}:{BATCHES.get(model.name, model.name)}")


def test_agent_and_worker_may_do_exactly_what_they_do(place: Place) -> None:
    """Dispatch, share, fail, keep, serve: every call made on the way is allowed, and nothing else is."""
    agent, worker = Called(), Called()
    executor, cache = place.executor(session=agent.session), place.cache(session=agent.session)
    executor.check()
    cache.check()
    with working(place, worker) as running:
        use(executor, cache, running)
    asyncio.run(together(place.cache(session=worker.session)))
    executor.close()
    cache.close()
    (policy,) = resources("prefetch.yaml", "AWS::IAM::ManagedPolicy").values()
    assert agent.actions == actions(policy["PolicyDocument"])
    (of_worker,) = resources("prefetch.yaml", "AWS::IAM::Role")["WorkerRole"]["Policies"]
    assert worker.actions == actions(of_worker["PolicyDocument"])


def found(job: Job) -> Output:
    """What workers find: little, a lot that cannot be compressed, or nothing at all."""
    query = str(job.arguments["query"])
    if query == "poison":
        raise ConnectionError("the backend is away")
    return Output(secrets.token_hex(600_000) if query == "large" else searching.answer(query))


async def together(cache: DynamoDBCache) -> None:
    """What a worker writes when two messages come at once."""
    jobs, writes = [new_job(cache), new_job(cache)], Writes(cache.table, cache.connection, "owner", 30, cache.now)
    assert await asyncio.gather(*map(writes.claim, jobs)) == [Claim.MINE] * 2
    assert await asyncio.gather(*(writes.finish(result_of(job)) for job in jobs)) == [True] * 2
    cache.close()


@contextmanager
def working(place: Place, called: Called) -> Iterator[Worker]:
    """A worker in this process, on a thread."""
    cache = place.cache(session=called.session, read_seconds=5)
    reach = place.aws.reach() | {"session": called.session}
    worker = Worker(place.queue, cache, found, WorkerSettings(wait_seconds=1), **reach)
    worker.check()
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(worker.run(stop)))
    thread.start()
    try:
        yield worker
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
        worker.close()
        cache.close()


def use(executor: SQSExecutor, cache: DynamoDBCache, worker: Worker) -> None:
    """As agents do: one that sends its searches, and one that makes and shares them."""
    shared: dict[str, Any] = {"cache": cache, "reuse_seconds": 60, "scope": lambda _: "tenant"}
    sends, keeps = Machine(searching.search, executor=executor, **shared), Machine(searching.search, **shared)
    run = sends.run()
    assert run.sealed_and(FlightState.READY, "Forth Bridge").answer("Forth Bridge") is not None
    assert run.sealed_and(FlightState.READY, "large").answer("large") is not None  # over several items
    run.seal("poison")
    until(lambda: worker.counters.values()["failed"])
    assert keeps.run().sealed_and(FlightState.READY, "Tay Bridge").answer("Tay Bridge") is not None
    until(lambda: cache.connection.threads.unfinished == 0)
    sends.close()
    keeps.close()
