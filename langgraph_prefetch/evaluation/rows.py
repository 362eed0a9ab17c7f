"""What one question, asked of one arm, came to: the row that every suite writes, resumes from and reads back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answered = Literal["ran", "ready", "late"]
"""How a search call got its result: the tool ran, a speculation had it ready, or one still running was joined."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRow:
    """One search call of a run.

    Attributes:
        query: as the model asked.
        answered: how the call got its result.
        seconds: from the call to its result, as the agent waited.
        lookup_seconds: of that, asking the cache (a ready result: all of it); None where no cache was asked.
        retrieval_seconds: what the search itself took, in the background or not; None where unknown.
        source: what started the speculation that answered, such as ``reasoning``; None if none did.
        passages: the texts that came back, in order.
        as_real: whether these are the passages of the real query, checked by searching again; None if not checked.
    """

    query: str
    answered: Answered
    seconds: float
    lookup_seconds: float | None = None
    retrieval_seconds: float | None = None
    source: str | None = None
    passages: tuple[str, ...] = ()
    as_real: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One question asked of one arm.

    Attributes:
        suite, arm: such as ``speed`` and ``wrapped``.
        question_id, question: what was asked; pairs of arms share the id and ``repeat``.
        kind: the question's labelled type, such as ``fact``; empty if it has none.
        language: of the question, such as ``en``.
        batch, repeat: counted from 0.
        warm: whether the arm had been asked this question before, with results kept.
        place: in which order the run was made, over all arms, from 0.
        seconds: from the question to the last token.
        first_token_seconds: to the first token of the final answer; None if unknown.
        answer: the final message's text.
        reference: the expected answer, where the data have one.
        searches: the search calls, in order.
        input_tokens, output_tokens: of the agent's model calls; None where the provider did not tell.
        cached_input_tokens: those of the input tokens that came from the provider's prompt cache, as far as it told.
        model_calls: of the agent's own.
        speculations: background retrievals started; ``wasted`` of them served no call.
        hidden_seconds, hideable_seconds: as the report has them.
        wasted_input_tokens, wasted_output_tokens: of model calls made in private and not adopted.
        error: why the run has no answer; None if it has one. Such a row is counted, and its times are not used.
    """

    suite: str
    arm: str
    question_id: str
    question: str
    kind: str = ""
    language: str = ""
    batch: int = 0
    repeat: int = 0
    warm: bool = False
    place: int = 0
    seconds: float = 0.0
    first_token_seconds: float | None = None
    answer: str = ""
    reference: str | None = None
    searches: tuple[SearchRow, ...] = ()
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int = 0
    model_calls: int = 0
    speculations: int = 0
    wasted: int = 0
    hidden_seconds: float = 0.0
    hideable_seconds: float = 0.0
    wasted_input_tokens: int = 0
    wasted_output_tokens: int = 0
    error: str | None = None
