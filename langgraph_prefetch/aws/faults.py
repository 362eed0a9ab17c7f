"""What AWS and botocore raise, in our words. Pure."""

from __future__ import annotations

from langgraph_prefetch.aws._extras import botocore_errors
from langgraph_prefetch.errors import CloudError, CredentialsError

ClientError: type[Exception] = botocore_errors.ClientError
BotoCoreError: type[Exception] = botocore_errors.BotoCoreError

CONDITION = "ConditionalCheckFailedException"
_ABSENT = frozenset(
    {
        *("ResourceNotFoundException", "QueueDoesNotExist", "NoSuchBucket", "404"),
        *("AWS.SimpleQueueService.NonExistentQueue", "InvalidAddress"),
    }
)
_CREDENTIALS = frozenset(
    {
        *("ExpiredToken", "ExpiredTokenException", "InvalidClientTokenId", "UnrecognizedClientException"),
        *("InvalidSignatureException", "SignatureDoesNotMatch", "AccessDenied", "AccessDeniedException"),
        *("MissingAuthenticationToken", "MissingAuthenticationTokenException", "AuthFailure", "InvalidAccessKeyId"),
    }
)
_NO_CREDENTIALS = (
    botocore_errors.NoCredentialsError,
    botocore_errors.PartialCredentialsError,
    botocore_errors.CredentialRetrievalError,
    botocore_errors.TokenRetrievalError,
)


class ConditionFailedError(Exception):
    """A conditional write found another state; no fault of the service. ``item``: what it found, if told."""

    def __init__(self, item: dict[str, object] | None) -> None:
        super().__init__()
        self.item = item


def code_of(error: BaseException) -> str:
    """The service's own name of what went wrong, or that of the exception."""
    response = getattr(error, "response", None)
    code = response.get("Error", {}).get("Code") if isinstance(response, dict) else None
    return str(code or type(error).__name__)


def is_credentials(error: BaseException) -> bool:
    """Whether the caller's credentials are at fault."""
    return isinstance(error, _NO_CREDENTIALS) or code_of(error) in _CREDENTIALS


def told(error: BaseException, what: str, kind: type[CloudError], absent: str, where: str) -> CloudError:
    """The error for a person who starts something.

    Args:
        error: what was raised.
        what: the queue or table.
        kind: the error where it is the service's or its configuration's fault.
        absent: what to do where there is no such thing.
        where: region and endpoint.
    """
    if is_credentials(error):
        remedy = "Give credentials in one of the places where boto3 looks, with the rights that the AWS guide lists"
        return CredentialsError(what, f"the credentials do not do ({code_of(error)}, {where})", remedy)
    if code_of(error) in _ABSENT:
        return kind(what, f"there is no such thing in {where}", absent)
    return kind(
        what, f"it cannot be used ({code_of(error)}, {where})", "Check the region, the endpoint and the network"
    )
