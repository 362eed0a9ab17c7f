"""Where an output's bytes are: in its item, in more items, or in a bucket."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from langgraph_prefetch.aws import items
from langgraph_prefetch.aws.connection import Connection
from langgraph_prefetch.aws.outputs import Packed
from langgraph_prefetch.errors import UnportableError, UnreadableItemError

PARTS_AT_ONCE = 30
"""A batch read gives 16 MB at most."""


class Bodies:
    """Writes and reads outputs. Blocks.

    Args:
        table: its name.
        namespace: before every key.
        dynamodb: where the table is.
        bucket: an S3 bucket for what one item does not hold; None: more items hold it.
        s3: where the bucket is.
        most: bytes of one output.
    """

    def __init__(
        self, table: str, namespace: str, dynamodb: Connection, bucket: str | None, s3: Connection | None, most: int
    ) -> None:
        self._table, self._namespace, self._dynamodb = table, namespace, dynamodb
        self._bucket, self._s3, self.most = bucket, s3, most

    def write(self, id_: str, generation: str, packed: Packed, expires_at: Mapping[str, str]) -> dict[str, Any]:
        """The attributes that lead to the output, which is there when this returns.

        Raises:
            UnportableError: it is too large for that many items.
        """
        if len(packed.data) <= items.INLINE_BYTES:
            return items.inline(packed)
        attributes: dict[str, Any] = {"encoding": items.string(packed.encoding)}
        attributes["digest"] = {"B": hashlib.sha256(packed.data).digest()}
        if self._bucket is not None and self._s3 is not None:
            name = f"{self._namespace}/{id_}/{generation}"
            self._s3.call("put_object", Bucket=self._bucket, Key=name, Body=packed.data)
            return attributes | {"object": items.string(name)}
        pieces = items.split(packed.data)
        if len(pieces) > items.MOST_PARTS:
            raise UnportableError(packed.data, "it is too large for the table; give the cache a bucket")
        for number, piece in enumerate(pieces):
            key = items.string(items.part_key(self._namespace, id_, generation, number))
            item = {items.KEY: key, "v": items.whole(items.VERSION), "body": {"B": piece}, items.TTL: dict(expires_at)}
            self._dynamodb.call("put_item", TableName=self._table, Item=item)
        return attributes | {"parts": items.whole(len(pieces))}

    def read(self, id_: str, item: items.Item) -> Packed:
        """The output that ``item`` leads to.

        Raises:
            UnreadableItemError: it is not there, or not what was written.
        """
        inline = items.body_of(item)
        if inline is not None:
            return inline
        if name := items.text(item, "object"):
            return self._from_bucket(name, item)
        generation, count = items.text(item, "gen"), items.parts_of(item)
        names = [items.part_key(self._namespace, id_, generation, number) for number in range(count)]
        found: dict[str, bytes] = {}
        for start in range(0, count, PARTS_AT_ONCE):
            for name, each in self.fetch(names[start : start + PARTS_AT_ONCE]).items():
                if (piece := items.blob(each, "body")) is not None:
                    found[name] = piece
        if len(found) < count:
            raise UnreadableItemError("a part of an output is missing")
        return items.joined(item, [found[name] for name in names])

    def fetch(self, names: list[str], *, timed: bool = False) -> dict[str, items.Item]:
        """Items by key, read consistently; at most a hundred. Those that are not there are left out."""
        found: dict[str, items.Item] = {}
        wanted = names
        while wanted:
            keys = [{items.KEY: items.string(name)} for name in wanted]
            response = self._dynamodb.call(
                "batch_get_item", timed=timed, RequestItems={self._table: {"Keys": keys, "ConsistentRead": True}}
            )
            found |= {items.text(each, items.KEY): each for each in response["Responses"].get(self._table, ())}
            left = response.get("UnprocessedKeys", {}).get(self._table, {}).get("Keys", ())
            left_names = [items.text(key, items.KEY) for key in left]
            if len(left_names) >= len(wanted):
                raise UnreadableItemError("the table gives nothing now")
            wanted = left_names
        return found

    def _from_bucket(self, name: str, item: items.Item) -> Packed:
        if self._bucket is None or self._s3 is None:
            raise UnreadableItemError("its output is in a bucket, and this cache has none")
        response = self._s3.call("get_object", Bucket=self._bucket, Key=name)
        if not 0 <= int(response.get("ContentLength", -1)) <= self.most:
            raise UnreadableItemError(f"more than {self.most} bytes")
        return items.joined(item, [response["Body"].read()])
