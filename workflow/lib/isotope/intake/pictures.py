"""Pictures decoded for callers that wait: the processes of `decoders`, from ordinary functions."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any

from isotope.intake.decoders import Converted, Decoders
from isotope.intake.limits import Refused


class PictureDecoders:
    """Decoders in processes with limits, started with the first picture."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        """Take what Decoders take."""
        self._limits = {"decoders": 1, **limits}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._decoders = Decoders(self._limits)

    def submit(self, data: bytes, where: str = "") -> Future[Converted]:
        """Have a picture converted; `where` names it should isotope itself fail on it."""
        job = self._decoders.convert(data, None, where)
        return asyncio.run_coroutine_threadsafe(job, self._running())

    def convert(self, data: bytes, where: str = "") -> Converted:
        """Return what became of a picture (columns of the ledger), and its WebP bytes.

        Raises:
            ToolFailed: the decoder can't be started, or isotope's own code failed on the picture.
        """
        return self.submit(data, where).result()

    def convert_all(
        self, pictures: Iterable[tuple[str, Callable[[], bytes]]]
    ) -> Iterator[tuple[str, bytes, Converted]]:
        """Yield name, bytes and what became of each picture, in order, the next ones under way.

        What can't be read (Refused) is no bytes, with a status and its reason.

        Raises:
            ToolFailed: as `convert`.
        """
        ahead: deque[tuple[str, bytes, Future[Converted]]] = deque()
        for name, read in pictures:
            try:
                data = read()
                ahead.append((name, data, self.submit(data, name)))
            except Refused as error:
                ahead.append((name, b"", _answered(error)))
            if len(ahead) > 2 * self._limits["decoders"]:
                yield _result(ahead.popleft())
        yield from map(_result, ahead)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="pictures", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """End the processes and the thread."""
        with self._lock:
            if self._loop is None or self._thread is None:
                return
            asyncio.run_coroutine_threadsafe(self._decoders.close(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None

    def __enter__(self) -> "PictureDecoders":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _result(job: tuple[str, bytes, Future[Converted]]) -> tuple[str, bytes, Converted]:
    name, data, future = job
    return name, data, future.result()


def _answered(error: Refused) -> Future[Converted]:
    answer: Future[Converted] = Future()
    answer.set_result(({"status": error.status, "error": error.reason}, b""))
    return answer
