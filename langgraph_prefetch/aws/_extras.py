"""The optional libraries of this room, in one place."""

from __future__ import annotations

from langgraph_prefetch.errors import MissingExtraError

try:
    import boto3
    import botocore.client as botocore_client
    import botocore.config as botocore_config
    import botocore.exceptions as botocore_errors
except ImportError as error:
    raise MissingExtraError(error.name or "boto3", "aws") from error
try:
    from langgraph_prefetch.breaker import Breaker, BreakerRule, Entered
except ImportError as error:
    raise MissingExtraError("purgatory", "aws") from error

__all__ = ["Breaker", "BreakerRule", "Entered", "boto3", "botocore_client", "botocore_config", "botocore_errors"]
