"""How finely streams are handed on: token by token while there is time, in larger pieces under load."""

from langgraph_prefetch.serving.granularity.chunks import beside, chunks
from langgraph_prefetch.serving.granularity.controller import Chunker, Grain, Granularity
from langgraph_prefetch.serving.granularity.reading import LoadedReading, read_by_load

__all__ = ["Chunker", "Grain", "Granularity", "LoadedReading", "beside", "chunks", "read_by_load"]
