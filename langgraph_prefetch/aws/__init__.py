"""Searches on other machines, through AWS: a queue, workers, a table. Needs the extra ``aws``."""

from langgraph_prefetch.aws.dynamodb import DynamoDBCache
from langgraph_prefetch.aws.sqs import SQSExecutor

__all__ = ["DynamoDBCache", "SQSExecutor"]
