"""What a suite asks."""

from __future__ import annotations

from langgraph_prefetch.evaluation.trials import Question, read_questions
from langgraph_prefetch.suites.contract import SuiteContext


def questions_of(context: SuiteContext) -> tuple[Question, ...]:
    """The user's file of questions, else those of the suite.

    Raises:
        ConfigurationError: there is none.
        EvaluationFileError: a file cannot be read.
        MissingExtraError: those of the suite, without the extra ``demo``.
    """
    if context.questions:
        return read_questions(context.questions)
    from langgraph_prefetch.suites.own import scripted_of

    return scripted_of(context).questions
