"""The four workflows of an agent that retrieves, as plans."""

from langgraph_prefetch.ingest.plan.operators import Operator, Pattern, Plan

_ALONE = (Pattern.INDEPENDENT,)

INGEST = Plan(
    name="ingest",
    operators=(
        Operator(name="load", patterns=_ALONE, does="read documents; pass over those that have not changed"),
        Operator(name="split", patterns=_ALONE, does="cut them into passages, with an id each"),
        Operator(name="embed", patterns=_ALONE, does="give each passage its vector"),
        Operator(
            name="upsert",
            patterns=(Pattern.SHUFFLE, Pattern.REDUCE),
            key="id",
            does="merge duplicates; one writer a key writes each row once",
        ),
    ),
)
"""Documents in, rows of a passage store out."""

RETRIEVE = Plan(
    name="retrieve",
    operators=(
        Operator(name="broadcast", patterns=(Pattern.BROADCAST,), does="send the query to every partition"),
        Operator(name="local top-k", patterns=_ALONE, does="the k nearest of each partition"),
        Operator(name="global top-k", patterns=(Pattern.REDUCE,), does="the k nearest of all"),
    ),
)
"""A query in, the k nearest passages of several partitions out: those that one big table would give."""

REDUCE_CONTEXT = Plan(
    name="reduce context",
    operators=(
        Operator(
            name="merge",
            patterns=(Pattern.SHUFFLE, Pattern.REDUCE),
            key="id",
            does="a passage that several searches found, once",
        ),
        Operator(name="fit", patterns=(Pattern.REDUCE,), does="order them, best first, and keep what the budget holds"),
    ),
)
"""Passages of several searches in, one context out."""

MEMORY = Plan(
    name="memory",
    operators=(
        Operator(name="write", patterns=_ALONE, does="put what is to be remembered into the store"),
        Operator(
            name="epoch", patterns=(Pattern.EXCHANGE,), does="tell every process, whose pending searches go stale"
        ),
    ),
)
"""Something to remember in, its epoch known to every process."""
