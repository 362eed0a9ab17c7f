"""What ragas asks of a model and of an embedder, asked of ours."""

from __future__ import annotations

from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings
from pydantic import BaseModel

from langgraph_prefetch.evaluation.judging.asked_model import NoVerdictError
from langgraph_prefetch.evaluation.judging.asking import Asker
from langgraph_prefetch.evaluation.judging.judging import valid
from langgraph_prefetch.evaluation.judging.ragas_setup import RAGAS_VERSION, BaseRagasEmbedding, InstructorBaseRagasLLM
from langgraph_prefetch.evaluation.judging.replies import Ask
from langgraph_prefetch.evaluation.judging.stale import past_stale_connections
from langgraph_prefetch.evaluation.judging.values import Reason, Unscored

ReplyT = TypeVar("ReplyT", bound=BaseModel)
_YES_OR_NO = ("verdict", "attributed", "noncommittal")


class AskedModel(InstructorBaseRagasLLM):  # type: ignore[misc]  # ragas is not there where types are checked
    """What ragas asks a model, asked of a judge."""

    def __init__(self, asker: Asker, judge: str, metric: str, subject: str) -> None:
        self._asker, self._judge, self._metric, self._subject = asker, judge, metric, subject
        self._asked: dict[str, int] = {}
        self._statements = 0

    def generate(self, prompt: str, response_model: type[ReplyT]) -> ReplyT:
        """Not used: everything here is awaited."""
        raise NotImplementedError

    async def agenerate(self, prompt: str, response_model: type[ReplyT]) -> ReplyT:
        """One reply. Of the same prompt several are wanted, each a call of its own."""
        turn = self._asked[prompt] = self._asked.get(prompt, -1) + 1
        ask = Ask(
            judge=self._judge,
            prompt=f"ragas/{self._metric}@{RAGAS_VERSION}",
            prompt_digest=response_model.__name__,
            subject=self._subject,
            messages=(("human", prompt),),
            schema=response_model.model_json_schema(),
            turn=turn,
        )
        reply = valid(await self._asker.limited(ask), response_model)
        if isinstance(reply, Unscored):
            raise NoVerdictError(reply)
        wrong = _not_yes_or_no(reply.model_dump()) or self._miscounted(reply)
        if wrong is not None:
            raise NoVerdictError(Unscored(reason=Reason.MALFORMED, detail=wrong))
        return reply

    def _miscounted(self, reply: BaseModel) -> str | None:
        """Of faithfulness: as many verdicts as there were statements, or ragas would average over those that came."""
        statements = getattr(reply, "statements", None)
        if not isinstance(statements, list) or all(isinstance(each, str) for each in statements):
            self._statements = len(statements or ())
            return None
        same = len(statements) == self._statements
        return None if same else f"{len(statements)} verdicts on {self._statements} statements"


class AskedEmbedder(BaseRagasEmbedding):  # type: ignore[misc]
    """What ragas embeds, embedded by LangChain's interface."""

    def __init__(self, embeddings: Embeddings) -> None:
        super().__init__()
        self._embeddings = embeddings

    def embed_text(self, text: str, **kwargs: Any) -> list[float]:
        """Not used: everything here is awaited."""
        raise NotImplementedError

    async def aembed_text(self, text: str, **kwargs: Any) -> list[float]:
        """A vector."""
        try:
            return await past_stale_connections(lambda: self._embeddings.aembed_query(text), lambda: True)
        except Exception as error:
            detail = f"the embedder: {type(error).__name__}"
            raise NoVerdictError(Unscored(reason=Reason.FAILED, detail=detail)) from error


class QuestionsOnly(InstructorBaseRagasLLM):  # type: ignore[misc]
    """For answer relevancy: a reply without a question is no reply, where ragas would score 0 if none has one."""

    def __init__(self, model: AskedModel) -> None:
        self._model = model

    def generate(self, prompt: str, response_model: type[ReplyT]) -> ReplyT:
        """Not used: everything here is awaited."""
        raise NotImplementedError

    async def agenerate(self, prompt: str, response_model: type[ReplyT]) -> ReplyT:
        """One reply, with a question in it."""
        reply = await self._model.agenerate(prompt, response_model)
        if not str(getattr(reply, "question", "")).strip():
            raise NoVerdictError(Unscored(reason=Reason.NOT_A_NUMBER, detail="the judge made no question of it"))
        return reply


def _not_yes_or_no(value: Any) -> str | None:
    """The first field that must be 0 or 1 and is not, in words; ragas would add up whatever stands there."""
    if isinstance(value, dict):
        for name, held in value.items():
            if name in _YES_OR_NO and held not in (0, 1):
                return f"{name} is {held!r}, neither 0 nor 1"
        value = list(value.values())
    if isinstance(value, list):
        return next((found for each_of in value if (found := _not_yes_or_no(each_of)) is not None), None)
    return None
