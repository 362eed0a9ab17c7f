"""The worker's end of the queue: take, keep, give back, delete; on threads, and in batches where SQS has them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langgraph_prefetch.aws.batches import Batches
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.faults import BotoCoreError, ClientError, told
from langgraph_prefetch.errors import QueueUnusableError

MOST_AT_ONCE = 10
DELETE_SECONDS = 0.02
READ_MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery. ``receives``: how often the message has been delivered."""

    id: str
    receipt: str = field(repr=False)
    body: str = field(repr=False)
    receives: int


class Inbox:
    """One queue.

    Args:
        queue_url: its URL.
        connection: where it is.
        visibility_seconds: how long a message stays with whoever took it.
        wait_seconds: of a long poll.

    Attributes:
        has_dead_letters: whether the queue hands messages that come again and again to another one.
    """

    def __init__(self, queue_url: str, connection: Connection, visibility_seconds: float, wait_seconds: float) -> None:
        self._url, self._connection = queue_url, connection
        self._visibility, self._wait = max(1, round(visibility_seconds)), round(wait_seconds)
        self._deletes: Batches[str, None] = Batches(self._delete_batch, connection.threads, DELETE_SECONDS)
        self.has_dead_letters = False

    def check(self) -> None:
        """Look at the queue.

        Raises:
            CredentialsError, QueueUnusableError: the message says what to do.
        """
        try:
            answer = self._connection.client.get_queue_attributes(QueueUrl=self._url, AttributeNames=["All"])
        except (ClientError, BotoCoreError) as error:
            absent = "Check the URL of the queue and the region"
            raise told(error, f"queue {self._url}", QueueUnusableError, absent, self._connection.where) from error
        policy = answer.get("Attributes", {}).get("RedrivePolicy")
        self.has_dead_letters = bool(policy and json.loads(policy).get("deadLetterTargetArn"))

    async def take(self, most: int) -> list[Message]:
        """Up to ``most`` messages; waits for the first. Raises what boto3 raises."""
        answer = await self._connection.threads.run(
            lambda: self._connection.client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=min(MOST_AT_ONCE, most),
                WaitTimeSeconds=self._wait,
                VisibilityTimeout=self._visibility,
                MessageSystemAttributeNames=["ApproximateReceiveCount"],
            )
        )
        return [_message(each) for each in answer.get("Messages", ())]

    async def delete(self, message: Message) -> None:
        """It is done with. One that cannot be deleted comes again, and is found to be done."""
        try:
            await self._deletes.put(message.receipt)
        except (ClientError, BotoCoreError, RuntimeError):
            return

    async def keep(self, messages: Iterable[Message]) -> None:
        """They stay with this worker for another ``visibility_seconds``."""
        await self._change(list(messages), self._visibility)

    async def give_back(self, messages: Iterable[Message], seconds: float = 0) -> None:
        """They may be taken again, by anybody, after so many seconds."""
        await self._change(list(messages), round(seconds))

    async def _change(self, messages: Sequence[Message], seconds: int) -> None:
        batches = [messages[start : start + MOST_AT_ONCE] for start in range(0, len(messages), MOST_AT_ONCE)]
        calls = [self._connection.threads.run(partial(self._change_batch, each, seconds)) for each in batches]
        await asyncio.gather(*calls, return_exceptions=True)  # a message that was not kept comes again: harmless

    def _change_batch(self, batch: Sequence[Message], seconds: int) -> None:
        self._connection.client.change_message_visibility_batch(
            QueueUrl=self._url,
            Entries=[
                {"Id": str(number), "ReceiptHandle": each.receipt, "VisibilityTimeout": seconds}
                for number, each in enumerate(batch)
            ],
        )

    def _delete_batch(self, receipts: Sequence[str]) -> list[Exception | None]:
        self._connection.client.delete_message_batch(
            QueueUrl=self._url,
            Entries=[{"Id": str(number), "ReceiptHandle": each} for number, each in enumerate(receipts)],
        )
        return [None] * len(receipts)


def _message(raw: dict[str, Any]) -> Message:
    receives = raw.get("Attributes", {}).get("ApproximateReceiveCount", "1")
    return Message(raw["MessageId"], raw["ReceiptHandle"], raw.get("Body", ""), int(receives))
