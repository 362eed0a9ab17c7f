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

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A sentence, with a space before it, that names the one of ``known`` that was meant; empty where none is near."""
    known = list(known)
    # The start of one name, and of no other, is meant for it, however much of it is missing.
    begun = [each for each in known if name and each.startswith(name)]
    close = begun if len(begun) == 1 else difflib.get_close_matches(name, known, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


class PrefetchError(Exception):
    """Base of every error of this package."""


class ConfigurationError(PrefetchError, ValueError):
    """The package was asked for something it cannot do; the message says what to do instead."""


class NotAGraphError(ConfigurationError):
    """What was handed to ``with_prefetch`` is not a compiled LangGraph graph."""

    def __init__(self, got: object) -> None:
        self.got_type = type(got).__name__
        hint = " Call .compile() first." if hasattr(got, "compile") else ""
        if self.got_type == "RemoteGraph":
            hint = " Its tools run on a server: wrap the graph there."
        super().__init__(f"with_prefetch needs a compiled LangGraph graph, not {self.got_type}.{hint}")


class NoToolNodeError(ConfigurationError):
    """The graph runs no ToolNode, so there is no call that could be answered."""

    def __init__(self, nodes: Iterable[str]) -> None:
        self.nodes = tuple(nodes)
        super().__init__(
            f"no ToolNode among the graph's nodes ({', '.join(self.nodes) or 'none'}) or its subgraphs. "
            "If a function node calls an agent or a tool, wrap that agent, or use Prefetcher.tool()."
        )


class AlreadyWrappedError(ConfigurationError):
    """The graph is wrapped already; wrapping it again would count every call twice."""

    def __init__(self) -> None:
        super().__init__(
            "this graph prefetches already, by with_prefetch, PrefetchMiddleware or prefetching_tool_node: use one of "
            "them, and name all tools there"
        )


class NotWrappedError(ConfigurationError):
    """The graph has no prefetcher of its own."""

    def __init__(self, got: object) -> None:
        self.got_type = type(got).__name__
        super().__init__(f"this {self.got_type} was not returned by with_prefetch, so it has no prefetcher")


class UnknownToolError(ConfigurationError):
    """A named tool is not in the graph, or a tool was handed to a prefetcher that names others."""

    def __init__(self, name: str, available: Iterable[str], where: str = "in the graph. Its tools") -> None:
        self.name, self.available = name, tuple(sorted(available))
        listed = ", ".join(self.available) or "none"
        super().__init__(f"no tool named {name!r} {where}: {listed}.{did_you_mean(name, self.available)}")


class UnknownOptionError(ConfigurationError):
    """An option that does not exist."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(sorted(known))
        super().__init__(f"unknown option {name!r}. Options: {', '.join(self.known)}.{did_you_mean(name, self.known)}")


class MiddlewareOrderError(ConfigurationError):
    """``PrefetchMiddleware`` is not the last of the agent's middleware."""

    def __init__(self, after: Iterable[str]) -> None:
        self.after = tuple(after)
        super().__init__(
            f"PrefetchMiddleware must be the last middleware, so that your own tool wrappers run on every call; "
            f"{', '.join(self.after)} came after it"
        )


class DatabaseClosedError(ConfigurationError):
    """A database is used after it was closed."""

    def __init__(self) -> None:
        super().__init__("this Database is closed: open another, or close it after its last user")


class PlanError(ConfigurationError):
    """A plan that says nothing that could be run, or that lacks what an operator is to do."""


class UnknownCollectionError(ConfigurationError):
    """A store is to be opened, not made, and there is no collection of that name; the message lists those there are."""


