"""``langgraph-prefetch worker``: searches for agents on other machines. Imports the extra when it runs."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING

from langgraph_prefetch.cli.command import add_command

if TYPE_CHECKING:
    from langgraph_prefetch.aws.worker import Worker
    from langgraph_prefetch.aws.worker.health import Health
    from langgraph_prefetch.cli.command import Commands

_DESCRIPTION = """\
Take searches from an SQS queue, run them, and put their results into a DynamoDB table, until SIGTERM or Ctrl-C; then
let those under way end. Start as many as you need: no two do one search, but after a crash.

The retriever is a LangChain tool (the same that the agent has) or retriever, a function of a Job, or a mapping from
names of tools to these. Needs the extra `aws`; credentials are found where boto3 looks for them."""

_TABLE_READ_SECONDS = 2.0
"""Nobody waits for a worker's writes as a call waits for a look."""

_EXAMPLES = """\
  langgraph-prefetch worker --queue https://sqs.eu-central-1.amazonaws.com/123456789012/searches --table results \\
      --retriever my_tools:search
  langgraph-prefetch worker --queue "$QUEUE" --table results --retriever my_tools:search --health-port 8080"""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = add_command(
        commands, "worker", "search for agents on other machines", _run, description=_DESCRIPTION, examples=_EXAMPLES
    )
    parser.add_argument("--queue", required=True, metavar="URL", help="the SQS queue")
    parser.add_argument("--table", required=True, metavar="NAME", help="the DynamoDB table")
    parser.add_argument("--retriever", required=True, metavar="MODULE:OBJECT", help="what to search with")
    parser.add_argument("--namespace", default="default", metavar="NAME", help="as of the agents' cache")
    parser.add_argument("--bucket", metavar="NAME", help="an S3 bucket for large results (default: split over items)")
    parser.add_argument("--region", metavar="NAME", help="of queue and table (default: the environment's)")
    parser.add_argument("--endpoint-url", metavar="URL", help="of SQS and DynamoDB, if not AWS's own")
    numbers: tuple[tuple[str, type, float, str], ...] = (
        ("--concurrency", int, 8, "searches at once"),
        ("--prefetch", int, 2, "messages held beyond those"),
        ("--visibility-seconds", float, 30.0, "after a crash another worker goes on then"),
        ("--wait-seconds", float, 10.0, "of one long poll"),
        ("--attempts", int, 2, "of a search that raises"),
        ("--drain-seconds", float, 20.0, "for searches under way when it is told to stop"),
    )
    for name, kind, default, meaning in numbers:
        parser.add_argument(name, type=kind, default=default, metavar="N", help=f"{meaning} (default: %(default)s)")
    parser.add_argument("--health-port", type=int, metavar="PORT", help="serve /healthz, /readyz and /metrics there")
    parser.add_argument("--health-host", default="127.0.0.1", metavar="HOST", help="(default: %(default)s)")


def _run(arguments: argparse.Namespace) -> int:
    from langgraph_prefetch.aws import DynamoDBCache
    from langgraph_prefetch.aws.worker import Worker, WorkerSettings, load_retriever

    settings = WorkerSettings(
        concurrency=arguments.concurrency,
        prefetch=arguments.prefetch,
        visibility_seconds=arguments.visibility_seconds,
        wait_seconds=arguments.wait_seconds,
        attempts=arguments.attempts,
        drain_seconds=arguments.drain_seconds,
    )
    sys.path.insert(0, os.getcwd())  # as `python -m` does: the module is the user's own
    retriever = load_retriever(arguments.retriever)
    cache = DynamoDBCache(
        arguments.table,
        namespace=arguments.namespace,
        bucket=arguments.bucket,
        region_name=arguments.region,
        endpoint_url=arguments.endpoint_url,
        connections=settings.concurrency + 4,
        read_seconds=_TABLE_READ_SECONDS,
    )
    worker = Worker(
        arguments.queue,
        cache,
        retriever,
        settings,
        region_name=arguments.region,
        endpoint_url=arguments.endpoint_url,
    )
    worker.check()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    health = _health(worker, arguments)
    try:
        asyncio.run(_until_told(worker))
    finally:
        if health is not None:
            health.close()
        worker.close()
        cache.close()
    print("stopped: " + ", ".join(f"{name} {value:g}" for name, value in worker.counters.values().items() if value))
    return 0


def _health(worker: Worker, arguments: argparse.Namespace) -> Health | None:
    if arguments.health_port is None:
        return None
    from langgraph_prefetch.aws.worker.health import Health

    health = Health(worker.state, worker.counters.prometheus, arguments.health_port, arguments.health_host)
    print(f"health at http://{arguments.health_host}:{health.port}", flush=True)
    return health


async def _until_told(worker: Worker) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    print("working", flush=True)
    await worker.run(stop)
