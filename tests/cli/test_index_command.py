"""Filling a store and searching it from the command line, on a real PostgreSQL."""

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from langgraph_prefetch.cli import index as index_command
from langgraph_prefetch.cli import index_progress, main
from langgraph_prefetch.cli.index import CLEANUPS, FORMATS, OVERLAP, SIZE, register
from langgraph_prefetch.ingest import IngestProgress
from langgraph_prefetch.ingest.queues import QueueDepth
from langgraph_prefetch.ingest.settings import CLEANUPS as THEIR_CLEANUPS
from langgraph_prefetch.ingest.sources.formats import FORMATS as THEIR_FORMATS
from langgraph_prefetch.ingest.splitting import default_splitter

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(database_url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command on a database of the test's own: the exit code and what was printed."""
    monkeypatch.setenv("LANGGRAPH_PREFETCH_URL", database_url)

    def run(*words: object) -> tuple[int, str, str]:
        code = main([str(word) for word in words])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "garden.md").write_text("# Garden\n\nTomatoes want sun.\n\n## Water\n\nWater them in the morning.\n")
    (folder / "kitchen.txt").write_text("Bread rises best where it is warm.")
    (folder / "facts.jsonl").write_text(
        '{"title": "Bees", "text": "Bees dance."}\nbroken\n{"text": "Ants walk in line."}\n'
    )
    return folder


def test_files_are_put_in_and_found(run: Run, corpus: Path, tmp_path: Path) -> None:
    """The summary says what was done and what was not; the store answers at once."""
    out = tmp_path / "figures.json"
    code, printed, _ = run("index", corpus, "--root", tmp_path, "--json", out)
    assert code == 0
    assert "5 passages of 4 documents" in printed
    assert "docs/facts.jsonl:2: not JSON" in printed
    figures = json.loads(out.read_text())
    assert (figures["written"]["added"], figures["skipped_count"]) == (5, 1)
    found = tmp_path / "found.json"
    code, printed, _ = run("search", "watering in the morning", "-k", 1, "--json", found)
    assert code == 0
    assert "Water them in the morning." in printed
    [hit] = json.loads(found.read_text())
    assert hit["metadata"]["headings"] == ["Garden", "Water"]


def test_a_second_run_does_only_what_changed(run: Run, corpus: Path) -> None:
    """Unchanged files are passed over; a file that changed loses the passages it no longer has."""
    run("index", corpus)
    assert "0 passages of 0 documents" in run("index", corpus / "garden.md", corpus / "kitchen.txt")[1]
    (corpus / "kitchen.txt").write_text("Soup is best the second day.")
    _, printed, _ = run("index", corpus / "kitchen.txt")
    assert "1 added" in printed
    assert "1 deleted" in printed
    (corpus / "garden.md").unlink()
    assert "2 deleted" in run("index", corpus, "--cleanup", "full")[1]


def test_a_dry_run_writes_nothing(run: Run, corpus: Path) -> None:
    """It counts against a store, and without one as well."""
    assert run("index", corpus, "--dry-run")[1].startswith("4 documents to ingest, 0 sources unchanged; 5 passages")
    assert run("search", "x")[0] == 2  # there is no such collection: it was not made
    run("index", corpus / "kitchen.txt")
    assert run("index", corpus / "kitchen.txt", "--dry-run")[1].startswith("0 documents to ingest, 1 sources unchanged")


def test_tenants_and_collections_are_apart(run: Run, corpus: Path) -> None:
    """What one has is not found by the other."""
    run("index", corpus, "--tenant", "a")
    assert run("search", "bread", "--tenant", "b")[1] == "nothing found: the store is empty\n"
    assert "Bread" in run("search", "bread", "--tenant", "a")[1]


def test_python_packages_and_an_index(run: Run) -> None:
    """Documentation of an installed package by its name; an HNSW index where it is asked for."""
    code, printed, _ = run("index", "--package", "json", "--package", "this", "--collection", "python", "--index")
    assert code == 0
    assert printed.endswith("index: HNSW\n")
    assert "json.dumps" in run("search", "serialize obj to a JSON formatted str", "--collection", "python")[1]


LONG = """
from langgraph_prefetch.retrieval.embedders import HashingEmbeddings

embedder = HashingEmbeddings(2_001)
"""


