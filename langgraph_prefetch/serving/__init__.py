"""Serving under load: agents whose steps run on different resources, planned, scheduled, and simulated.

The policies that run live are the very objects that the simulator drives; the time is always passed in.
"""
