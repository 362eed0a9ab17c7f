"""What a process takes, as Linux tells it."""

from __future__ import annotations

import os
from pathlib import Path

from langgraph_prefetch.testing.local_aws import LocalAws

TICKS = os.sysconf("SC_CLK_TCK")
PAGE_KILOBYTES = os.sysconf("SC_PAGE_SIZE") / 1024


def server_pid(aws: LocalAws) -> int:
    """The process behind a server that this process has started.

    Raises:
        LookupError: there is none.
    """
    port = f"GATEWAY_PORT={aws.url.rpartition(':')[2]}".encode()
    for task in Path("/proc/self/task").iterdir():
        for child in (task / "children").read_text().split():
            if port in Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
                return int(child)
    raise LookupError("the server is no child of this process")


def cpu_seconds(pid: int | str = "self") -> float:
    """User and system time of a process until now."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(after_name[11]) + int(after_name[12])) / TICKS


def resident_kilobytes(pid: int | str = "self") -> float:
    """Its memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_KILOBYTES


def busy_seconds() -> float:
    """Of all cores together, whoever used them."""
    user, nice, system, _, _, irq, softirq, *_ = map(int, Path("/proc/stat").read_text().split("\n")[0].split()[1:])
    return (user + nice + system + irq + softirq) / TICKS
