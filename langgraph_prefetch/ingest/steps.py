"""The operator trace of an ingestion, as it goes; nothing where it was not asked for."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b

from langgraph_prefetch.errors import MissingExtraError
from langgraph_prefetch.ingest.grouping import Group
from langgraph_prefetch.ingest.plan.catalogue import INGEST
from langgraph_prefetch.ingest.plan.trace import OperatorStep, OperatorTrace
from langgraph_prefetch.ingest.rows import strings

try:
    import pyarrow as pa
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error


class Steps:
    """Collects what the operators did.

    Args:
        wanted: it was asked for.
    """

    def __init__(self, wanted: bool) -> None:
        self._steps: list[OperatorStep] | None = [] if wanted else None

    def add(self, operator: str, number: int, rows_in: int, rows_out: int, content: Callable[[], bytes]) -> None:
        """An operator has worked on its input of this number; ``content`` stands for what came out."""
        if self._steps is None:
            return
        self._steps.append(
            OperatorStep(
                decision=0,
                place=INGEST.operators.index(INGEST[operator]),
                partition=0,
                sequence=number,
                plan=INGEST.name,
                operator=operator,
                rows_in=rows_in,
                rows_out=rows_out,
                digest=blake2b(content(), digest_size=16).hexdigest(),
            )
        )

    @property
    def trace(self) -> OperatorTrace | None:
        """All of it; None where it was not asked for."""
        return None if self._steps is None else OperatorTrace(self._steps)


def of_ids(rows: pa.RecordBatch) -> bytes:
    """What stands for rows that are told apart by their ids."""
    return "\n".join(strings(rows, "id")).encode()


def of_vectors(rows: pa.RecordBatch) -> bytes:
    """What stands for rows with their vectors."""
    column = rows.column("embedding")
    assert isinstance(column, pa.FixedSizeListArray)
    return of_ids(rows) + bytes(column.flatten().to_numpy().tobytes())


def of_documents(group: Group) -> bytes:
    """What stands for documents, or for rows that were split already."""
    return of_ids(group.rows) if group.rows is not None else group.documents.told()
