"""Processes that decode for a crawl, and what happens when one of them dies."""

import asyncio
import json
import os
import queue
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from select import select
from typing import Any

from isotope.crawl_decode import MAGIC, REPLY, REQUEST, read, write
from isotope.errors import ToolFailed
from isotope.progress import log

_LIBRARY = Path(__file__).parents[1].as_posix()
_TRIES = 2
# To start, on a machine that is busy.
_PATIENCE_S = 300.0
_LEAVING_S = 5.0
Converted = tuple[dict[str, Any], bytes]


class Decoder:
    """One process of isotope.crawl_decode; a call waits for its answer."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        """Start the process, which takes some seconds to be ready and meanwhile can be fed."""
        self._limits = {key: limits[key] for key in ("max_pixels", "decode_s", "decode_mb")}
        self._process, self._closed, self._number = self._started(), False, 0

    def _started(self) -> subprocess.Popen[bytes]:
        search = os.pathsep.join(filter(None, [_LIBRARY, os.environ.get("PYTHONPATH")]))
        return subprocess.Popen(
            [sys.executable, "-m", "isotope.crawl_decode", json.dumps(self._limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": search, "NO_ALBUMENTATIONS_UPDATE": "1"},
            start_new_session=True,
        )

    def convert(self, data: bytes, content_type: str | None) -> Converted:
        """Return what became of a picture (columns of the ledger), and its WebP bytes.

        A death is tried again once: the system may have killed whoever was large at the moment.

        Raises:
            ToolFailed: the process can't be started.
        """
        told: dict[str, Any] = {}
        for _ in range(_TRIES):
            try:
                told, webp = self._exchange(data, (content_type or "").encode())
            except (OSError, EOFError, ValueError):
                told, webp = {"status": "decoder_died", "error": "gone"}, b""
                self._replace()
            if told["status"] != "decoder_died":
                return told, webp
        return told, b""

    def _exchange(self, data: bytes, kind: bytes) -> Converted:
        if self._process.stdin is None or self._process.stdout is None:
            raise OSError
        source, sink = self._process.stdout.fileno(), self._process.stdin.fileno()
        self._number += 1
        write(sink, REQUEST.pack(self._number, len(kind), len(data)) + kind)
        write(sink, data)
        while True:
            if not select([source], [], [], self._limits["decode_s"] + _PATIENCE_S)[0]:
                raise OSError
            magic, number, said, size = REPLY.unpack(read(source, REPLY.size))
            told, webp = json.loads(read(source, said)), read(source, size)
            if magic != MAGIC or number > self._number:
                raise ValueError
            # An older number: a process that died between its answer and saying so.
            if number == self._number:
                return told, webp

    def _replace(self) -> None:
        code = self._process.poll()
        self._end()
        if self._closed:
            raise OSError("closed")
        if code is not None and code > 0:
            remedy = "see its words above in this log"
            raise ToolFailed("isotope.crawl_decode", f"ended with status {code}", remedy)
        log.warning("a decoder is gone; another is started")
        self._process = self._started()

    def stop(self) -> None:
        """Kill the process for good; who waits for its answer gets an error."""
        self._closed = True
        self._kill()

    def close(self) -> None:
        """Let the process end, or end it if that takes long."""
        self._closed = True
        if self._process.stdin is not None:
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_LEAVING_S)
        self._end()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> None:
        self._kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        self._process.wait()


class Decoders:
    """Several of them, each for one picture at a time, awaited from an event loop."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        """Start `limits["decoders"]` processes."""
        count = limits["decoders"]
        self._idle: queue.SimpleQueue[Decoder] = queue.SimpleQueue()
        self._all = [Decoder(limits) for _ in range(count)]
        for decoder in self._all:
            self._idle.put(decoder)
        self._pool = ThreadPoolExecutor(count, "decoder")

    async def convert(self, data: bytes, content_type: str | None) -> Converted:
        """Return what became of a picture, and its WebP bytes."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, self._convert, data, content_type)

    def _convert(self, data: bytes, content_type: str | None) -> Converted:
        decoder = self._idle.get()
        try:
            return decoder.convert(data, content_type)
        finally:
            self._idle.put(decoder)

    def close(self) -> None:
        """End the processes; what is still asked of them gets an error."""
        busy = self._idle.qsize() < len(self._all)
        for decoder in self._all if busy else ():
            decoder.stop()
        self._pool.shutdown(cancel_futures=True)
        for decoder in self._all:
            decoder.close()
