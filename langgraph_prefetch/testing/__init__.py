"""For testing agents that use langgraph_prefetch, and whatever implements its ports.

Scripted models, slow and counting tools, fake clocks, contract suites. Nothing outside this room imports it.
"""

import sys

if "pytest" in sys.modules:  # so that a broken contract shows the values it compared
    sys.modules["pytest"].register_assert_rewrite(
        *(f"{__name__}.{suite}_contract" for suite in ("cache", "results", "search", "sink"))
    )
