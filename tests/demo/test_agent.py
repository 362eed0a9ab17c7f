"""The scripted agent searches as written, and its answer is made of what it found."""

from typing import Any

import pytest

from langgraph_prefetch import with_prefetch
from langgraph_prefetch.demo.agent import make_agent, scripted_model
from langgraph_prefetch.demo.questions import QUESTIONS, Question, Step
from langgraph_prefetch.testing.tools import CountingSearch


def agent_of(question: Question, search: CountingSearch) -> Any:
    model = scripted_model([question], tokens_per_second=100_000)
    return make_agent(model.model_copy(update={"seconds_to_first_token": 0}), search.tool)


def asked(agent: Any, question: Question) -> str:
    return str(agent.invoke({"messages": [("user", question.text)]})["messages"][-1].text)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.topic)
def test_it_makes_the_searches_of_the_script(question: Question) -> None:
    """All of them, in order, and no other."""
    search = CountingSearch()
    asked(agent_of(question, search), question)
    assert sorted(search.queries) == sorted(query for step in question.steps for query in step.queries)


def test_another_passage_makes_another_answer() -> None:
    """Equal answers mean equal passages: the answer is not written beforehand."""
    answers = {
        asked(agent_of(QUESTIONS[1], CountingSearch(answer=answer)), QUESTIONS[1])
        for answer in (lambda query, k: "heapq: one", lambda query, k: "heapq: two")
    }
    assert len(answers) == 2


def test_look_up_means_a_search_where_there_is_no_other_tool() -> None:
    """A wrapped agent knows its tools: with `search` alone, looking something up is searching for it."""
    step = Step("I will look up heapq.nlargest to see it.", ("heapq.nlargest",))
    question = Question("a topic", "What is there?", (step,), "Done.")
    agent: Any = with_prefetch(agent_of(question, CountingSearch()), tools=["search"])
    asked(agent, question)
    assert agent.prefetch.report().served_reasoning == 1
