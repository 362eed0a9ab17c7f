"""What a ranking becomes is what the host makes of what the tool returns."""

import json
from collections.abc import Sequence
from typing import Any, Literal

import pytest
from langchain_core.documents import Document
from langchain_core.prompts import PromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import BaseTool, StructuredTool, create_retriever_tool, tool

from langgraph_prefetch.graph.near.render import render_of_tool, same
from langgraph_prefetch.values import Output

FOUND = [
    Document(id="1", page_content="one", metadata={"page": 1}),
    Document(id="2", page_content="two {braces}\n", metadata={"page": 2}),
]


class Fixed(BaseRetriever):
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        return FOUND


def called(made: BaseTool) -> Output:
    message = made.invoke({"type": "tool_call", "name": made.name, "id": "1", "args": {"query": "x"}})
    return Output(message.content, message.artifact)


@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
@pytest.mark.parametrize("prompt", [None, PromptTemplate.from_template("{page}: {page_content}")])
@pytest.mark.parametrize("separator", ["\n\n", " | "])
def test_retriever_tools_are_understood(
    response_format: Literal["content", "content_and_artifact"], prompt: Any, separator: str
) -> None:
    """Every option of ``create_retriever_tool``, by comparison with the real one."""
    made = create_retriever_tool(
        Fixed(),
        "search",
        "Find.",
        document_prompt=prompt,
        document_separator=separator,
        response_format=response_format,
    )
    assert same(render_of_tool(made, None, raw=False)(FOUND), called(made))


VALUES: dict[str, Any] = {
    "text": lambda found: "\n".join(each.page_content for each in found),
    "texts": lambda found: [each.page_content for each in found],
    "objects": lambda found: [{"id": each.id, "text": each.page_content} for each in found],
    "blocks": lambda found: [{"type": "text", "text": each.page_content} for each in found],
    "object": lambda found: {each.id: each.page_content for each in found},
    "documents": lambda found: found,
    "number": lambda found: len(found),
    "umlaut": lambda found: {"größe": 1},
    "nothing": lambda found: None,
    "empty": lambda found: [],
}


@pytest.mark.parametrize("kind", VALUES)
def test_content_is_as_the_host_makes_it(kind: str) -> None:
    """Whatever a tool returns."""
    render = VALUES[kind]

    @tool
    def search(query: str) -> Any:
        """Search."""
        return render(FOUND)

    assert same(render_of_tool(search, render, raw=False)(FOUND), called(search))


def test_an_artifact_is_one() -> None:
    def render(found: Sequence[Document]) -> tuple[str, list[str]]:
        return json.dumps([each.id for each in found]), [each.page_content for each in found]

    made = StructuredTool.from_function(
        lambda query: render(FOUND), name="search", description="Find.", response_format="content_and_artifact"
    )
    assert same(render_of_tool(made, render, raw=False)(FOUND), called(made))
    with pytest.raises(TypeError, match=r"\(content, artifact\)"):
        render_of_tool(made, lambda found: "text", raw=False)(FOUND)


def test_what_cannot_be_compared_differs() -> None:
    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ValueError

        __hash__ = None  # type: ignore[assignment]

    assert not same(Output(Odd()), Output(Odd()))
    assert not same(Output("a", artifact=[1]), Output("a", artifact=[2]))
