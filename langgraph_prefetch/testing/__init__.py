"""For testing agents that use langgraph_prefetch, and whatever implements its ports.

Scripted models, slow and counting tools, fake clocks, contract suites. Nothing outside this room imports it.
"""
