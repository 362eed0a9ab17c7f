"""One arm in a process of its own, on a database of its own; and whether it stored what it should have."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from benchmarks.rivals.arm import Settings
from benchmarks.rivals.catalogue import OURS, RIVALS
from benchmarks.rivals.environments import ROOT, interpreter
from benchmarks.rivals.standin import vectors

TOP = 10
QUERIES = 20


class ArmFailedError(Exception):
    """An arm ended without a result, or stored something else than the corpus."""


class ArmNotEndedError(ArmFailedError):
    """An arm was still at work when its time was up, and was ended. ``seconds``: what it had."""

    def __init__(self, name: str, settings: Settings, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"{name} {settings}: not ended in {seconds:.0f} s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What all runs have in common.

    ``server``: libpq's URL. ``texts``: of the corpus, by key. ``seconds``: what an arm has for all of its run.
    """

    server: str
    corpus: Path
    texts: dict[str, str]
    environments: Path | None
    seconds: float

    @property
    def digest(self) -> str:
        """Of what has to be stored."""
        return digest_of(self.texts.items())


def python_of(name: str, environments: Path | None) -> Path:
    """The interpreter an arm runs on, whether it is there or not."""
    environment = RIVALS[name].environment
    return Path(sys.executable) if environment == OURS else interpreter(environment, environments)


def measure(bench: Bench, name: str, settings: Settings, delay: float) -> dict[str, Any]:
    """Run an arm once and check its rows; its figures, with ``rate`` in passages a second.

    Raises:
        ArmFailedError: the message says what happened.
        ArmNotEndedError: it took too long; none of its processes is left.
    """
    with _database(bench.server) as url:
        command = [
            str(python_of(name, bench.environments)), "-m", f"benchmarks.rivals.{RIVALS[name].module}", name,
            "--url", url, "--corpus", str(bench.corpus), "--delay", str(delay), "--settings", json.dumps(settings),
        ]  # fmt: skip
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "LANGSMITH_TRACING": "false"}
        told = _run(command, environment, bench.seconds)
        if told is None:
            raise ArmNotEndedError(name, settings, bench.seconds)
        code, output, errors = told
        if code:
            raise ArmFailedError(f"{name} {settings}: {errors.strip()[-2_000:]}")
        result: dict[str, Any] = json.loads(output.splitlines()[-1])
        _check(bench, url, name, result["rows_sql"])
    return {**result, "rate": len(bench.texts) / result["seconds"]}


def _run(command: list[str], environment: dict[str, str], seconds: float) -> tuple[int, str, str] | None:
    """Exit code and output of a program; None where it did not end, which ends it with all that it started."""
    # Into files: a pipe would stay open as long as any process that the program started and left behind.
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, env=environment, start_new_session=True)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        output.seek(0)
        errors.seek(0)
        return code, output.read(), errors.read()


def digest_of(rows: Any) -> str:
    """One string for all keys and texts, whatever their order."""
    total = hashlib.sha256()
    for key, text in sorted(rows):
        total.update(f"{key}\0{text}\0".encode())
    return total.hexdigest()


def _check(bench: Bench, url: str, name: str, rows_sql: str) -> None:
    with psycopg.connect(url) as connection:
        stored = connection.execute(f"select key, text from ({rows_sql}) as rows (key, text, vector)").fetchall()
        if len(stored) != len(bench.texts) or digest_of(stored) != bench.digest:
            raise ArmFailedError(f"{name} stored {len(stored):,} rows that are not the corpus's {len(bench.texts):,}")
        keys = list(bench.texts)
        for key in keys[:: max(1, len(keys) // QUERIES)][:QUERIES]:
            query = "[" + ",".join(map(repr, vectors([f"about {bench.texts[key]}"])[0].tolist())) + "]"
            nearest = connection.execute(
                f"select key from ({rows_sql}) as rows (key, text, vector) "
                "order by vector <=> %s::vector, key limit %s",
                (query, TOP),
            ).fetchall()
            if [found for (found,) in nearest] != _top(bench, query):
                raise ArmFailedError(f"{name} does not find the passages nearest to {key} first")


_tops: dict[str, list[str]] = {}
_matrix: list[Any] = []


def _top(bench: Bench, query: str) -> list[str]:
    """The keys nearest to a vector, found by comparing all."""
    if query not in _tops:
        if not _matrix:
            _matrix.append(vectors(list(bench.texts.values())))
        distances = 1 - _matrix[0].astype("float64") @ json.loads(query)
        keys = list(bench.texts)
        best = sorted(range(len(keys)), key=lambda place: (distances[place], keys[place]))[:TOP]
        _tops[query] = [keys[place] for place in best]
    return _tops[query]


@contextmanager
def _database(server: str) -> Iterator[str]:
    name = f"bench_{uuid.uuid4().hex[:10]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    try:
        yield _in_database(server, name)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"drop database {name} with (force)".encode())


def _in_database(server: str, name: str) -> str:
    info = psycopg.conninfo.conninfo_to_dict(server)
    host = str(info.get("host", ""))
    login = f"{info.get('user', 'postgres')}:{info.get('password', '')}@"
    if host.startswith("/"):
        return f"postgresql://{login}/{name}?host={quote(host, safe='/')}"
    return f"postgresql://{login}{host}:{info.get('port', 5432)}/{name}"
