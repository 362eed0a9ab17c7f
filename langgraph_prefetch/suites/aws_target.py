"""``eval study --target aws``: the same protocol, its searches sent through the user's own queue and table.

Nothing of it is made here, and nothing deleted: the guide on AWS says how to set up queue, table and workers.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.suites.scopes import scopes

QUEUE, TABLE, DATABASE = "LANGGRAPH_PREFETCH_QUEUE", "LANGGRAPH_PREFETCH_TABLE", "LANGGRAPH_PREFETCH_DATABASE"
NAMESPACE = "study"
WORKER = "langgraph_prefetch.suites.study_worker:search"
RUN_ID = "run-id.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Where searches go: the URL of a queue, the name of a table, the URL of a PostgreSQL that workers reach too."""

    queue: str
    table: str
    database: str


def services(environment: Mapping[str, str] = os.environ) -> Services:
    """As the environment names them.

    Raises:
        ConfigurationError: one is missing; the message says how to run a worker.
    """
    missing = [name for name in (QUEUE, TABLE, DATABASE) if not environment.get(name)]
    if missing:
        raise ConfigurationError(
            f"--target aws needs {', '.join(missing)} in the environment (queue's URL, table's name, database's URL), "
            f"and workers: langgraph-prefetch worker --queue ${QUEUE} --table ${TABLE} --namespace {NAMESPACE} "
            f"--retriever {WORKER}"
        )
    return Services(queue=environment[QUEUE], table=environment[TABLE], database=environment[DATABASE])


def options(found: Services, out: Path, tool: str) -> dict[str, Any]:
    """Of the arms that prefetch: executor, cache, and scopes that no other evaluation on this table has.

    Raises:
        MissingExtraError: the extra ``aws`` is not installed.
        ConfigurationError: no region is known, or what the environment names cannot be one.
    """
    from langgraph_prefetch.aws import DynamoDBCache, SQSExecutor

    return {
        "executor": SQSExecutor(found.queue, tools=(tool,)),
        "cache": DynamoDBCache(found.table, namespace=NAMESPACE),
        "scope": scopes(_run_id(out)),
    }


def _run_id(out: Path) -> str:
    """The same for a resumed evaluation, so that its warm runs find what its cold ones left."""
    path = out / RUN_ID
    if not path.exists():
        path.write_text(uuid.uuid4().hex, encoding="utf-8")
    return path.read_text(encoding="utf-8").strip()
