"""Choosing among engines, live over the wire and in simulation."""

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_openai import ChatOpenAI

from langgraph_prefetch.errors import ConfigurationError, NoEngineError, SimulationError
from langgraph_prefetch.serving.disaggregated.engine_choice import BLOCK_CHARACTERS, EngineChooser, Lease
from langgraph_prefetch.serving.disaggregated.engine_pool import EnginePool
from langgraph_prefetch.serving.disaggregated.engine_simulation import Sessions, simulate_engines
from langgraph_prefetch.testing.wire import OpenAIWire, Turn

LONG = "a document that many ask about. " * 100


def messages(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text} for text in texts]


def test_a_prompt_goes_where_its_prefix_has_been() -> None:
    """Although the other engine has nothing to do."""
    chooser = EngineChooser(["a", "b"])
    chooser.release(chooser.choose(LONG, 0.0), 0.0)
    lease = chooser.choose(LONG + "and then?", 1.0)
    assert (lease.engine, lease.shared) == ("a", len(LONG) // BLOCK_CHARACTERS * BLOCK_CHARACTERS)


def test_load_beats_a_prefix_that_saves_less() -> None:
    """An engine with more to do than the prefix saves is not worth waiting for."""
    chooser = EngineChooser(["a", "b"])
    chooser.choose(LONG, 0.0)
    chooser.choose("something else " * 2_000, 0.0)  # goes to b, which is free
    assert chooser.choose(LONG, 0.0).engine == "a"
    chooser.choose(LONG + "x" * 60_000, 0.0)
    assert chooser.choose(LONG, 0.0).engine == "b"


def test_a_session_returns_to_its_engine_where_that_is_no_dearer() -> None:
    """Short prompts leave no prefix behind, and the session is remembered all the same."""
    chooser = EngineChooser(["a", "b"])
    chooser.release(chooser.choose("hello", 0.0, session="other"), 0.0)
    busy = chooser.choose("hi", 0.0)
    mine = chooser.choose("hi", 0.0, session="mine")
    assert (busy.engine, mine.engine) == ("a", "b")
    chooser.release(busy, 0.0)
    chooser.release(mine, 0.0)
    assert chooser.choose("again", 1.0, session="mine").engine == "b"


def test_an_engine_that_failed_is_skipped_for_the_stated_time_and_its_cache_forgotten() -> None:
    """With none left there is an error; after the time it is asked again."""
    chooser = EngineChooser(["a", "b"], retry_seconds=30)
    chooser.release(chooser.choose(LONG, 0.0), 0.0, failed=True)
    second = chooser.choose(LONG, 29.0)
    assert second.engine == "b"
    chooser.release(second, 29.0, failed=True)
    with pytest.raises(NoEngineError, match="none of 2 engines"):
        chooser.choose(LONG, 29.5)
    again = chooser.choose(LONG, 30.5)
    assert (again.engine, again.shared) == ("a", 0)


def test_where_all_are_overloaded_the_one_with_least_to_do_is_taken() -> None:
    """Somebody has to; the gateway's limits refuse, not the choice."""
    chooser = EngineChooser(["a", "b"], characters_per_second=10)
    chooser.choose("x" * 900, 0.0)
    chooser.choose("y" * 800, 0.0)
    assert chooser.choose("z" * 10, 0.0).engine == "b"


@given(steps=st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), max_size=40))
def test_what_is_released_is_no_load_any_more(steps: list[tuple[int, bool, bool]]) -> None:
    """Whatever happened in between, and no engine that is down is ever chosen."""
    chooser, down = EngineChooser(["a", "b", "c"], retry_seconds=1e9), set[str]()
    leases: list[Lease] = []
    for number, release, failed in steps:
        if release and leases:
            lease = leases.pop(number % len(leases))
            chooser.release(lease, 0.0, failed=failed)
            down |= {lease.engine} if failed else set()
        elif len(down) < 3:
            leases.append(chooser.choose("t" * 300 * number, 0.0, session=str(number)))
            assert leases[-1].engine not in down
    for lease in leases:
        chooser.release(lease, 0.0)
    assert [chooser.busy(name) for name in ("a", "b", "c")] == [0, 0, 0]


def test_nonsense_is_refused() -> None:
    """No engines, one twice, rates of 0."""
    for engines in ([], ["a", "a"]):
        with pytest.raises(ConfigurationError):
            EngineChooser(engines)
    with pytest.raises(ConfigurationError):
        EngineChooser(["a"], characters_per_second=0)
    with pytest.raises(SimulationError):
        simulate_engines([], Sessions(), chooser=None)
    with pytest.raises(SimulationError):
        Sessions(turns=0)


