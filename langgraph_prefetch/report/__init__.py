"""Counts over events, and the report they make. The words are defined in docs/words.md."""

from langgraph_prefetch.report.report import DrawsTimeline, PriceList, Report
from langgraph_prefetch.report.tally import MAX_OPEN_RUNS, Tally

__all__ = ["MAX_OPEN_RUNS", "DrawsTimeline", "PriceList", "Report", "Tally"]
