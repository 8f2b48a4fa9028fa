"""Servers that a test tries, in a thread of this process."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread


@contextmanager
def listening(start: Callable[[], Awaitable[Sequence[asyncio.Server]]]) -> Iterator[None]:
    """Run what `start` starts in a loop of its own for the duration of the block."""
    loop, ready, stop = asyncio.new_event_loop(), Event(), asyncio.Event()

    async def main() -> None:
        servers = await start()
        ready.set()
        await stop.wait()
        for server in servers:
            server.close()
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        # What is aborted closes its socket in the next turn of the loop.
        await asyncio.sleep(0)

    thread = Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    assert ready.wait(30)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
