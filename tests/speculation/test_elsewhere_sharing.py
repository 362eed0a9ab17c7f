"""Results that processes share: under which ids, whose search is waited for, and what ends their being shared."""

import time
from collections.abc import Callable
from typing import Any

from langgraph_prefetch.errors import NotDispatchedError
from langgraph_prefetch.jobs import Held, HeldState
from langgraph_prefetch.testing.search import HandDrivenSearch
from langgraph_prefetch.values import Output
from tests.speculation.elsewhere_rig import (
    SHARING,
    Bench,
    Dated,
    Elsewhere,
    MakeBench,
    by_tenant,
)


def test_ids_are_random_without_sharing(bench: MakeBench) -> None:
    """A scope alone does not share between processes, nor does a time alone: an answer is for one call."""
    for options in ({}, {"scope": by_tenant}, {"reuse_seconds": 60.0}):
        rig = bench(**options)
        for _ in range(2):
            rig.seal(rig.run(tenant="a"), "bridge", tenant="a")
        ids = [job.id for job in rig.queue.sent]
        assert len(set(ids)) == len(ids)
        assert rig.cache.begun == []


def shared_id(bench: MakeBench, query: Any = "bridge", tool: type[HandDrivenSearch] = Elsewhere, **who: Any) -> str:
    rig = bench(search=tool, **SHARING)
    rig.seal(rig.run(**who), query, **who)
    (job, _) = rig.cache.begun[0]
    return job.id


def test_equal_searches_of_two_processes_have_one_id(bench: MakeBench) -> None:
    """Whatever makes another key makes another id: argument, its type, the caller's configuration, the scope."""
    assert shared_id(bench, tenant="a") == shared_id(bench, tenant="a")
    others = [
        shared_id(bench, "bridges", tenant="a"),
        shared_id(bench, 1, tenant="a"),
        shared_id(bench, "1", tenant="a"),
        shared_id(bench, tenant="b"),
        shared_id(bench, tenant="a", language="fr"),
        shared_id(bench, tenant="a"),
    ]
    assert len(set(others)) == len(others)


def test_the_scope_itself_is_part_of_the_id(bench: MakeBench) -> None:
    """Callers that are equal in all else, in two scopes (two epochs of an index, say), share nothing."""
    ids = []
    for scope in ("epoch 1", "epoch 2", 1, True):
        rig = bench(**SHARING | {"scope": lambda _, scope=scope: scope})
        rig.seal(rig.run(tenant="a"), "bridge", tenant="a")
        ids.append(rig.cache.begun[0][0].id)
    assert len(set(ids)) == 4


def test_what_only_this_process_knows_is_not_shared(bench: MakeBench) -> None:
    """A caller with an open connection in its configuration: the search goes to a worker, its result to nobody else."""
    rig = bench(**SHARING)
    rig.seal(rig.run(tenant="a", db=object()), "bridge", tenant="a", db=object())
    assert [job.scope_id for job in rig.queue.sent] == [None]
    assert rig.cache.begun == []


def test_a_result_of_another_process_is_taken(bench: MakeBench) -> None:
    rig = bench(**SHARING)
    rig.cache.held = Held(state=HeldState.READY, generation="theirs", age=2.0, took=0.5, output=Output("theirs"))
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    assert rig.answer(run, "bridge", tenant="a") == "theirs"
    assert rig.queue.sent == []


def test_a_search_of_another_process_is_waited_for(bench: MakeBench) -> None:
    """Under the generation that it has; nothing of it is called off from here."""
    rig = bench(**SHARING)
    rig.cache.held = Held(state=HeldState.PENDING, generation="theirs")
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    assert rig.queue.sent == []
    assert rig.cache.waiting[0].job.generation == "theirs"
    rig.engine.pause()
    rig.loop.settle()
    assert rig.cache.cancelled == []


