"""What a simulation of cache loading found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean

from langgraph_prefetch.errors import SimulationError
from langgraph_prefetch.serving.disaggregated.hardware import Turn

_LITTLE_USED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A turn, with the moments it was asked for, had its first token, and was done."""

    asked_at: float
    first_at: float
    done_at: float
    turn: Turn

    @property
    def seconds_to_first_token(self) -> float:
        """Waiting, reading and prefill."""
        return self.first_at - self.asked_at


@dataclass(frozen=True, kw_only=True)
class LoadingResult:
    """One run.

    Attributes:
        cluster: as in 2P4D.
        seconds: until the last agent was done.
        served: every turn.
        agent_seconds: from an agent's first turn to its last.
        utilisation: resource -> share of the time, or of the room, that was used until most turns were done.
        reads: node -> start, end and bytes of each read from storage.
    """

    cluster: str
    model: str
    loading: str
    seconds: float
    served: tuple[Served, ...]
    agent_seconds: tuple[float, ...]
    utilisation: Mapping[str, float]
    reads: Mapping[str, tuple[tuple[float, float, float], ...]] = field(repr=False)

    @property
    def turns_per_second(self) -> float:
        """Throughput over the whole run, its tail included."""
        return len(self.served) / self.seconds

    def throughput(self, share: float = 0.8) -> float:
        """Turns a second until this share of them was done: without the tail, in which the longest agents are alone.

        Raises:
            SimulationError: a share that is not above 0, or above 1.
        """
        if not 0 < share <= 1:
            raise SimulationError(f"a share of the turns lies above 0 and is at most 1, not {share}")
        done = sorted(each.done_at for each in self.served)
        number = max(1, round(share * len(done)))
        return number / done[number - 1]

    @property
    def limiting_resource(self) -> str:
        """The one that is used most; where none is used half of the time, agents only wait for their own tokens."""
        name = max(self.utilisation, key=lambda name: self.utilisation[name])
        return name if self.utilisation[name] >= _LITTLE_USED else "agents' own decoding"

    def seconds_to_first_token(self, begin: float = 0.0, end: float = 1.0) -> float:
        """Mean of the turns asked for between two shares of the run."""
        low, high = begin * self.seconds, end * self.seconds
        return fmean([each.seconds_to_first_token for each in self.served if low <= each.asked_at <= high] or [0.0])

    def storage_imbalance(self, *, window_seconds: float = 1.0, begin: float = 0.05, end: float = 0.5) -> float:
        """Most bytes of any storage NIC over the mean of all, per window, on average: 1 is perfectly even.

        The windows lie between two shares of the run; towards its end there is too little work to compare.

        Raises:
            SimulationError: a window of no time.
        """
        if not window_seconds > 0:
            raise SimulationError(f"window_seconds must be above 0, not {window_seconds}")
        first, last = int(begin * self.seconds / window_seconds) + 1, int(end * self.seconds / window_seconds)
        carried = [self._bytes_per_window(node, window_seconds) for node in self.reads]
        found = []
        for window in range(first, last):
            each = [node.get(window, 0.0) for node in carried]
            if any(each):
                found.append(max(each) / fmean(each))
        return fmean(found) if found else 1.0

    def _bytes_per_window(self, node: str, width: float) -> dict[int, float]:
        carried: dict[int, float] = {}
        for start, end, size in self.reads[node]:
            at = start
            while at < end:
                window = int(at / width)
                until = min(end, (window + 1) * width)
                if until <= at:  # a float's last digit: the window's end is where we are
                    until = min(end, (window + 2) * width)
                    window += 1
                carried[window] = carried.get(window, 0.0) + size * (until - at) / (end - start)
                at = until
        return carried
