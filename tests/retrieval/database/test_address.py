"""URLs: which are taken, and that none tells its password."""

import pytest
import sqlalchemy as sa

from langgraph_prefetch.errors import ConfigurationError
from langgraph_prefetch.retrieval.database import Database
from langgraph_prefetch.retrieval.database.address import Embedded, parse, where, without_secrets


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_schemes(scheme: str) -> None:
    """All of them mean psycopg 3."""
    found = parse(f"{scheme}://ann:pw@db.example:5433/notes")
    assert isinstance(found, sa.URL)
    assert found.drivername == "postgresql+psycopg"
    assert where(found) == "ann@db.example:5433/notes"


@pytest.mark.parametrize(("url", "name"), [("embedded://", "default"), ("embedded://notes", "notes")])
def test_embedded(url: str, name: str) -> None:
    """Without a name it is the default one."""
    assert parse(url) == Embedded(name)
    assert parse(sa.make_url(url)) == Embedded(name)


@pytest.mark.parametrize(
    "url",
    ["sqlite://", "postgresql+asyncpg://u:secret@h/d", "secret", "embedded://../../etc", "embedded://a/b", "", 7],
)
def test_what_is_refused(url: str) -> None:
    """The message says what to write, and repeats no password."""
    with pytest.raises(ConfigurationError, match="embedded://") as caught:
        Database.open(url)
    assert "secret" not in str(caught.value)


def test_a_socket() -> None:
    """Its folder stands for the host."""
    assert where(parse("postgresql://ann@/notes?host=/run/pg")) == "ann@/run/pg/notes"


def test_secrets_are_starred_out() -> None:
    """Wherever they stand in the address."""
    address = parse("postgresql://ann:hush@h/d?sslpassword=quiet")
    assert without_secrets("tried hush and quiet", address) == "tried *** and ***"


def test_a_database_shows_no_password() -> None:
    """Neither open nor closed."""
    database = Database.open("postgresql://ann:hush@h/d")
    assert "hush" not in repr(database)
    database.close()
    assert repr(database) == "Database('ann@h/d', closed)"
