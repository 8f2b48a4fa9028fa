"""A bounded number of questions is answered at once, a bounded number waits, and others hear so."""

import asyncio
from threading import Barrier, Event
from typing import Any

import pytest

from isotope_suggest.ask.workers import Abandoned, Busy, Workers

WAIT_S = 10


class Asker:
    """Stands for a request: whether its connection is closed."""

    def __init__(self, *, gone: bool = False) -> None:
        """Be there, or gone."""
        self.gone = gone

    async def is_disconnected(self) -> bool:
        """Tell."""
        return self.gone


def ask(workers: Workers, answer: Any, *, gone: bool = False) -> Any:
    return workers.run(Asker(gone=gone), answer)  # pyright: ignore[reportArgumentType]


def test_as_many_as_there_are_threads_are_answered_at_once():
    async def scene() -> list[int]:
        workers, together = Workers(3, 0), Barrier(3)
        return await asyncio.gather(*(ask(workers, lambda: together.wait(WAIT_S)) for _ in "abc"))

    assert sorted(asyncio.run(scene())) == [0, 1, 2]


def test_who_comes_when_the_queue_is_full_is_refused_at_once():
    async def scene() -> list[Any]:
        workers, go = Workers(1, 2), Event()
        waiting = [asyncio.create_task(ask(workers, lambda: go.wait(WAIT_S))) for _ in "abc"]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await ask(workers, lambda: 1)
        go.set()
        answered = await asyncio.gather(*waiting)
        return [*answered, await ask(workers, lambda: "room again")]

    assert asyncio.run(scene()) == [True, True, True, "room again"]


def test_questions_are_answered_in_the_order_they_came():
    async def scene() -> list[int]:
        workers, order = Workers(1, 20), []
        await asyncio.gather(*(ask(workers, lambda n=n: order.append(n)) for n in range(20)))
        return order

    assert asyncio.run(scene()) == list(range(20))


def test_an_abandoned_question_costs_nothing_and_an_error_frees_its_place():
    async def scene() -> int:
        workers, work = Workers(1, 0), []
        with pytest.raises(Abandoned):
            await ask(workers, lambda: work.append(1), gone=True)
        with pytest.raises(ZeroDivisionError):
            await ask(workers, lambda: 1 // 0)
        assert work == []
        return await ask(workers, lambda: 7)

    assert asyncio.run(scene()) == 7
