"""A chat model that hands what it is asked to a judge, within the judge's limits: for libraries that want a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.outputs import ChatResult
from langchain_core.runnables import Runnable, RunnableLambda

from langgraph_prefetch.evaluation.judging.asking import Asker
from langgraph_prefetch.evaluation.judging.replies import Ask
from langgraph_prefetch.evaluation.judging.values import Reason, Unscored


class NoVerdictError(Exception):
    """A call of a library to its model came to nothing; carries the reason through the library's code."""

    def __init__(self, unscored: Unscored) -> None:
        self.unscored = unscored
        super().__init__(unscored.reason.value)


class StructuredOnly(BaseChatModel):
    """Replies in structured output and in nothing else, each reply asked of a judge and kept.

    Attributes:
        asker: what asks.
        judge: the judge's name.
        prompt, subject: as the file of verdicts has them.
    """

    asker: Any
    judge: str
    prompt: str
    subject: str

    @property
    def _llm_type(self) -> str:
        return "judge"

    def _generate(self, messages: list[BaseMessage], *args: Any, **options: Any) -> ChatResult:
        raise NotImplementedError("structured output only")

    def with_structured_output(self, schema: Any, **options: Any) -> Runnable[Any, Any]:
        """A runnable, to be awaited, that returns the reply as a dict.

        Awaiting it raises:
            NoVerdictError: there is no reply, or none that is an object.
        """

        async def ask(messages: Sequence[Any]) -> dict[str, Any]:
            given = tuple((message.type, str(message.text)) for message in convert_to_messages(messages))
            asker: Asker = self.asker
            asked = Ask(
                judge=self.judge,
                prompt=self.prompt,
                prompt_digest="",
                subject=self.subject,
                messages=given,
                schema=schema,
            )
            answer = await asker.limited(asked)
            if answer.payload is None:
                raise NoVerdictError(Unscored(reason=answer.reason or Reason.MALFORMED, detail=answer.detail))
            return dict(answer.payload)

        return RunnableLambda(ask)
