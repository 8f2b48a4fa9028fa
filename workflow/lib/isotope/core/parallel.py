"""An ordered map over processes: bounded look-ahead, errors passed on, clean on Ctrl-C."""

import multiprocessing
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import FrameType, ModuleType
from typing import TypeVar, cast

from isotope.core.errors import ToolFailed
from isotope.core.system import FORKS

AHEAD = 2
Item = TypeVar("Item")
Result = TypeVar("Result")


def ordered_map(
    fn: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Generator[Result, None, None]:
    """Yield `fn(item)` in the order of `items`, computed by `workers` processes.

    At most two items a worker are under way, so `items` may be a long generator. One worker
    computes inline. `fn` must be importable by name from a module other than `__main__`.

    Raises:
        ToolFailed: a worker was killed, most often for memory.
        Exception: whatever `fn` raised, as it raised it.
    """
    if workers <= 1:
        yield from map(fn, items)
        return
    pool = _pool(workers, fn.__module__)
    try:
        yield from _windowed(pool, fn, items, workers * AHEAD)
    except BrokenProcessPool as error:
        remedy = "free some memory or lower the number of workers"
        raise ToolFailed("worker process", "was killed", remedy) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def ahead(items: Iterable[Item]) -> Generator[Item, None, None]:
    """Yield `items`, of which a thread makes two more while one is in use.

    Raises:
        Exception: whatever making an item raised, in its turn.
    """
    source, end = iter(items), object()
    with ThreadPoolExecutor(1) as pool:
        pending = deque(pool.submit(next, source, end) for _ in range(AHEAD))
        while (item := pending.popleft().result()) is not end:
            pending.append(pool.submit(next, source, end))
            yield cast(Item, item)


def _pool(workers: int, module: str) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    context.set_forkserver_preload([module])
    return ProcessPoolExecutor(workers, mp_context=context)


def _windowed(
    pool: ProcessPoolExecutor,
    fn: Callable[[Item], Result],
    items: Iterable[Item],
    window: int,
) -> Generator[Result, None, None]:
    pending: deque[Future[Result]] = deque()
    for item in items:
        with _sheltered():
            pending.append(pool.submit(fn, item))
        if len(pending) >= window:
            yield pending.popleft().result()
    while pending:
        yield pending.popleft().result()


@contextmanager
def _sheltered() -> Generator[None, None, None]:
    """Start processes that leave Ctrl-C to this one and don't run the caller's script again.

    Scripts of Snakemake have no main guard; a blocked signal is inherited.
    """
    main = sys.modules["__main__"]
    with _delayed(signal.SIGINT):
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        sys.modules["__main__"] = ModuleType("__main__")
        try:
            yield
        finally:
            sys.modules["__main__"] = main
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)


@contextmanager
def _delayed(number: int) -> Generator[None, None, None]:
    """Delay a signal: handled by a library's thread, it would leave a process half started."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[FrameType | None] = []
    before = signal.signal(number, lambda _, frame: came.append(frame))
    try:
        yield
    finally:
        signal.signal(number, before)
    if came and callable(before):
        before(number, came[0])
