"""How errors of the stages come out: one of them, and it says where."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from langgraph_prefetch.errors import IngestError, PrefetchError


@contextmanager
def stage(name: str) -> Iterator[None]:
    """What goes wrong within is an error of this stage.

    What a foreign error says stays in its cause: it may hold texts.

    Raises:
        IngestError: in place of whatever is no error of ours.
    """
    try:
        yield
    except PrefetchError:
        raise
    except Exception as error:
        raise IngestError(name, f"{type(error).__name__}; the cause says more") from error


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The error that came first; the others are what it led to."""
    error = group.exceptions[0]
    return first_error(error) if isinstance(error, BaseExceptionGroup) else error
