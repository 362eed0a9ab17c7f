"""Names of attributes and metrics.

Those of the OpenTelemetry GenAI semantic conventions (status: development) where they exist, else
``langgraph_prefetch.*``. Metric names carry no unit; the instruments do.
"""

from __future__ import annotations

# --- the conventions'

OPERATION_NAME = "gen_ai.operation.name"
EXECUTE_TOOL = "execute_tool"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
FUNCTION = "function"
TOOL_CALL_ID = "gen_ai.tool.call.id"
TOOL_CALL_ARGUMENTS = "gen_ai.tool.call.arguments"
QUERY_TEXT = "gen_ai.retrieval.query.text"
ERROR_TYPE = "error.type"
ERROR_OTHER = "_OTHER"
TOKEN_TYPE = "gen_ai.token.type"  # noqa: S105 - no password

# --- attributes of our own; those of spans alone have as many values as there are runs

RUN_ID = "langgraph_prefetch.run_id"
STEP = "langgraph_prefetch.step"
SPECULATION_ID = "langgraph_prefetch.speculation_id"
SOURCE = "langgraph_prefetch.source"
PROBABILITY = "langgraph_prefetch.probability"
CUE = "langgraph_prefetch.cue"
FATE = "langgraph_prefetch.fate"
REASON = "langgraph_prefetch.reason"
SERVED = "langgraph_prefetch.served"
LATE = "langgraph_prefetch.late"
FAILED = "langgraph_prefetch.failed"
IDLE = "langgraph_prefetch.idle"
WHERE = "langgraph_prefetch.where"
RETRIEVAL_SECONDS = "langgraph_prefetch.retrieval_seconds"
WAITED_SECONDS = "langgraph_prefetch.waited_seconds"
LEAD_SECONDS = "langgraph_prefetch.lead_seconds"
HIDEABLE_SECONDS = "langgraph_prefetch.hideable_seconds"
HIDDEN_SECONDS = "langgraph_prefetch.hidden_seconds"
LINK = "langgraph_prefetch.link"
GUESSES = "langgraph_prefetch.guesses"
TIER = "langgraph_prefetch.tier"
ANCHOR = "langgraph_prefetch.anchor"
WRONG = "langgraph_prefetch.wrong"
OPEN = "langgraph_prefetch.open"
BOUND = "langgraph_prefetch.bound"

# --- values of our own

NOT_SERVED = "none"
"""The source of a search call that its own tool ran for."""
UNSETTLED = "unsettled"
"""The fate of a speculation whose end was never told."""
AGENT = "agent"
"""The link to where a speculation was started."""
SPECULATION = "speculation"
"""The link to the speculation that served a call."""
JOINED = "joined"
"""The span event of a signal that asked for a speculation under way."""

# --- metrics

RUNS_STARTED = "langgraph_prefetch.run.started"
RUNS_ENDED = "langgraph_prefetch.run.ended"
STEPS_STARTED = "langgraph_prefetch.step.started"
FALSE_STARTS = "langgraph_prefetch.step.false_starts"
SPECULATIONS_STARTED = "langgraph_prefetch.speculation.started"
SPECULATIONS_JOINED = "langgraph_prefetch.speculation.joined"
SPECULATIONS_IGNORED = "langgraph_prefetch.speculation.ignored"
SPECULATIONS_ENDED = "langgraph_prefetch.speculation.ended"
SPECULATION_RETRIEVAL = "langgraph_prefetch.speculation.retrieval"
SEARCH_CALLS = "langgraph_prefetch.search_call.answered"
CALL_RETRIEVAL = "langgraph_prefetch.search_call.retrieval"
CALL_WAITED = "langgraph_prefetch.search_call.waited"
CALL_LEAD = "langgraph_prefetch.search_call.lead"
CALL_HIDEABLE = "langgraph_prefetch.search_call.hideable"
CALL_HIDDEN = "langgraph_prefetch.search_call.hidden"
NEXT_CALLS_STARTED = "langgraph_prefetch.next_call.started"
NEXT_CALLS_IGNORED = "langgraph_prefetch.next_call.ignored"
NEXT_CALLS_ENDED = "langgraph_prefetch.next_call.ended"
NEXT_CALL_HIDDEN = "langgraph_prefetch.next_call.hidden"
WASTED_TOKENS = "langgraph_prefetch.next_call.wasted_tokens"
NEAR_FETCHED = "langgraph_prefetch.near.fetched"
NEAR_BYTES = "langgraph_prefetch.near.vectors"
NEAR_FETCH = "langgraph_prefetch.near.fetch"
NEAR_IGNORED = "langgraph_prefetch.near.ignored"
NEAR_ANSWERED = "langgraph_prefetch.near.answered"
NEAR_ANSWER = "langgraph_prefetch.near.answer"
NEAR_CHECKED = "langgraph_prefetch.near.checked"
NEAR_CHANGED = "langgraph_prefetch.near.tier_changed"
NEAR_WRONG_RATE = "langgraph_prefetch.near.wrong_set_rate"
TROUBLES = "langgraph_prefetch.trouble.occurred"
EVENTS_DROPPED = "langgraph_prefetch.event.dropped"