def test_a_shared_search_is_given_up_unless_others_joined(bench: MakeBench) -> None:
    """Its run ends, and no other run of this process asked for it: the cache is told, and knows of other processes."""
    rig = bench(**SHARING)
    first, second = rig.run(tenant="a"), rig.run(tenant="a")
    for run in (first, second):
        rig.seal(run, "bridge", tenant="a")
    first.close()
    rig.loop.settle()
    assert rig.cache.cancelled == []
    second.close()
    rig.loop.settle()
    (job,) = rig.queue.sent
    assert rig.cache.cancelled == [(job.generation, "given up")]
    assert rig.cache.never_if_joined == [job.generation]


def test_a_search_that_is_given_up_while_it_is_begun(bench: MakeBench) -> None:
    """The cache has been asked and has not answered: what it may have noted by then is called off too."""
    rig = bench(**SHARING)
    rig.cache.answers.clear()
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    ((job, _),) = rig.cache.begun
    run.close()
    rig.loop.settle()
    assert rig.cache.never_if_joined == [job.generation]
    assert rig.queue.sent == []


def test_a_look_that_fails_or_hangs_leaves_the_search_here(bench: MakeBench) -> None:
    rig = bench(**SHARING)
    rig.cache.held = NotDispatchedError("away")
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    rig.land("here")
    assert rig.answer(run, "bridge", tenant="a") == "here"


def test_a_cache_alone_shares_what_is_found_here(bench: MakeBench) -> None:
    """Without workers: looked up, marked as under way here, searched here, kept for others."""
    rig = bench(executor=None, **SHARING)
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    ((job, here),) = rig.cache.begun
    assert here
    rig.land("here")
    assert rig.answer(run, "bridge", tenant="a") == "here"
    assert [(kept.generation, output) for kept, output, _ in rig.cache.kept] == [(job.generation, Output("here"))]


def test_a_search_that_fails_here_holds_nobody_up(bench: MakeBench) -> None:
    rig = bench(executor=None, **SHARING)
    run = rig.run(tenant="a")
    rig.seal(run, "bridge", tenant="a")
    rig.land(OSError())
    assert [reason for _, reason in rig.cache.cancelled] == ["failed"]
    assert rig.cache.never_if_joined == [], "it is over for those who joined it too"


def test_another_tool_makes_the_scope_void_for_all(bench: MakeBench) -> None:
    """In the cache too, where results are shared; a run's own scope concerns nobody else."""
    rig = bench(**SHARING)
    rig.run(tenant="a").other_tool("write")
    assert len(rig.cache.voided) == 1
    rig.run().other_tool("write")
    assert len(rig.cache.voided) == 1
    alone = bench(scope=by_tenant)
    alone.run(tenant="a").other_tool("write")
    assert alone.cache.voided == []


# ---- tools that tell their epoch


def settled(rig: Bench, condition: Callable[[], object]) -> None:
    """An epoch is read on a thread of its own."""
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)
        rig.loop.settle()


def test_the_epoch_is_read_before_the_search_is_sent(bench: MakeBench) -> None:
    """A result of a worker stands only as long as the epoch that was in force before it was asked for."""
    for change, answer in ((0, "found"), (1, None)):
        rig = bench(search=Dated)
        run = rig.run()
        rig.seal(run, "bridge")
        settled(rig, lambda rig=rig: rig.cache.waiting)  # type: ignore[misc]
        rig.ready(Output("found"))
        Dated.now += change
        assert rig.answer(run, "bridge") == answer


def test_the_epoch_is_part_of_a_shared_id(bench: MakeBench) -> None:
    ids = []
    for _ in range(2):
        rig = bench(search=Dated, **SHARING)
        rig.seal(rig.run(tenant="a"), "bridge", tenant="a")
        settled(rig, lambda rig=rig: rig.cache.begun)  # type: ignore[misc]
        ids.append(rig.cache.begun[0][0].id)
        Dated.now += 1
    assert ids[0] != ids[1]
