"""Everything this package raises on purpose.

::

    PrefetchError
    ├── ConfigurationError (ValueError)     wrong use, found when the graph is wrapped
    │   ├── NotAGraphError
    │   ├── NoToolNodeError
    │   ├── AlreadyWrappedError
    │   ├── NotWrappedError
    │   ├── UnknownToolError
    │   ├── UnknownOptionError
    │   ├── MiddlewareOrderError
    │   ├── EmbedderMismatchError
    │   ├── PlanError
    │   ├── SampleError
    │   ├── DatabaseClosedError
    │   ├── UnknownCollectionError
    │   ├── CollectionMismatchError
    │   ├── FilterError
    │   ├── UnknownPriceError
    │   ├── TextSearchOffError
    │   ├── OtherEvaluationError
    │   ├── RemoteToolError
    │   ├── RetrieverError
    │   ├── NoJudgeError
    │   ├── JudgeModelError
    │   ├── FlowError
    │   ├── InfeasibleBudgetError
    │   ├── SimulationError
    │   ├── NothingToJudgeError
    │   └── MissingPartError
    ├── MissingExtraError (ImportError)     an optional library is not installed
    ├── UnkeyableError                      arguments that no key can stand for
    ├── SpeculationRejectedError            no room for a speculation; counted, never shown to the agent
    ├── NotServableError                    a tool's result that no call may be answered with; counted likewise
    ├── SpeculationDeclinedError            raised by a tool of yours that does not want to run early; counted
    ├── StoreError                          a passage store, or the database under it, that does not work
    │   ├── ServerUnreachableError
    │   ├── ReadOnlyServerError
    │   ├── ExtensionMissingError
    │   ├── DatabaseBusyError
    │   ├── EmbeddedServerError
    │   ├── SchemaVersionError
    │   ├── WrongVectorsError
    │   ├── RefusedPassagesError
    │   ├── ServerTimeError (ValueError)
    │   └── ShardError
    ├── UnreadableDocumentError             a document that no passages can be made of; skipped, with the reason
    ├── IngestError                         an ingestion that had to stop; run again, it goes on
    │   └── DocumentOrderError
    ├── OperatorTraceError                  a trace of operators that cannot be read
    ├── TraceFileError                      a recording that cannot be read
    ├── UnportableError                     a value that no other process could read
    ├── UnreadableItemError                 a message or item of another version, or no JSON; a miss
    ├── NotDispatchedError                  a search that could not be handed to a worker; it runs here
    ├── RemoteSearchError                   a search on another machine that gave nothing; a miss
    ├── CloudError                          an AWS service that does not work as it is configured
    │   ├── CredentialsError
    │   ├── QueueUnusableError
    │   └── TableUnusableError
    ├── ServiceAgentError                   an agent that a service runs did not come to an answer
    │   ├── AgentTimeoutError (TimeoutError)
    │   └── AgentRoundsError
    ├── ServingError                        a request that pools of replicas or a gateway could not serve
    │   ├── QueueFullError
    │   ├── OverLimitError
    │   ├── BreakerOpenError
    │   ├── ColdError
    │   ├── UnknownBlobError
    │   ├── ShortReadError
    │   ├── BlobMismatchError
    │   ├── PathsFailedError
    │   ├── NoEngineError
    │   ├── PoolClosedError
    │   └── ReplicaLostError
    ├── FitError                            traces from which nothing can be fitted
    ├── CueFileError                        a file of cues that cannot be read
    ├── PriceFileError                      a file of prices that cannot be read
    ├── EvaluationFileError                 a suite, questions or rows of an evaluation that cannot be read
    ├── LowCoverageError                    too few answers got a verdict to speak of the others
    ├── VerdictFileError                    a file of verdicts that cannot be read or written
    ├── EventFileError                      a file of events that cannot be read
    ├── TimelineError                       a timeline that cannot be drawn or written
    ├── ReportError                         a report of a suite that cannot be written or read back
    └── DemoError                           something the demo needs does not work here

Nothing here is ever raised into a running agent: there, a failure of prefetch is a miss.
"""

