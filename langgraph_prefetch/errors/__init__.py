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
    │   ├── DatabaseClosedError
    │   ├── UnknownCollectionError
    │   ├── CollectionMismatchError
    │   ├── FilterError
    │   └── TextSearchOffError
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
    ├── FitError                            traces from which nothing can be fitted
    ├── CueFileError                        a file of cues that cannot be read
    ├── EventFileError                      a file of events that cannot be read
    ├── TimelineError                       a timeline that cannot be drawn or written
    └── DemoError                           something the demo needs does not work here

Nothing here is ever raised into a running agent: there, a failure of prefetch is a miss.
"""

from langgraph_prefetch.errors.base import (
    ConfigurationError,
    MissingExtraError,
    PrefetchError,
    did_you_mean,
)
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
from langgraph_prefetch.errors.files import (
    CueFileError,
    DemoError,
    EventFileError,
    FitError,
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
    "AlreadyWrappedError",
    "CollectionMismatchError",
    "ConfigurationError",
    "CueFileError",
    "DatabaseBusyError",
    "DatabaseClosedError",
    "DemoError",
    "DocumentOrderError",
    "EmbeddedServerError",
    "EmbedderMismatchError",
    "EventFileError",
    "ExtensionMissingError",
    "FilterError",
    "FitError",
    "IngestError",
    "MiddlewareOrderError",
    "MissingExtraError",
    "NoToolNodeError",
    "NotAGraphError",
    "NotServableError",
    "NotWrappedError",
    "OperatorTraceError",
    "PlanError",
    "PrefetchError",
    "ReadOnlyServerError",
    "RefusedPassagesError",
    "SchemaVersionError",
    "ServerTimeError",
    "ServerUnreachableError",
    "ShardError",
    "SpeculationDeclinedError",
    "SpeculationRejectedError",
    "StoreError",
    "TextSearchOffError",
    "TimelineError",
    "TraceFileError",
    "UnkeyableError",
    "UnknownCollectionError",
    "UnknownOptionError",
    "UnknownToolError",
    "UnreadableDocumentError",
    "WrongVectorsError",
    "did_you_mean",
]
