"""How many reads and parts are under way at once, and over which path."""

import asyncio

from langgraph_prefetch.serving.disaggregated.reader import ReadPath, TwoPathReader


class Waits:
    """A source of blobs of a hundred bytes, whose reads wait until they are let go."""

    def __init__(self) -> None:
        self.asked, self.let_go = 0, asyncio.Event()

    async def size(self, key: str) -> int:
        return 100

    async def read(self, key: str, start: int, stop: int, *, speculative: bool = False) -> bytes:
        self.asked += 1
        await self.let_go.wait()
        return bytes(stop - start)


async def settled() -> None:
    """Whatever can begin has begun."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_part_takes_the_path_with_the_shorter_queue_in_seconds() -> None:
    """Over a link three times as fast three times as many."""
    slow, fast = Waits(), Waits()
    paths = [ReadPath(name="slow", source=slow), ReadPath(name="fast", source=fast, bytes_per_second=3.0)]
    async with TwoPathReader(paths, part_bytes=25, in_flight=4) as reader:
        reading = asyncio.create_task(reader.read("blob"))
        await settled()
        assert (slow.asked, fast.asked) == (1, 3)
        for source in (slow, fast):
            source.let_go.set()
        assert await reading == bytes(100)


async def test_speculation_is_no_queue_for_demand() -> None:
    """It gives way on its link, so that demand takes the path that it would take anyway."""
    first, second = Waits(), Waits()
    paths = [ReadPath(name="first", source=first), ReadPath(name="second", source=second)]
    async with TwoPathReader(paths) as reader:
        tasks = [asyncio.create_task(reader.read("guess", speculative=True))]
        await settled()
        tasks.append(asyncio.create_task(reader.read("blob")))
        await settled()
        assert (first.asked, second.asked) == (2, 0)
        first.let_go.set()
        await asyncio.gather(*tasks)


async def test_so_many_blobs_are_read_at_once_and_half_as_many_guesses() -> None:
    """The others wait before anything of them is read; neither takes the other's places."""
    for speculative, expected in ((False, 4), (True, 2)):
        sources = [Waits() for _ in range(6)]
        paths = [ReadPath(name=str(number), source=source) for number, source in enumerate(sources)]
        async with TwoPathReader(paths, max_reads=4) as reader:
            reading = [asyncio.create_task(reader.read("blob", speculative=speculative)) for _ in range(6)]
            await settled()
            assert sum(source.asked for source in sources) == expected
            other = asyncio.create_task(reader.read("other", speculative=not speculative))
            await settled()
            assert sum(source.asked for source in sources) == expected + 1
            for source in sources:
                source.let_go.set()
            await asyncio.gather(*reading, other)


async def test_one_guess_may_always_be_read() -> None:
    """Also where one blob at once is all that demand may."""
    source = Waits()
    source.let_go.set()
    async with TwoPathReader([ReadPath(name="only", source=source)], max_reads=1) as reader:
        assert await reader.read("guess", speculative=True) == bytes(100)
