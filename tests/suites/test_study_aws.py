"""`eval study --target aws` over the real wire, with a worker of its own process; never against an account."""

import json
from pathlib import Path

import pytest

from langgraph_prefetch.cli import main
from langgraph_prefetch.cli.main import OK, WRONG_INPUT
from langgraph_prefetch.suites import aws_target, study_worker
from tests.aws.conftest import aws, log, make_place, place, start_worker
from tests.aws.parts import Place, StartWorker
from tests.postgres import database_url, postgres_server

__all__ = ["aws", "database_url", "log", "make_place", "place", "postgres_server", "start_worker"]


def test_what_is_missing_is_named_with_the_command_for_a_worker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before anything is started or sent."""
    monkeypatch.setenv(aws_target.QUEUE, "https://queue")
    words = ("eval", "study", "--smoke", "--target", "aws", "--out", str(tmp_path / "out"))
    assert main(words) == WRONG_INPUT
    error = capsys.readouterr().err
    assert f"needs {aws_target.TABLE}, {aws_target.DATABASE}" in error
    assert aws_target.WORKER in error


def test_the_worker_of_the_study_is_found_by_name_and_opens_nothing_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it needs is said when it is asked for."""
    monkeypatch.delenv(aws_target.DATABASE, raising=False)
    assert f"{study_worker.__name__}:search" == aws_target.WORKER
    with pytest.raises(ValueError, match=aws_target.DATABASE):
        study_worker.search  # noqa: B018 - the look itself is what is tested


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_protocol_runs_through_queue_worker_and_table(
    place: Place, start_worker: StartWorker, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every search gives the passages of the real query, and warm runs find what was kept."""
    environment = {
        **place.aws.environment(),
        aws_target.QUEUE: place.queue,
        aws_target.TABLE: place.table,
        aws_target.DATABASE: database_url,
        study_worker.SMOKE: "1",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    start_worker(place, "--namespace", aws_target.NAMESPACE, retriever=aws_target.WORKER).ready()
    out = tmp_path / "out"
    assert main(("eval", "study", "--smoke", "--target", "aws", "--out", str(out))) == OK
    rows = [json.loads(line) for line in (out / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert all(row["error"] is None for row in rows)
    found = [search for row in rows for search in row["searches"]]
    assert found
    assert all(search["as_real"] is True for search in found)
    warm = [search for row in rows if row["warm"] for search in row["searches"]]
    assert {search["answered"] for search in warm} == {"ready"}
    client = place.aws.client("dynamodb")
    kept = client.scan(TableName=place.table, Select="COUNT")["Count"]
    client.close()
    assert kept > 0, "nothing went by way of the table"
