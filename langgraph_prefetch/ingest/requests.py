"""The embed stage: requests, bounded in number and time, tried again, and held to what can be stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from langgraph_prefetch.errors import IngestError, MissingExtraError, PrefetchError
from langgraph_prefetch.ingest.embedders import Embedder, VectorsError
from langgraph_prefetch.ingest.engines import Answer, Engine
from langgraph_prefetch.ingest.interpreter import Interpreter
from langgraph_prefetch.ingest.limiter import Limiter
from langgraph_prefetch.ingest.pace import Pace
from langgraph_prefetch.ingest.rows import texts_of
from langgraph_prefetch.ingest.settings import IngestSettings
from langgraph_prefetch.passages import Metric

try:
    import numpy as np
    import pyarrow as pa
    import tenacity
    from numpy.typing import NDArray
except ImportError as error:
    raise MissingExtraError("pyarrow", "ingest") from error

_NEVER_AGAIN = (TypeError, AttributeError, NotImplementedError, PrefetchError, VectorsError)


class Requests:
    """Turns rows into vectors."""

    def __init__(
        self,
        embedder: Embedder,
        engine: Engine,
        settings: IngestSettings,
        pace: Pace,
        *,
        dimensions: int,
        metric: Metric,
        clock: Callable[[], float],
        interpreter: Interpreter,
    ) -> None:
        self._embedder, self._engine, self._settings, self._pace = embedder, engine, settings, pace
        self._dimensions, self._metric, self._clock = dimensions, metric, clock
        self.room = Limiter(lambda: pace.load.workers)
        self.succeeded = self.failed = self.embedded = 0
        self.seconds = 0.0
        self._interpreter = interpreter
        self._in_a_row = 0
        self._why: Exception | None = None

    async def vectors(self, rows: pa.RecordBatch) -> tuple[NDArray[np.float32], dict[int, str]]:
        """The vectors of some rows, and why some of the rows have none that could be stored.

        Raises:
            IngestError: requests keep failing, or all vectors have another length than the store's.
        """
        spans = self._pace.spans(rows.num_rows)
        if len(spans) == 1:
            answers = [await self._request(rows, *spans[0])]
        else:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._request(rows, *span)) for span in spans]
            answers = [task.result() for task in tasks]
        refused: dict[int, str] = {}
        for (start, count), answer in zip(spans, answers, strict=True):
            if isinstance(answer, str):
                refused |= dict.fromkeys(range(start, start + count), answer)
        if len(answers) == 1 and not isinstance(answers[0], str):
            matrix = answers[0]
        else:
            matrix = np.zeros((rows.num_rows, self._dimensions), dtype=np.float32)
            for (start, count), answer in zip(spans, answers, strict=True):
                if not isinstance(answer, str):
                    matrix[start : start + count] = answer
        self._refuse_unusable(matrix, refused)
        self.embedded += rows.num_rows - len(refused)
        return matrix, refused

    def _refuse_unusable(self, matrix: NDArray[np.float32], refused: dict[int, str]) -> None:
        # One pass tells that all is well: a squared length is finite only if every number is, and 0 of zeros alone or
        # of what is nearly that.
        with np.errstate(all="ignore"):
            squares = np.einsum("ij,ij->i", matrix, matrix)
        for row in np.flatnonzero(~np.isfinite(squares)).tolist():
            if not np.isfinite(matrix[row]).all():
                refused.setdefault(row, "its vector is not finite: NaN or infinity")
        if self._metric == "cosine":
            for row in np.flatnonzero(squares == 0).tolist():
                if not matrix[row].any():
                    refused.setdefault(row, "its vector is all zeros, which has no direction under cosine")

    async def _request(self, rows: pa.RecordBatch, start: int, count: int) -> NDArray[np.float32] | str:
        """One request's vectors, or why there are none."""
        async with self.room:
            self._check_going()  # another may have stopped the run while this one waited
            return await self._tried(rows, start, count)

    async def _tried(self, rows: pa.RecordBatch, start: int, count: int) -> NDArray[np.float32] | str:
        texts = texts_of(rows, start, count)
        settings = self._settings
        attempts = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(settings.attempts),
            wait=tenacity.wait_random_exponential(multiplier=settings.retry_seconds, max=60 * settings.retry_seconds),
            retry=tenacity.retry_if_exception(_worth_another),
            reraise=True,
        )
        try:
            answer: Answer = await attempts(self._timed, texts)
        except Exception as error:  # noqa: BLE001 - the embedder is the user's: whatever it raises costs these passages
            return self._gave_up(error)
        matrix = answer.matrix
        if matrix.shape[1] != self._dimensions:
            reason = f"vectors of length {matrix.shape[1]}, and the store's have {self._dimensions}"
            if not self.succeeded:
                raise IngestError("embed", f"{reason}: use the embedder the store was made for, or another collection")
            return self._gave_up(VectorsError(reason))
        self.succeeded += 1
        self._in_a_row = 0
        return matrix

    async def _timed(self, texts: Sequence[str]) -> Answer:
        began = self._clock()
        async with asyncio.timeout(self._settings.request_seconds):
            answer = await self._engine.embed(self._embedder, texts)
        took = self._clock() - began
        self.seconds += took
        self._interpreter.took("embed", len(texts), answer.cpu_seconds)
        self._pace.tell(len(texts), took, answer.cpu_seconds)
        return answer

    def _gave_up(self, error: Exception) -> str:
        self.failed += 1
        self._in_a_row += 1
        self._why = error
        self._check_going()
        return f"embedding failed: {self._told(error)}"

    def _check_going(self) -> None:
        if self._why is not None and self._in_a_row >= self._settings.failures_in_a_row:
            told = f"{self._in_a_row} requests in a row failed, the last with: {self._told(self._why)}"
            raise IngestError("embed", told) from self._why

    def _told(self, error: Exception) -> str:
        if isinstance(error, TimeoutError):
            return f"no answer within {self._settings.request_seconds:g} s (request_seconds)"
        # What a foreign error says may hold texts or a key.
        return str(error) if isinstance(error, VectorsError | PrefetchError) else type(error).__name__

    def check_any(self) -> None:
        """Some request succeeded, if there was any.

        Raises:
            IngestError: all of them failed.
        """
        if self.failed and not self.succeeded:
            assert self._why is not None
            raise IngestError(
                "embed", f"no request succeeded, the last failed with: {self._told(self._why)}"
            ) from self._why


def _worth_another(error: BaseException) -> bool:
    """Whether a failed request is made again; a run that is cancelled or interrupted makes none."""
    return isinstance(error, Exception) and not isinstance(error, _NEVER_AGAIN)
