"""ragas, imported so that it sends nothing anywhere and changes no event loop.

Nothing else here imports it: it takes seconds to load, and with langchain-community from 0.4.2 on it does not import.
"""

from __future__ import annotations

import os

from langgraph_prefetch.errors import MissingExtraError

# Before the import, and literally so: ragas 0.4 takes "1" for consent, and then every call waits for its server.
os.environ["RAGAS_DO_NOT_TRACK"] = "true"

try:
    import ragas
    from ragas._analytics import do_not_track
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms.base import InstructorBaseRagasLLM
    from ragas.metrics.collections import AnswerRelevancy, ContextPrecision, ContextRecall, Faithfulness
except ImportError as error:
    raise MissingExtraError("ragas with langchain-community below 0.4.2", "ragas") from error

do_not_track.cache_clear()  # it may have been imported, and asked, before us
RAGAS_VERSION: str = ragas.__version__

__all__ = [
    "RAGAS_VERSION",
    "AnswerRelevancy",
    "BaseRagasEmbedding",
    "ContextPrecision",
    "ContextRecall",
    "Faithfulness",
    "InstructorBaseRagasLLM",
]
