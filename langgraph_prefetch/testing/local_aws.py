"""A queue and a table on this machine, over the real wire protocols: for tests, examples and benchmarks. Extra ``aws``.

The server is `ministack <https://pypi.org/project/ministack/>`_, which pins botocore and so lives in a virtual
environment of its own, or ``moto_server``; anything else that speaks the protocols at a URL will do for ``LocalAws``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import MissingExtraError

try:
    import boto3
except ImportError as error:
    raise MissingExtraError("boto3", "aws") from error

REGION = "us-east-1"
START_SECONDS = 30.0


class LocalAws:
    """SQS and DynamoDB at one URL.

    Args:
        url: where they are.

    Attributes:
        url: the same.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        # One for all: a session reads the descriptions of its services, which takes longer than most tests.
        self._session = boto3.Session(
            aws_access_key_id="local",
            aws_secret_access_key="local",  # noqa: S106 - any local server takes it
            region_name=REGION,
        )

    def session(self) -> Any:
        """A ``boto3.Session`` with credentials that any local server takes."""
        return self._session

    def reach(self) -> dict[str, Any]:
        """Keyword arguments of ``SQSExecutor`` and ``DynamoDBCache``."""
        return {"session": self.session(), "region_name": REGION, "endpoint_url": self.url}

    def environment(self) -> dict[str, str]:
        """What another process needs in its environment to reach it."""
        return {
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self, service: str) -> Any:
        """A plain boto3 client."""
        return self.session().client(service, endpoint_url=self.url)

    def make_table(self, name: str | None = None) -> str:
        """A new table as ``DynamoDBCache`` needs it; returns its name."""
        name = name or f"results-{uuid.uuid4().hex[:12]}"
        client = self.client("dynamodb")
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        client.update_time_to_live(
            TableName=name, TimeToLiveSpecification={"Enabled": True, "AttributeName": "expires_at"}
        )
        client.close()
        return name

    def make_queue(
        self, name: str | None = None, *, visibility_seconds: int = 30, most_receives: int = 3
    ) -> tuple[str, str]:
        """A new queue with a dead-letter queue; returns the URLs of both."""
        name = name or f"searches-{uuid.uuid4().hex[:12]}"
        client = self.client("sqs")
        dead: str = client.create_queue(QueueName=f"{name}-dead")["QueueUrl"]
        arn = client.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        redrive = f'{{"deadLetterTargetArn":"{arn}","maxReceiveCount":"{most_receives}"}}'
        attributes = {"RedrivePolicy": redrive, "VisibilityTimeout": str(visibility_seconds)}
        url: str = client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        client.close()
        return url, dead


@contextmanager
def local_aws(program: str | Path) -> Iterator[LocalAws]:
    """Run ministack or ``moto_server`` on loopback, on a free port, for the length of the block.

    Args:
        program: its path; ``scripts/aws-server.sh`` of this project's repository installs it and prints that.

    Raises:
        RuntimeError: it does not start.
    """
    port = _free_port()
    command, path = [str(program)], "/_ministack/health"
    environment = dict(os.environ)
    if Path(program).name == "moto_server":
        command, path = [*command, "--host", "127.0.0.1", "--port", str(port)], "/moto-api/"
    else:
        environment |= {"BIND_HOST": "127.0.0.1", "GATEWAY_PORT": str(port)}
    process = subprocess.Popen(  # noqa: S603 - the program that the caller names
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_up(f"{url}{path}", process)
        yield LocalAws(url)
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_up(url: str, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=1):  # noqa: S310 - loopback
                return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"the server did not answer within {START_SECONDS:g} s")