def test_vectors_that_no_index_takes(run: Run, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself the command leaves the index out; asked for one, it says what would do."""
    (tmp_path / "long_one.py").write_text(LONG)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(index_command, "INDEX_FROM", 1)
    code, printed, _ = run("index", corpus, "--embedder", "long_one:embedder")
    assert (code, "HNSW" in printed) == (0, False)
    code, printed, error = run("index", corpus, "--embedder", "long_one:embedder", "--index")
    assert code != 0
    assert "halfvec" in error
    assert "HNSW" in run("index", corpus, "--collection", "other")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["index"], "name at least one file"),
        (["index", "missing.txt"], "there is no file or folder"),
        (["index", "{corpus}", "--embedder", "hashin"], "Did you mean 'hashing'"),
        (["index", "{corpus}", "--overlap", "600"], "overlap must be at most half"),
        (["index", "{corpus}", "--url", "mysql://user:secret@host/db"], "a URL for mysql"),
        (["index", "{corpus}", "--json", "{corpus}"], "it is a folder"),
        (["search", "x", "-k", "0"], "-k must be at least 1"),
    ],
)
def test_wrong_use(words: list[str], message: str, run: Run, corpus: Path) -> None:
    """Exit code 2 and one line that says what to do; never a password."""
    code, printed, error = run(*(word.format(corpus=corpus) for word in words))
    assert code == 2
    assert printed == ""
    assert message in error
    assert error.count("\n") == 1
    assert "secret" not in error


def test_nothing_readable_is_an_error(run: Run, tmp_path: Path) -> None:
    """An empty store after a run that looked fine would be found out much later."""
    (tmp_path / "a.txt").write_bytes(b"\xff\xfe\xff")
    code, printed, error = run("index", tmp_path / "a.txt")
    assert code == 2
    assert "a.txt: not utf-16" in printed
    assert "nothing could be read" in error


SLOW = """
import threading
from langchain_core.embeddings import Embeddings
class Slow(Embeddings):
    def embed_documents(self, texts):
        print("embedding", flush=True)
        threading.Event().wait(1.0)
        return [[1.0, 0.0] for _ in texts]
    def embed_query(self, text):
        return [1.0, 0.0]
    dimensions = 2
"""


@pytest.mark.slow
def test_control_c_ends_it_cleanly(database_url: str, corpus: Path, tmp_path: Path) -> None:
    """With the exit code of an interruption and no traceback; what was written stays whole."""
    (tmp_path / "slow_one.py").write_text(SLOW)
    command = [sys.executable, "-m", "langgraph_prefetch.cli", "index", str(corpus), "--embedder", "slow_one:Slow"]
    environment = {
        "PYTHONPATH": f"{Path(__file__).parents[2]}:{tmp_path}",
        "LANGGRAPH_PREFETCH_URL": database_url,
        "PATH": "/usr/bin:/bin",
    }
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "embedding\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=50)
    assert process.returncode == 130, error
    assert "interrupted" in error
    assert "Traceback" not in error


def test_options_are_those_of_the_pipeline() -> None:
    """Written out in the command, so that its help needs no extra; a test keeps them equal."""
    assert set(FORMATS) == {"auto", *THEIR_FORMATS}
    assert set(CLEANUPS) == {each or "none" for each in THEIR_CLEANUPS}
    assert default_splitter(size=SIZE, overlap=OVERLAP) == default_splitter()
    register(argparse.ArgumentParser().add_subparsers())


def progress(**changes: object) -> IngestProgress:
    depth = QueueDepth(items=1, peak_items=2, max_items=4, bytes=0, peak_bytes=0, max_bytes=9)
    values = dict[str, object](
        seconds=7.0,
        documents=1_200,
        unchanged=0,
        passages=1_500,
        embedded=1_000,
        written=800,
        skipped=2,
        requests=3,
        queues={"split": depth, "upsert 0": depth, "upsert 1": depth},
        stage_seconds={"load": 0.5, "embed": 3.0},
    )
    return IngestProgress(**{**values, **changes})  # type: ignore[arg-type]


def test_without_a_terminal_there_is_a_line_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    """Every few seconds, however often it is told; the queues of several writers are one."""
    times = iter((0.0, 1.0, 6.0, 7.0))
    with index_progress.told(lambda: next(times)) as tell:
        for _ in range(3):
            tell(progress())
    assert capsys.readouterr().err == (
        "7 s: 1,200 documents, 1,500 passages, 1,000 embedded, 800 written, 2 skipped; waiting: split 1/4, upsert 2/8\n"
    )


def test_on_a_terminal_there_are_bars(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each stage, with its time and what waits before it."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "120")
    with index_progress.told() as tell:
        tell(progress())
        tell(progress(done=True))
    drawn = capsys.readouterr().err
    for expected in ("load", "upsert", "1,500 passages", "3.0 s", "waiting 2/8"):
        assert expected in drawn