class CollectionMismatchError(ConfigurationError):
    """A collection exists, and is not what it was opened as.

    Attributes:
        collection: its name.
        what: ``"dimensions"``, ``"metric"``, ``"storage"``, ``"text_search"`` or ``"embedder"``.
        has: what it is there.
        asked: what it was opened as.
    """

    def __init__(self, collection: str, what: str, has: object, asked: object) -> None:
        self.collection, self.what, self.has, self.asked = collection, what, has, asked
        hint = " Was the embedding model changed? Vectors of two models do not compare." if what == "dimensions" else ""
        super().__init__(
            f"collection {collection!r} has {what} {has!r}, and was opened with {asked!r}.{hint} "
            f"Open it with {has!r}, or fill another collection"
        )


class FilterError(ConfigurationError):
    """A metadata filter that has no meaning; the message says where in it, and what would have one."""


class TextSearchOffError(ConfigurationError):
    """Words were searched in a collection that was made without an index of them."""

    def __init__(self, collection: str) -> None:
        self.collection = collection
        super().__init__(
            f"collection {collection!r} has no text index, which costs time at ingestion and so is opt-in: "
            'fill a new collection made with text_search="english" (or another configuration of your server)'
        )


class EmbedderMismatchError(ConfigurationError):
    """The embedder is not the one that made a store's vectors, or makes no use of its text."""


class MissingExtraError(PrefetchError, ImportError):
    """An optional library is missing; the message is the command that installs it."""

    def __init__(self, library: str, extra: str) -> None:
        self.library, self.extra = library, extra
        super().__init__(f'{library} is not installed: pip install "langgraph-prefetch[{extra}]"')


class UnkeyableError(PrefetchError):
    """The arguments hold a value with no canonical form, so equality cannot be decided."""

    def __init__(self, value: object) -> None:
        self.value_type = type(value).__name__
        super().__init__(f"a value of type {self.value_type} has no canonical form")


class SpeculationRejectedError(PrefetchError):
    """The executor takes no more speculations now: it is full or closed."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"speculation rejected: {reason}")


class NotServableError(PrefetchError):
    """A tool gave back something that no other call may be answered with."""


class SpeculationDeclinedError(PrefetchError):
    """For tools to raise where ``is_speculative()`` is true: this call is not to run early.

    Its speculation is cancelled, which is no failure of the backend. In a real call it is an error as any other.
    """


class StoreError(PrefetchError):
    """A passage store, or the database under it, cannot do what it was asked."""


class ServerUnreachableError(StoreError):
    """No connection to the server: it does not answer, refuses the login, or ended the connection.

    Attributes:
        where: user, host, port and database; never a password.
        reason: what the driver said, in a line.
    """

    def __init__(self, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"no connection to PostgreSQL at {where}: {reason}")


class ReadOnlyServerError(StoreError):
    """The server takes no writes: it is a replica, or its transactions are read-only."""

    def __init__(self, where: str) -> None:
        self.where = where
        super().__init__(f"PostgreSQL at {where} is read-only: name its primary, or one that takes writes")


class ExtensionMissingError(StoreError):
    """The database has no pgvector.

    Attributes:
        sql: what a superuser, or the database's owner, has to run; None where the server has no such extension.
    """

    def __init__(self, where: str, sql: str | None, reason: str | None = None) -> None:
        self.where, self.sql, self.reason = where, sql, reason
        because = f" ({reason})" if reason else ""
        remedy = f"run `{sql}` there" if sql else "install it on the server: https://github.com/pgvector/pgvector"
        super().__init__(f"PostgreSQL at {where} has no extension vector{because}: {remedy}")


class DatabaseBusyError(StoreError):
    """No connection became free in time.

    Attributes:
        connections: how many there are.
        waited_seconds: how long the call waited.
    """

    def __init__(self, connections: int, waited_seconds: float) -> None:
        self.connections, self.waited_seconds = connections, waited_seconds
        super().__init__(
            f"none of {connections} connections became free in {waited_seconds:g} s: "
            "raise PoolLimits.connections or wait_seconds, or look for work that keeps them"
        )


class EmbeddedServerError(StoreError):
    """The embedded PostgreSQL cannot be started here; the message says what it said, and what to do where known."""


class UnreadableDocumentError(PrefetchError):
    """A document cannot be decoded or parsed, or says nothing; an ingestion skips it, with this as the reason."""


class IngestError(PrefetchError):
    """An ingestion had to stop. What it had written is whole, and stays; run again, it goes on from there."""

    def __init__(self, stage: str, reason: str) -> None:
        self.stage, self.reason = stage, reason
        super().__init__(f"ingestion stopped in {stage}: {reason}")


class DocumentOrderError(IngestError):
    """A source's documents came in several places of a stream, so that a rerun could not tell if they have changed."""

    def __init__(self, source: str) -> None:
        self.source = source
        super().__init__(
            "load",
            f"documents of {source!r} came before and after those of others: hand in a list, which is put in order, or "
            "give each source's documents one after the other",
        )


