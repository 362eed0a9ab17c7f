"""Searches that run on other machines, and the services between."""

from __future__ import annotations

from langgraph_prefetch.errors.base import ConfigurationError, PrefetchError


class RemoteToolError(ConfigurationError):
    """A tool reads more than a worker on another machine is told."""

    def __init__(self, tool: str, reason: str) -> None:
        self.tool, self.reason = tool, reason
        super().__init__(
            f"tool {tool!r} cannot run on a worker: {reason}. Name the tools that can: SQSExecutor(…, tools=(…))"
        )


class RetrieverError(ConfigurationError):
    """What a worker was told to search with cannot be imported, or cannot search."""


class UnportableError(PrefetchError):
    """A value that means something in this process alone, so that no message or item can stand for it."""

    def __init__(self, value: object, why: str = "") -> None:
        self.value_type = type(value).__name__
        super().__init__(f"a value of type {self.value_type} cannot be sent to another process{why and f': {why}'}")


class UnreadableItemError(PrefetchError):
    """A message or item that is not what this version writes; it is a miss, and nothing of it is carried out."""


class NotDispatchedError(PrefetchError):
    """A search could not be handed to a worker; it runs in this process instead."""


class RemoteSearchError(PrefetchError):
    """A search on another machine failed, was given up, or did not end in time; a miss.

    Attributes:
        reason: the name of what its worker ran into, or what happened to it.
    """

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the search on another machine gave nothing: {reason}")


class CloudError(PrefetchError):
    """An AWS service does not work as it is configured.

    Attributes:
        what: the queue, table or bucket.
        reason: what the service said, in a line; never a credential.
    """

    def __init__(self, what: str, reason: str, remedy: str = "") -> None:
        self.what, self.reason = what, reason
        super().__init__(f"{what}: {reason}{remedy and f'. {remedy}'}")


class CredentialsError(CloudError):
    """No credentials, expired ones, or ones that may not do what is needed."""


class QueueUnusableError(CloudError):
    """The queue does not exist there, cannot be reached, or is of the wrong kind."""


class TableUnusableError(CloudError):
    """The table does not exist there, cannot be reached, or has another key than this package's."""
