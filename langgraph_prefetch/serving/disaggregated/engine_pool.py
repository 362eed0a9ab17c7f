"""OpenAI-compatible engines behind one chooser: requests that go elsewhere when one fails, and prefixes filled ahead.

vLLM, SGLang, llama.cpp and llm-d servers answer `POST /chat/completions` below their base address. The pool speaks that
and no more; a LangChain model takes an engine's address from `lease`.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from langgraph_prefetch.errors import MissingExtraError, NoEngineError
from langgraph_prefetch.serving.disaggregated.clients import OwnsClient
from langgraph_prefetch.serving.disaggregated.engine_choice import EngineChooser, Lease

try:
    import httpx
except ImportError as error:
    raise MissingExtraError(error.name or "httpx", "serving") from error

Messages = Sequence[Mapping[str, Any]]
Answer = TypeVar("Answer")

_OUT_OF_ORDER = frozenset({500, 502, 503, 504})
_MAX_ANSWER_BYTES = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefilled:
    """A prefix that an engine has read ahead.

    Attributes:
        engine: its base address.
        seconds: it took.
        prompt_tokens: of the prefix, where the engine tells.
        cached_tokens: of these, that it had already.
    """

    engine: str
    seconds: float
    prompt_tokens: int | None
    cached_tokens: int | None


class EnginePool(OwnsClient):
    """Engines, a chooser and a client. An async context manager.

    Args:
        chooser: of base addresses such as ``http://127.0.0.1:8000/v1``.
        api_key: sent to all of them; kept out of logs and reprs.
        timeout_seconds: of a prefill.
        failures: exceptions of your client that mean that an engine cannot be reached, such as openai's
            APIConnectionError; besides OSError, and what httpx raises.
        clock: seconds, monotonic.
    """

    def __init__(
        self,
        chooser: EngineChooser,
        *,
        failures: tuple[type[Exception], ...] = (),
        api_key: str | None = None,
        timeout_seconds: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        super().__init__(timeout=timeout_seconds, headers=headers)
        self._chooser, self._clock, self._failures = chooser, clock, failures

    @asynccontextmanager
    async def lease(self, messages: Messages, *, session: str | None = None) -> AsyncIterator[str]:
        """The base address of the engine for a request, which counts as its load inside the block.

        An exception that leaves the block marks the engine as failed where it says that it could not be reached.

        Raises:
            NoEngineError: none is left.
        """
        lease = self._chooser.choose(_text(messages), self._clock(), session=session)
        failed = False
        try:
            yield lease.engine
        except Exception as error:
            failed = self._is_the_engines(error)
            raise
        finally:
            self._chooser.release(lease, self._clock(), failed=failed)

    async def call(
        self, messages: Messages, request: Callable[[str], Awaitable[Answer]], *, session: str | None = None
    ) -> Answer:
        """``request`` with the address of an engine; of another, where it fails to be reached.

        Args:
            messages: of the request, by which the engine is chosen.
            request: does it; OSError, httpx.TransportError, httpx.HTTPStatusError of 500, 502, 503 or 504, and
                ``failures`` send it elsewhere, and anything else is raised.
            session: whose request it is.

        Raises:
            NoEngineError: all failed.
        """
        tried: frozenset[str] = frozenset()
        while True:
            lease = self._chooser.choose(_text(messages), self._clock(), session=session, without=tried)
            failed = False
            try:
                return await request(lease.engine)
            except Exception as error:
                if not self._is_the_engines(error):
                    raise
                failed = True
                tried |= {lease.engine}
            finally:
                self._chooser.release(lease, self._clock(), failed=failed)

    async def prefill(self, messages: Messages, *, model: str, session: str | None = None) -> Prefilled | None:
        """Have an engine read a prefix before anybody asks: documents that were prefetched, above all.

        One token is asked for and thrown away; what stays is the engine's cache, which the chooser knows of. An engine
        that is at work is left alone, for a guess may not slow down a demand; whatever fails is a prefix not filled.

        Args:
            messages: the prefix, as the real request will begin.
            model: as the engine calls it.
            session: whose request will follow.

        Returns:
            What was done, or None: nothing.
        """
        try:
            lease = self._chooser.choose(_text(messages), self._clock(), session=session)
        except NoEngineError:
            return None
        failed, unused = False, True
        try:
            if self._chooser.busy(lease.engine) > 1:
                return None
            found = await self._prefill(lease, messages, model)
            unused = False
        except Exception as error:  # noqa: BLE001  a guess harms nobody, whatever is wrong with it
            failed = self._is_the_engines(error)
            return None
        else:
            return found
        finally:
            self._chooser.release(lease, self._clock(), failed=failed, unused=unused)

    async def _prefill(self, lease: Lease, messages: Messages, model: str) -> Prefilled:
        begun = self._clock()
        body = {"model": model, "messages": list(messages), "max_tokens": 1, "temperature": 0}
        answer = await self._client.post(f"{lease.engine.rstrip('/')}/chat/completions", json=body)
        answer.raise_for_status()
        usage = _usage(answer.content[:_MAX_ANSWER_BYTES])
        details = usage.get("prompt_tokens_details")
        return Prefilled(
            engine=lease.engine,
            seconds=self._clock() - begun,
            prompt_tokens=_count(usage.get("prompt_tokens")),
            cached_tokens=_count(details.get("cached_tokens")) if isinstance(details, dict) else None,
        )

    def _is_the_engines(self, error: Exception) -> bool:
        if isinstance(error, httpx.HTTPStatusError):
            return error.response.status_code in _OUT_OF_ORDER
        return isinstance(error, (OSError, httpx.TransportError, *self._failures))


def _text(messages: Messages) -> str:
    """Role and content of every message, one after the other: equal beginnings give equal beginnings."""
    return "\n".join(f"{each.get('role', '')}\n{_content(each.get('content'))}" for each in messages)


def _content(content: object) -> str:
    return content if isinstance(content, str) else json.dumps(content, sort_keys=True, default=str)


def _usage(body: bytes) -> dict[str, Any]:
    answer = json.loads(body)
    usage = answer.get("usage") if isinstance(answer, dict) else None
    return usage if isinstance(usage, dict) else {}


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
