"""Processes that decode for a crawl, and what happens when one of them dies."""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from isotope.core.errors import ToolFailed
from isotope.core.progress import log
from isotope.intake import limits as usual_limits
from isotope.intake.worker import BUG, MAGIC, REPLY, REQUEST

_OPTIONAL = ("keep_webp", "side_px", "as_img2dataset")
_TRIES = 2
# One picture is decoded while the next is on its way.
_AHEAD = 2
# To start, on a machine that is busy.
_PATIENCE_S = 300.0
_LEAVING_S = 5.0
_BUFFER = 1 << 20
_REPORT = "a fault of isotope, not of the picture: report it with the picture"
Converted = tuple[dict[str, Any], bytes]


class Decoder:
    """One process of isotope.intake.decode, started with its first picture."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        """Take _OPTIONAL, and other values than the usual of max_pixels, decode_s and decode_mb."""
        usual = (usual_limits.MAX_PIXELS, usual_limits.DECODE_S, usual_limits.DECODE_MB)
        bounds = dict(zip(("max_pixels", "decode_s", "decode_mb"), usual, strict=True))
        self._limits = {key: limits.get(key, value) for key, value in bounds.items()}
        self._limits |= {key: limits.get(key) for key in _OPTIONAL}
        self._waiting: dict[int, asyncio.Future[Converted]] = {}
        self._number = 0
        self._lock = asyncio.Lock()
        self._process: Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def load(self) -> int:
        """How many pictures it has."""
        return len(self._waiting)

    @property
    def pid(self) -> int:
        """Of the process; 0 for none."""
        return self._process.pid if self._process else 0

    async def process(self) -> Process:
        """Return the process, a new one if there is none.

        Raises:
            ToolFailed: it can't be started.
        """
        async with self._lock:
            if self._process and self._reading and not self._reading.done():
                return self._process
            if self._process:
                code = await self._process.wait()
                if code > 0:
                    problem, remedy = (
                        f"ended with status {code}",
                        "see its messages above in this log",
                    )
                    raise ToolFailed("isotope.intake.decode", problem, remedy)
                log.warning("a decoder is gone; another is started")
            program = ("-m", "isotope.intake.decode", json.dumps(self._limits))
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *program,
                stdin=PIPE,
                stdout=PIPE,
                limit=_BUFFER,
                start_new_session=True,
            )
            self._reading = asyncio.create_task(self._read(self._process))
            return self._process

    async def convert(self, data: bytes, content_type: str | None, where: str = "") -> Converted:
        """Return what became of a picture (columns of the ledger), and its WebP bytes.

        A death is tried again once: the system may have killed it for the memory that others take.

        Raises:
            ToolFailed: the process can't be started, or isotope's own code failed on the picture,
                which `where` names.
        """
        row: dict[str, Any] = {}
        for _ in range(_TRIES):
            row, webp = await self._convert_once(data, (content_type or "").encode())
            if row["status"] == BUG:
                raise ToolFailed(where or "a picture", row["error"], _REPORT)
            if row["status"] != "decoder_died":
                return row, webp
        return row, b""

    async def _convert_once(self, data: bytes, kind: bytes) -> Converted:
        process = await self.process()
        self._number += 1
        answer = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        if process.stdin is not None:
            process.stdin.write(REQUEST.pack(self._number, len(kind), len(data)) + kind)
            process.stdin.write(data)
        try:
            async with asyncio.timeout(_PATIENCE_S + _AHEAD * self._limits["decode_s"]):
                return await answer
        except TimeoutError:
            self._kill()
            return _LOST

    async def _read(self, process: Process) -> None:
        """Hand out the answers until there are no more; what is left then is lost."""
        source = process.stdout
        try:
            while source is not None:
                magic, number, row_size, size = REPLY.unpack(await source.readexactly(REPLY.size))
                if magic != MAGIC:
                    break
                row = json.loads(await source.readexactly(row_size))
                webp = await source.readexactly(size)
                # Nobody waits for this number: the worker died between its answer and its state.
                if (answer := self._waiting.pop(number, None)) and not answer.done():
                    answer.set_result((row, webp))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        self._kill()
        left, self._waiting = self._waiting, {}
        for answer in left.values():
            if not answer.done():
                answer.set_result(_LOST)

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """Let the process end, or end it if it is busy."""
        if self._process is None or self._reading is None:
            return
        if self._waiting or self._process.stdin is None:
            self._kill()
        else:
            self._process.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), _LEAVING_S)
        self._kill()
        await self._process.wait()
        await self._reading


class Decoders:
    """Several of them; each gets one picture ahead of its answers."""

    def __init__(self, limits: Mapping[str, Any]) -> None:
        """Take `limits["decoders"]` and what a Decoder takes."""
        self._all = [Decoder(limits) for _ in range(limits["decoders"])]
        self._places = asyncio.Semaphore(_AHEAD * len(self._all))

    async def start(self) -> None:
        """Start the processes, which takes seconds, while something else goes on."""
        for decoder in self._all:
            await decoder.process()

    async def convert(self, data: bytes, content_type: str | None, where: str = "") -> Converted:
        """Return what became of a picture, and its WebP bytes; as `Decoder.convert`."""
        async with self._places:
            least = min(self._all, key=lambda decoder: decoder.load)
            return await least.convert(data, content_type, where)

    async def close(self) -> None:
        """End the processes."""
        for decoder in self._all:
            await decoder.close()


_LOST: Converted = ({"status": "decoder_died", "error": "gone"}, b"")
