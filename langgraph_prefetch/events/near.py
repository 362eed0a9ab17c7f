"""What happens to near misses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class NearFetched:
    """The passages around an anchor arrived, to be ranked for near misses.

    Attributes:
        kind: of the anchor: ``question``, ``thought``, ``guess``, ``name``, ``sentence``, ``clause`` or ``half``.
        passages: how many.
        bytes: of their vectors.
        seconds: from the anchor's text to the passages, its embedding included.
        exact: nothing that is nearer is missing from them.
    """

    run_id: str
    step: int
    at: float
    tool: str
    kind: str
    passages: int
    bytes: int
    seconds: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NearIgnored:
    """The passages around an anchor were not fetched, and why (``budget: …``, ``outbound: …`` …)."""

    run_id: str
    step: int
    at: float
    tool: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NearAnswered:
    """A call that no speculation answered was ranked among the fetched passages.

    Attributes:
        served: the call was answered with that, or, under ``serve="verified"``, its result guessed.
        tier: ``proved`` or ``likely``; empty where nothing may be answered.
        reason: why it was not served (``unsure``, ``not yet trusted``, ``nothing fetched`` …).
        reach: how surely the passages hold everything near the query; None where nothing could be ranked.
        passages: among how many.
        seconds: from the call to the answer, the embedding of its query included.
    """

    run_id: str
    step: int
    at: float
    tool: str
    served: bool
    tier: str
    reason: str
    passages: int
    seconds: float
    reach: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NearChecked:
    """What the tool itself returns became known of a call that was ranked among fetched passages.

    The numbers are those of the tool's traffic in this scope.

    Attributes:
        served: the ranking had been served.
        wrong: the tool returns something else.
        audited, audited_wrong: served near misses that were searched again, and those of them that were wrong.
        low, high: Clopper-Pearson interval, 95 %, of the share of wrong ones among the served, since the threshold last
            changed.
        state: of the likely tier: ``learning``, ``open`` or ``closed``.
        known, needed: calls known, and how many the next test of a threshold needs.
    """

    run_id: str
    step: int
    at: float
    tool: str
    served: bool
    wrong: bool
    audited: int
    audited_wrong: int
    low: float
    high: float
    state: str
    known: int
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NearTierChanged:
    """What may be answered of a tool's near misses has changed.

    Attributes:
        tier: ``likely``, or ``all``.
        open: it is answered from now on; False: it is not.
        reason: why.
        threshold: of the reach, above which likely answers are served.
    """

    at: float
    tool: str
    tier: str
    open: bool
    reason: str
    threshold: float | None = None
