"""Bringing a database's schema up to date, from code, once, however many processes start at the same time."""

from __future__ import annotations

import re
import threading
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from langgraph_prefetch.errors import ConfigurationError, SchemaVersionError

VERSION_TABLE = "prefetch_schema_version"
_FOLDER = Path(__file__).with_name("migrations")
# Any fixed number; the same for every schema of a database, since the steps may touch what schemas share.
_ADVISORY_LOCK = 0x70726566_65746368
_NAME = r"(?!pg_)[A-Za-z_][A-Za-z0-9_ -]{0,62}"
# Alembic's operations work through a global of the process.
_alembic = threading.Lock()


@cache
def _steps() -> ScriptDirectory:
    return ScriptDirectory(str(_FOLDER.parent), version_locations=[str(_FOLDER)])


def newest() -> str:
    """The number of the last step there is."""
    head = _steps().get_current_head()
    assert head is not None
    return head


def version(connection: sa.Connection, schema: str) -> str | None:
    """The number of the last step that a schema has seen; None where there is none of ours."""
    found: str | None = None
    if sa.inspect(connection).has_table(VERSION_TABLE, schema=schema):
        table = sa.table(VERSION_TABLE, sa.column("version_num", sa.Text), schema=schema)
        found = connection.scalar(sa.select(table.c.version_num))
    return found


def migrate(connection: sa.Connection, schema: str) -> None:
    """Run the steps that this schema has not seen, in the caller's transaction: all of them or none.

    The schema is made if there is none. Where nothing is to be done nothing is written, so a read-only server with an
    up-to-date schema will do.

    Raises:
        ConfigurationError: a name that no schema of ours has.
        SchemaVersionError: the schema was made by a newer version of this package.
    """
    checked_schema(schema)
    if _current(connection, schema):
        return
    one_at_a_time(connection)
    if _current(connection, schema):  # another process was faster
        return
    if not sa.inspect(connection).has_schema(schema):
        connection.execute(sa.schema.CreateSchema(schema))
    with _alembic:
        _run(connection, schema)


def checked_schema(schema: object) -> None:
    """Raise ``ConfigurationError`` unless a schema of ours can be called so."""
    if not isinstance(schema, str) or not re.fullmatch(_NAME, schema):
        raise ConfigurationError(
            f"a schema's name is up to 63 letters, digits, spaces, '_' and '-', and does not begin with pg_, "
            f"not {schema!r}"
        )


def one_at_a_time(connection: sa.Connection) -> None:
    """Wait until no other transaction of this database makes tables of ours, and keep others waiting until the end."""
    connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))


def _current(connection: sa.Connection, schema: str) -> bool:
    found = version(connection, schema)
    if found is not None and found not in {each.revision for each in _steps().walk_revisions()}:
        raise SchemaVersionError(schema, found, newest())
    return found == newest()


def _run(connection: sa.Connection, schema: str) -> None:
    steps = _steps()

    def upgrade(revision: Any, context: MigrationContext) -> Any:
        return steps._upgrade_revs("heads", revision)  # alembic's documentation says to

    options: dict[str, Any] = {"schema": schema}
    with EnvironmentContext(Config(), steps, fn=upgrade) as environment:
        environment.configure(
            connection=connection, version_table=VERSION_TABLE, version_table_schema=schema, **options
        )
        environment.run_migrations()
