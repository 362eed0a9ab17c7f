"""Where LangGraph plugs in: the only room that imports langgraph or langchain's agents."""
