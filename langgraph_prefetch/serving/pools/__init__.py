"""Pools of replicas that serve the stages of a flow, in the order of a policy."""

from langgraph_prefetch.serving.pools.pool import Pool
from langgraph_prefetch.serving.pools.pools import Pools
from langgraph_prefetch.serving.pools.replicas import Place
from langgraph_prefetch.serving.pools.request import Request

__all__ = ["Place", "Pool", "Pools", "Request"]
