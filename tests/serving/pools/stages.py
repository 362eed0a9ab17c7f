"""Stages that other processes can import."""

import os


def pid(*, die: bool = False) -> int:
    if die:
        os._exit(1)
    return os.getpid()


class Counter:
    """Counts the calls of its own instance."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> tuple[int, int]:
        self.calls += 1
        return os.getpid(), self.calls


def broken() -> None:
    raise ValueError("the stage's own")
