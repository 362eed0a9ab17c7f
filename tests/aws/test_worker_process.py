"""Workers as real processes: killed in the middle, told to stop under load, watched over HTTP."""

import json
import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from langgraph_prefetch.jobs import HeldState
from tests.aws import searching
from tests.aws.parts import PATIENCE, Place, StartWorker, searched, until
from tests.aws.test_worker import Sender

pytestmark = pytest.mark.slow


def ended(sender: Sender, jobs: list[Any]) -> dict[str, HeldState]:
    look = sender.cache.table.look([job.id for job in jobs], sender.cache.now())
    return {id_: held.state for id_, (held, _) in look.items()}


def all_ready(sender: Sender, jobs: list[Any]) -> bool:
    return set(ended(sender, jobs).values()) == {HeldState.READY}


def test_a_worker_killed_in_the_middle(place: Place, start_worker: StartWorker, log: Path) -> None:
    """Its search is made again by another worker, once; the result is there, and nothing is left in the queue."""
    sender = Sender(place)
    options = ("--visibility-seconds", "2", "--concurrency", "1", "--prefetch", "0")
    first = start_worker(place, *options, seconds=300).ready()
    job = sender.job("killed")
    sender.send(job)
    until(lambda: searched(log) == [first.pid])
    second = start_worker(place, *options, seconds=0.1).ready()
    first.kill()
    until(lambda: all_ready(sender, [job]))
    assert searched(log) == [first.pid, second.pid]
    until(lambda: place.waiting(place.queue) == 0)
    assert second.stop() == 0


def test_sigterm_under_load(place: Place, start_worker: StartWorker, log: Path) -> None:
    """A worker that is told to stop ends what it searches, gives the rest back, and leaves with 0; nothing is lost."""
    sender = Sender(place)
    stopped = start_worker(place, "--concurrency", "3", "--prefetch", "6", seconds=0.5).ready()
    jobs = [sender.job(f"load {number}") for number in range(20)]
    sender.send(*jobs)
    until(lambda: len(searched(log)) >= 3)
    other = start_worker(place, "--concurrency", "8", seconds=0.01)
    assert stopped.stop() == 0
    assert "Traceback" not in "\n".join(stopped.lines)
    begun = {line["begins"] for line in searching.lines(log) if line.get("pid") == stopped.pid and "begins" in line}
    over = {line["ends"] for line in searching.lines(log) if line.get("pid") == stopped.pid and "ends" in line}
    assert begun == over
    other.ready()
    until(lambda: all_ready(sender, jobs), 120)
    assert len(searched(log)) == 20
    assert other.stop() == 0


def test_two_workers_never_do_one_search_twice(place: Place, start_worker: StartWorker, log: Path) -> None:
    """Every message comes three times, to two processes that take, claim and answer many at once."""
    sender = Sender(place)
    jobs = [sender.job(f"once {number}") for number in range(60)]
    options = ("--concurrency", "16", "--prefetch", "16", "--visibility-seconds", "30")
    workers = [start_worker(place, *options, seconds=0.01) for _ in range(2)]
    for worker in workers:
        worker.ready()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: sender.send(*jobs), range(3)))
    until(lambda: all_ready(sender, jobs), 120)
    assert [worker.stop() for worker in workers] == [0, 0]
    assert Counter(line["begins"] for line in searching.lines(log) if "begins" in line) == Counter(
        job.arguments["query"] for job in jobs
    )


def test_health_and_metrics(place: Place, start_worker: StartWorker) -> None:
    """Health is told on loopback, with the worker's numbers; metrics in the format of Prometheus."""
    worker = start_worker(place, "--health-port", "0")
    worker.ready()
    until(lambda: any("health" in line for line in worker.lines))
    url = next(line.split()[-1] for line in worker.lines if "health" in line)
    assert url.startswith("http://127.0.0.1:")
    sender = Sender(place)
    job = sender.job("watched")
    sender.send(job)
    until(lambda: all_ready(sender, [job]))
    with urllib.request.urlopen(f"{url}/readyz", timeout=PATIENCE) as answer:
        told = json.load(answer)
    assert (told["alive"], told["ready"], told["received"]) == (None, None, 1)
    with urllib.request.urlopen(f"{url}/metrics", timeout=PATIENCE) as answer:
        text = answer.read().decode()
    assert "langgraph_prefetch_worker_received_total 1\n" in text
    assert "# TYPE langgraph_prefetch_worker_held gauge" in text
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        urllib.request.urlopen(f"{url}/else", timeout=PATIENCE)
    refused.value.close()
    assert worker.stop() == 0