from langgraph_prefetch.errors.agents import AgentRoundsError, AgentTimeoutError, ServiceAgentError
from langgraph_prefetch.errors.base import (
    ConfigurationError,
    MissingExtraError,
    PrefetchError,
    did_you_mean,
)
from langgraph_prefetch.errors.costs import PriceFileError, UnknownPriceError
from langgraph_prefetch.errors.database import (
    DatabaseBusyError,
    DatabaseClosedError,
    EmbeddedServerError,
    ExtensionMissingError,
    ReadOnlyServerError,
    ServerTimeError,
    ServerUnreachableError,
    StoreError,
)
from langgraph_prefetch.errors.evaluation import EvaluationFileError, OtherEvaluationError
from langgraph_prefetch.errors.files import (
    CueFileError,
    DemoError,
    EventFileError,
    FitError,
    ReportError,
    TimelineError,
    TraceFileError,
)
from langgraph_prefetch.errors.ingestion import (
    DocumentOrderError,
    IngestError,
    OperatorTraceError,
    PlanError,
    UnreadableDocumentError,
)
from langgraph_prefetch.errors.judging import (
    JudgeModelError,
    LowCoverageError,
    MissingPartError,
    NoJudgeError,
    NothingToJudgeError,
    VerdictFileError,
)
from langgraph_prefetch.errors.remote import (
    CloudError,
    CredentialsError,
    NotDispatchedError,
    QueueUnusableError,
    RemoteSearchError,
    RemoteToolError,
    RetrieverError,
    TableUnusableError,
    UnportableError,
    UnreadableItemError,
)
from langgraph_prefetch.errors.samples import SampleError
from langgraph_prefetch.errors.serving import (
    BlobMismatchError,
    BreakerOpenError,
    ColdError,
    FlowError,
    InfeasibleBudgetError,
    NoEngineError,
    OverLimitError,
    PathsFailedError,
    PoolClosedError,
    QueueFullError,
    ReplicaLostError,
    ServingError,
    ShortReadError,
    SimulationError,
    UnknownBlobError,
)
from langgraph_prefetch.errors.speculation import (
    NotServableError,
    SpeculationDeclinedError,
    SpeculationRejectedError,
    UnkeyableError,
)
from langgraph_prefetch.errors.store import (
    CollectionMismatchError,
    EmbedderMismatchError,
    FilterError,
    RefusedPassagesError,
    SchemaVersionError,
    ShardError,
    TextSearchOffError,
    UnknownCollectionError,
    WrongVectorsError,
)
from langgraph_prefetch.errors.wrapping import (
    AlreadyWrappedError,
    MiddlewareOrderError,
    NotAGraphError,
    NoToolNodeError,
    NotWrappedError,
    UnknownOptionError,
    UnknownToolError,
)

__all__ = [
    "AgentRoundsError",
    "AgentTimeoutError",
    "AlreadyWrappedError",
    "BlobMismatchError",
    "BreakerOpenError",
    "CloudError",
    "ColdError",
    "CollectionMismatchError",
    "ConfigurationError",
    "CredentialsError",
    "CueFileError",
    "DatabaseBusyError",
    "DatabaseClosedError",
    "DemoError",
    "DocumentOrderError",
    "EmbeddedServerError",
    "EmbedderMismatchError",
    "EvaluationFileError",
    "EventFileError",
    "ExtensionMissingError",
    "FilterError",
    "FitError",
    "FlowError",
    "InfeasibleBudgetError",
    "IngestError",
    "JudgeModelError",
    "LowCoverageError",
    "MiddlewareOrderError",
    "MissingExtraError",
    "MissingPartError",
    "NoEngineError",
    "NoJudgeError",
    "NoToolNodeError",
    "NotAGraphError",
    "NotDispatchedError",
    "NotServableError",
    "NotWrappedError",
    "NothingToJudgeError",
    "OperatorTraceError",
    "OtherEvaluationError",
    "OverLimitError",
    "PathsFailedError",
    "PlanError",
    "PoolClosedError",
    "PrefetchError",
    "PriceFileError",
    "QueueFullError",
    "QueueUnusableError",
    "ReadOnlyServerError",
    "RefusedPassagesError",
    "RemoteSearchError",
    "RemoteToolError",
    "ReplicaLostError",
    "ReportError",
    "RetrieverError",
    "SampleError",
    "SchemaVersionError",
    "ServerTimeError",
    "ServerUnreachableError",
    "ServiceAgentError",
    "ServingError",
    "ShardError",
    "ShortReadError",
    "SimulationError",
    "SpeculationDeclinedError",
    "SpeculationRejectedError",
    "StoreError",
    "TableUnusableError",
    "TextSearchOffError",
    "TimelineError",
    "TraceFileError",
    "UnkeyableError",
    "UnknownBlobError",
    "UnknownCollectionError",
    "UnknownOptionError",
    "UnknownPriceError",
    "UnknownToolError",
    "UnportableError",
    "UnreadableDocumentError",
    "UnreadableItemError",
    "VerdictFileError",
    "WrongVectorsError",
    "did_you_mean",
]