def test_in_simulation_the_chooser_finds_more_in_the_caches_than_taking_turns() -> None:
    """The same arrivals, the same engines; and the same seed gives the same result."""
    engines = ("a", "b", "c")
    turns = simulate_engines(engines, Sessions(), chooser=None, seed=2)
    chosen = [simulate_engines(engines, Sessions(), chooser=EngineChooser(engines), seed=2) for _ in range(2)]
    assert chosen[0] == chosen[1]
    assert chosen[0].cached_share > turns.cached_share + 0.1
    assert chosen[0].mean_seconds < turns.mean_seconds


def test_what_any_request_left_on_an_engine_that_failed_counts_no_more() -> None:
    """It may have started anew; and a request that is under way meanwhile leaves nothing behind either."""
    chooser = EngineChooser(["a"], retry_seconds=30)
    other = "another long document. " * 100
    chooser.release(chooser.choose(other, 0.0), 0.0)
    under_way = chooser.choose(LONG, 0.0)
    chooser.release(chooser.choose("short", 0.0), 0.0, failed=True)
    chooser.release(under_way, 1.0)
    leases = [chooser.choose(text, 30.0) for text in (other, LONG)]
    assert [lease.shared for lease in leases] == [0, 0]


def test_a_session_goes_to_another_engine_that_has_read_its_prompt() -> None:
    """Its own would have to read it anew, which is dearer."""
    chooser = EngineChooser(["a", "b"])
    chooser.release(chooser.choose(LONG, 0.0), 0.0)
    chooser.release(chooser.choose("hi", 0.0, session="mine", without=frozenset({"a"})), 0.0)
    assert chooser.choose("hi", 0.0, session="mine").engine == "b"
    assert chooser.choose(LONG, 0.0, session="mine").engine == "a"


def test_what_a_request_ends_is_the_load_that_it_made() -> None:
    """The part that the engine had read before was none."""
    chooser = EngineChooser(["a", "b"])
    chooser.release(chooser.choose(LONG, 0.0), 0.0)
    again = chooser.choose(LONG, 0.0)
    chooser.choose("x" * 5_000, 0.0, without=frozenset({"b"}))
    chooser.choose("y" * 4_000, 0.0, without=frozenset({"a"}))
    chooser.release(again, 0.0)
    assert (again.engine, chooser.choose("z", 0.0).engine) == ("a", "b")


def test_a_prompt_of_whole_blocks_is_known_to_its_end() -> None:
    """And one that differs in the last character of a block is not, from that block on."""
    chooser, prompt = EngineChooser(["a"]), "x" * 3 * BLOCK_CHARACTERS
    chooser.release(chooser.choose(prompt, 0.0), 0.0)
    assert chooser.choose(prompt, 0.0).shared == len(prompt)
    assert chooser.choose(prompt[:-1] + "y", 0.0).shared == 2 * BLOCK_CHARACTERS


def test_an_engine_is_asked_again_where_the_clock_went_back() -> None:
    """Rather than an hour later."""
    chooser = EngineChooser(["a"], retry_seconds=30)
    chooser.release(chooser.choose("hello", 5_000.0), 5_000.0, failed=True)
    assert chooser.choose("hello", 1_400.0).engine == "a"


def test_the_beginning_of_a_prefix_is_the_last_to_be_forgotten() -> None:
    """Where there is no room for all of it; its end alone would be of no use."""
    chooser = EngineChooser(["a"], max_blocks=3)
    chooser.release(chooser.choose(LONG, 0.0), 0.0)
    assert chooser.choose(LONG, 1.0).shared == 3 * BLOCK_CHARACTERS


@pytest.mark.parametrize("outcome", [{"unused": True}, {"failed": True}, {"unused": True, "failed": True}])
def test_what_was_not_sent_moves_no_session(outcome: dict[str, bool]) -> None:
    """Nor does what failed: the session goes back to where it was, and one that is new has no engine yet."""
    chooser = EngineChooser(["a", "b"], retry_seconds=30)

    def sent(now: float, busy: str, session: str, **ended: bool) -> str:
        """Where a request goes while the other engine has much to do."""
        much = chooser.choose("x" * 50_000, now, without=frozenset({"a", "b"} - {busy}))
        lease = chooser.choose("hi", now, session=session)
        chooser.release(lease, now, **ended)
        chooser.release(much, now, unused=True)
        return lease.engine

    assert sent(0.0, "a", "mine") == "b"
    assert sent(100.0, "b", "mine", **outcome) == "a"
    assert sent(200.0, "a", "new", **outcome) == "b"
    leases = [chooser.choose("hi", 300.0, session=session) for session in ("mine", "new")]
    assert [lease.engine for lease in leases] == ["b", "a"]


