"""What speculations cause besides their searches, where they do not run in the agent's own process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from langgraph_prefetch.errors import ConfigurationError, did_you_mean
from langgraph_prefetch.money import number


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """An assumed way of running speculations; the default is the agent's own process, which costs nothing of this.

    Attributes:
        requests_per_message: of the queue, for one speculation: 3 to send, receive and delete it; 0 for no queue.
        messages_per_request: how full batches are; a speculation that waits for others is late, so 1 is usual.
        message_bytes: of one message.
        cache_writes_per_speculation: items written for one speculation.
        cache_reads_per_call: items read for one search call of an agent with prefetch.
        item_bytes: of one result.
        keep_seconds: how long a result is kept.
        worker_vcpus, worker_gb: what a speculation occupies while it runs.
        worker_seconds: how long that is; None: as long as the searches of the run took.
        embedding_tokens_per_search: of the query, where somebody bills its embedding.
    """

    requests_per_message: int = 0
    messages_per_request: int = 1
    message_bytes: int = 0
    cache_writes_per_speculation: int = 0
    cache_reads_per_call: int = 0
    item_bytes: int = 0
    keep_seconds: float = 0.0
    worker_vcpus: float = 0.0
    worker_gb: float = 0.0
    worker_seconds: float | None = None
    embedding_tokens_per_search: float = 0.0

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if value is None and each.name == "worker_seconds":
                continue
            number(each.name, value)
            if each.type == "int" and not isinstance(value, int):
                raise ConfigurationError(f"{each.name} must be a whole number, not {value!r}")
        if self.messages_per_request < 1:
            raise ConfigurationError(f"messages_per_request must be at least 1, not {self.messages_per_request!r}")

    def assumptions(self) -> tuple[str, ...]:
        """All that is not as in the agent's own process, one sentence each."""
        return tuple(
            f"{each.name.replace('_', ' ')}: {getattr(self, each.name):g}"
            for each in dataclasses.fields(self)
            if getattr(self, each.name) not in (None, each.default)
        )


def deployment(table: Mapping[str, Any]) -> Deployment:
    """A deployment as a table of a suite's file says it.

    Raises:
        ConfigurationError: an unknown name, or a value that is no number from 0 on.
    """
    known = [each.name for each in dataclasses.fields(Deployment)]
    for name in table:
        if name not in known:
            raise ConfigurationError(
                f"deployment.{name} is not known; there are: {', '.join(known)}.{did_you_mean(name, known)}"
            )
    return Deployment(**table)
