"""The worker: takes searches from a queue, runs them, puts their results into a table."""

from langgraph_prefetch.aws.worker.searches import Searches, load_retriever
from langgraph_prefetch.aws.worker.settings import WorkerSettings
from langgraph_prefetch.aws.worker.worker import Worker

__all__ = ["Searches", "Worker", "WorkerSettings", "load_retriever"]
