"""Threads that answer questions of a page: a bounded number, and a bounded queue before them."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from starlette.requests import Request

_Result = TypeVar("_Result")


class Busy(Exception):
    """As many questions are waiting as may wait."""


class Abandoned(Exception):
    """Whoever asked has closed the connection before it was their turn."""


class Workers:
    """`at_work` threads; up to `waiting` more questions wait for one, in the order they came."""

    def __init__(self, at_work: int, waiting: int) -> None:
        """Start no thread before the first question."""
        self._pool = ThreadPoolExecutor(at_work, "suggest")
        self._free = asyncio.Semaphore(at_work)
        self._most = at_work + waiting
        self._present = 0

    async def run(self, request: Request, answer: Callable[[], _Result]) -> _Result:
        """Return what `answer` returns, called in a thread; the request's body is read already.

        Who types on has closed the connection of an older text, which then costs nothing.

        Raises:
            Busy: too many are waiting.
            Abandoned: nobody waits for the answer any more.
        """
        if self._present >= self._most:
            raise Busy
        self._present += 1
        try:
            async with self._free:
                if await request.is_disconnected():
                    raise Abandoned
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, answer)
        finally:
            self._present -= 1
