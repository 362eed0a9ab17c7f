"""A suite's report, written for a reader, for a browser and for a program.

`write_report` writes all three; `values` says what a report consists of. Pages need the extra ``eval``, the rest
nothing.
"""

from langgraph_prefetch.evaluation.reporting.json_form import read_report
from langgraph_prefetch.evaluation.reporting.write import Written, write_report

__all__ = ["Written", "read_report", "write_report"]
