"""The process that decodes untrusted pictures: bytes on its input, WebP on its output.

    python -m isotope.intake.decode '{"max_pixels": ..., "decode_s": ..., "decode_mb": ...}'

A parent starts a worker. When that is killed (by a crash in a decoder, its limit of time or of
memory), the parent reports the death in its place and starts another; the crawl loses one picture.
What a library raises is a row of the ledger; what isotope's own code raises is sent back as such,
and ends the job that asked.

On Linux the parent has imported everything and forks, which takes milliseconds, and the worker
limits its own addresses. macOS has neither (`isotope.core.system`): there a worker is a program of
its own, and the parent looks at its memory.
"""

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Mapping
from mmap import mmap
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from isotope.core.system import FORKS
from isotope.intake.worker import (
    IDLE,
    READING,
    STARTING,
    STATE_BYTES,
    WORKING,
    WorkerState,
    load,
    memory,
    reply,
    work,
)

_MB = 10**6
_LOOK_S = 0.05
_OUT_OF_MEMORY = {"status": "decoder_died", "error": "out of memory"}
Death = dict[str, Any]


def main(limits: Mapping[str, Any]) -> None:
    """Start one worker after the other until the input ends."""
    pipes = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    state, start = _forking(pipes, limits) if FORKS else _starting(pipes, limits)
    while True:
        state.enter(STARTING)
        code, death = _wait(start(), state, limits["decode_mb"] * _MB)
        phase, number = state.phase()
        if code >= 0:
            sys.exit(code)
        if phase == READING:
            os.kill(os.getpid(), signal.SIGKILL)
        if phase == WORKING:
            reply(pipes[1], number, death or _death(-code), b"")
        state.enter(IDLE, number)


def _forking(
    pipes: tuple[int, int], limits: Mapping[str, Any]
) -> tuple[WorkerState, Callable[[], int]]:
    """Return what forks a worker, and its state: all is loaded before, outside of the limits."""
    state = WorkerState(mmap(-1, STATE_BYTES))
    load(limits)

    def start() -> int:
        worker = os.fork()
        if worker == 0:
            _confine(limits)
            work(*pipes, state, limits)
            os._exit(0)
        return worker

    return state, start


def _starting(
    pipes: tuple[int, int], limits: Mapping[str, Any]
) -> tuple[WorkerState, Callable[[], int]]:
    """Return what starts a worker as a program of its own, and its state."""
    with TemporaryFile() as file:
        shared = os.dup(file.fileno())
    os.truncate(shared, STATE_BYTES)
    files = [*pipes, shared]
    for number in files:
        os.set_inheritable(number, True)
    words = (sys.executable, "-m", "isotope.intake.worker", json.dumps(limits))
    command = [*words, *map(str, files)]
    return WorkerState(mmap(shared, STATE_BYTES)), lambda: os.posix_spawn(
        sys.executable, command, os.environ
    )


def _wait(worker: int, state: WorkerState, most: int) -> tuple[int, Death | None]:
    """Return with which status a worker ends, and what became of its picture if that is known.

    One that limits its addresses is left alone; another is ended when a picture takes more memory.
    """
    if FORKS:
        return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]), None
    while True:
        ended, status = os.waitpid(worker, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status), None
        if state.phase()[0] != STARTING and memory(worker) > state.loaded + most:
            os.kill(worker, signal.SIGKILL)
            return os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1]), _OUT_OF_MEMORY
        time.sleep(_LOOK_S)


def _confine(limits: Mapping[str, Any]) -> None:
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    most = now + limits["decode_mb"] * _MB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _death(number: int) -> Death:
    if number == signal.SIGPROF:
        return {"status": "decode_timeout", "error": None}
    return {"status": "decoder_died", "error": signal.Signals(number).name}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(json.loads(sys.argv[1]))