def test_a_session_leaves_an_engine_that_failed() -> None:
    """Also once that is up again, for its cache may be gone."""
    chooser = EngineChooser(["a", "b"], retry_seconds=30)
    chooser.release(chooser.choose("hi", 0.0, session="mine", without=frozenset({"a"})), 0.0)
    chooser.release(chooser.choose("hi", 0.0, session="mine"), 0.0, failed=True)
    assert chooser.choose("hi", 30.0, session="mine").engine == "a"


async def test_prefilled_documents_send_the_real_request_to_the_engine_that_has_them() -> None:
    """One token is asked for, once, and a LangChain model gets that engine's address."""
    script = [Turn(text=("yes",))]
    with OpenAIWire(script) as one, OpenAIWire(script) as two:
        addresses = [f"{one.url}/v1", f"{two.url}/v1"]
        async with EnginePool(EngineChooser(addresses)) as pool:
            prefilled = await pool.prefill(messages(LONG), model="m")
            assert prefilled is not None
            assert prefilled.engine == addresses[0]
            assert (prefilled.prompt_tokens, prefilled.cached_tokens) == (10, 0)
            async with pool.lease(messages(LONG, "which one?")) as address:
                assert address == addresses[0]
                model = ChatOpenAI(base_url=address, api_key="x", model="m")
                assert (await model.ainvoke(messages(LONG, "which one?"))).text == "yes"
        first, second = one.requests
        assert (first.body["max_tokens"], first.body["messages"]) == (1, messages(LONG))
        assert second.body["messages"][0]["content"] == LONG
        assert two.requests == ()


async def test_a_busy_engine_is_not_prefilled_and_nothing_is_remembered_of_it() -> None:
    """A guess may not slow down a demand."""
    with OpenAIWire([Turn(text=("yes",))]) as one:
        chooser = EngineChooser([f"{one.url}/v1"])
        async with EnginePool(chooser) as pool:
            async with pool.lease(messages("a demand")):
                assert await pool.prefill(messages(LONG), model="m") is None
            assert one.requests == ()
            assert chooser.choose("user\n" + LONG, 0.0).shared == 0


async def test_a_prefill_raises_nothing_whatever_is_wrong_with_it() -> None:
    """Content that is no JSON, an address that is none; and nothing is remembered."""
    with OpenAIWire([Turn(text=("yes",))]) as one:
        for address, content in ((f"{one.url}/v1", object()), ("http://[", LONG)):
            chooser = EngineChooser([address])
            async with EnginePool(chooser) as pool:
                assert await pool.prefill([{"role": "user", "content": content}], model="m") is None
                assert chooser.busy(address) == 0
                assert chooser.choose("user\n" + LONG, 1e9).shared == 0


async def test_a_request_goes_on_to_another_engine_and_fails_only_where_none_is_left() -> None:
    """Unreachable ones are skipped; a client's own exceptions count where they are named."""

    class Unreachable(Exception):
        pass

    asked = []

    async def request(address: str) -> str:
        asked.append(address)
        if address == "http://down":
            raise Unreachable
        if address == "http://refused":
            raise httpx.ConnectError("refused")
        return address

    chooser = EngineChooser(["http://down", "http://refused", "http://up"])
    async with EnginePool(chooser, failures=(Unreachable,), clock=lambda: 5.0) as pool:
        assert await pool.call(messages("hello"), request) == "http://up"
        assert await pool.call(messages("hello"), request) == "http://up"
        assert sorted(asked) == ["http://down", "http://refused", "http://up", "http://up"]
    async with EnginePool(EngineChooser(["http://down", "http://refused"]), failures=(Unreachable,)) as pool:
        with pytest.raises(NoEngineError):
            await pool.call(messages("hello"), request)
        assert await pool.prefill(messages("hello"), model="m") is None


async def test_an_error_of_the_request_itself_is_the_callers() -> None:
    """It is raised as it is, and the engine stays in use."""

    async def wrong(address: str) -> str:
        raise ValueError("no such model")

    chooser = EngineChooser(["http://up"])
    async with EnginePool(chooser) as pool:
        with pytest.raises(ValueError, match="no such model"):
            await pool.call(messages("hello"), wrong)
        assert chooser.choose("hello", 1e9).engine == "http://up"