class OperatorTraceError(PrefetchError):
    """A trace of operators cannot be opened, or a line of it is no step."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class SchemaVersionError(StoreError):
    """The tables were made by a newer version of this package.

    Attributes:
        schema: the PostgreSQL schema they are in.
        found: the number of their version.
        known: the newest that this version of the package knows.
    """

    def __init__(self, schema: str, found: str, known: str) -> None:
        self.schema, self.found, self.known = schema, found, known
        super().__init__(
            f"the tables in schema {schema!r} are of version {found}, and this package knows up to {known}: "
            "upgrade langgraph-prefetch here, or name another schema"
        )


class WrongVectorsError(StoreError):
    """An embedder gave something else than one finite vector, of the collection's length, for each text."""


class RefusedPassagesError(StoreError):
    """Some of the passages of one call cannot be stored; nothing of the call was written.

    Attributes:
        refused: position in the call -> why.
    """

    def __init__(self, refused: Mapping[int, str]) -> None:
        self.refused = dict(refused)
        shown = "; ".join(f"number {at}: {why}" for at, why in sorted(self.refused.items())[:3])
        more = f"; and {len(self.refused) - 3} more" if len(self.refused) > 3 else ""
        super().__init__(f"{len(self.refused)} passages cannot be stored, so none was written ({shown}{more})")


class ServerTimeError(StoreError, ValueError):
    """The server's clock went back, so that what was written before cannot be told from what is written now.

    Attributes:
        now: what it shows, in seconds since 1970.
        at_least: what it has shown already.
    """

    def __init__(self, now: float, at_least: float) -> None:
        self.now, self.at_least = now, at_least
        super().__init__(
            f"the clock of the database's server shows a time {at_least - now:.3f} s before one that it has shown "
            "already: index again when it has caught up"
        )


class ShardError(StoreError):
    """Some of several databases did not answer.

    Attributes:
        failed: name of the shard -> what went wrong.
        shards: how many there are.
    """

    def __init__(self, failed: Mapping[str, BaseException], shards: int) -> None:
        self.failed, self.shards = dict(failed), shards
        listed = "; ".join(f"{name}: {error}" for name, error in self.failed.items())
        super().__init__(
            f"{len(self.failed)} of {shards} shards did not answer ({listed}). "
            'Without them the answer may be wrong; on_failure="partial" gives what the others have, and says so'
        )


class TraceFileError(PrefetchError):
    """A recording cannot be opened or read."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class FitError(PrefetchError):
    """Cues cannot be fitted to these traces without overfitting; the message says what is missing."""


class CueFileError(PrefetchError):
    """A file of cues cannot be opened, is broken or huge, or was written in another version of the format."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class EventFileError(PrefetchError):
    """A file of events cannot be opened, or was written in a format that is newer than ours."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


class TimelineError(PrefetchError):
    """A timeline cannot be drawn or written; the message says what is missing."""


class DemoError(PrefetchError):
    """Something the demo needs does not work here; the message says what, and what to do where that is known."""
