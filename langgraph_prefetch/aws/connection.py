"""One service as this process reaches it: a client without retries, threads for its calls, a breaker, a clock."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import Any

from langgraph_prefetch.aws._extras import BreakerRule, boto3, botocore_config, botocore_errors
from langgraph_prefetch.aws.faults import CONDITION, ConditionFailedError, code_of
from langgraph_prefetch.aws.guard import Guard
from langgraph_prefetch.aws.latency import Latency
from langgraph_prefetch.aws.server_time import ServerTime
from langgraph_prefetch.aws.threads import Threads
from langgraph_prefetch.errors import ConfigurationError

RULE = BreakerRule(failures=3, open_seconds=5.0)


class Connection:
    """Calls one service.

    The session is kept, never its keys: credentials that refresh themselves go on doing so. A forked child makes a
    client of its own, since a connection cannot be shared.

    Args:
        service: its name in boto3.
        session: a ``boto3.Session``; None: the environment's.
        region_name: None: the session's.
        endpoint_url: where the service is, if not where AWS has it.
        connections: calls at once, and so threads and pooled connections.
        connect_seconds, read_seconds: how long a call waits for the network.

    Raises:
        ConfigurationError: no region is known, or there is no such profile.
    """

    def __init__(
        self,
        service: str,
        *,
        session: Any = None,
        region_name: str | None = None,
        endpoint_url: str | None = None,
        connections: int,
        connect_seconds: float = 0.5,
        read_seconds: float,
    ) -> None:
        self._service, self._session, self._endpoint_url = service, session, endpoint_url
        self._region_name = region_name
        self._config = botocore_config.Config(
            # Whoever waits has a deadline of its own, and its own way on; a retry would eat the time of both.
            retries={"total_max_attempts": 1, "mode": "standard"},
            connect_timeout=connect_seconds,
            read_timeout=read_seconds,
            max_pool_connections=connections,
            # What is sent is built here, and the service checks it too: a tenth of a call's time.
            parameter_validation=False,
        )
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self.threads = Threads(f"langgraph-prefetch-{service}", connections)
        self.time = ServerTime()
        self.latency = Latency()
        self._client: Any = None
        self.breaker = self._new_breaker()
        self.client  # noqa: B018 - made now: a wrong region shows at once, and no loop ever waits for it
        _connections.add(self)

    @property
    def client(self) -> Any:
        """The boto3 client of this process."""
        if self._client is None:
            with self._lock:
                if self._client is None:
                    self._client = self._made()
        return self._client

    @property
    def where(self) -> str:
        """Region, and endpoint if it is not AWS's own; for messages."""
        at = f" at {self._endpoint_url}" if self._endpoint_url else ""
        return f"region {self.client.meta.region_name}{at}"

    def call(self, operation: str, /, *, timed: bool = False, **parameters: Any) -> dict[str, Any]:
        """One call, on the present thread.

        Args:
            operation: the client's method.
            timed: learn from it how quick the service answers.
            parameters: its arguments.

        Raises:
            BreakerOpenError: the service is known not to work.
            ConditionFailedError: a conditional write found another state.
            ClientError, BotoCoreError: as of botocore.
        """
        method = getattr(self.client, operation)
        with self.breaker.calling((ConditionFailedError,)):
            began = time.monotonic()
            try:
                response: dict[str, Any] = method(**parameters)
            except botocore_errors.ClientError as error:
                self._heard(error.response)
                if code_of(error) == CONDITION:
                    raise ConditionFailedError(error.response.get("Item")) from None
                self.count("failed_calls")
                raise
            except BaseException:
                self.count("failed_calls")
                raise
        if timed:
            self.latency.add(time.monotonic() - began)
        self._heard(response)
        return response

    def count(self, what: str) -> None:
        """One more of it."""
        with self._lock:
            self._counts[what] += 1

    def counts(self, names: Sequence[str]) -> dict[str, int]:
        """How many there have been of each, and how many calls failed."""
        with self._lock:
            return {name: self._counts[name] for name in (*names, "failed_calls")}

    def after_fork(self) -> None:
        """In a forked child: sockets and threads are the parent's."""
        self._client, self._lock = None, threading.Lock()
        self.threads.after_fork()
        self.breaker = self._new_breaker()

    def close(self) -> None:
        """Let threads and sockets go. Idempotent; another call opens them again."""
        self.threads.close()
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _new_breaker(self) -> Guard:
        return Guard(self._service, RULE)

    def _made(self) -> Any:
        session = self._session or boto3.Session()
        try:
            return session.client(
                self._service, region_name=self._region_name, endpoint_url=self._endpoint_url, config=self._config
            )
        except botocore_errors.NoRegionError as error:
            raise ConfigurationError("no AWS region is known: pass region_name=, or set AWS_DEFAULT_REGION") from error
        except (botocore_errors.ProfileNotFound, ValueError) as error:
            raise ConfigurationError(f"no AWS client can be made: {error}") from error

    def _heard(self, response: dict[str, Any]) -> None:
        headers = response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        self.time.heard(headers.get("date"))


_connections: weakref.WeakSet[Connection] = weakref.WeakSet()


def _after_fork() -> None:
    for connection in list(_connections):
        connection.after_fork()


os.register_at_fork(after_in_child=_after_fork)
