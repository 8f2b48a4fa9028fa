"""Which runs hold a project, so that the lock of a killed one keeps nobody out.

Snakemake locks the files of a run by lists in `.snakemake/locks`, which `kill -9` or a power cut
leaves. A run, and each of its jobs, which may live longer, holds a file of its own in
`.isotope/held`, which says where it runs, by a lock of the kernel, and that ends with the process.
Where nobody holds any of these files, and all of them are of this machine, nobody is at work: the
lists are removed. Those of another machine may be held by a process that can't be seen from here,
and lists that no run of ours made may be anybody's: there the next run says what to do.
"""

import fcntl
import json
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

RECORDS, LOCKS = Path(".isotope/held"), Path(".snakemake/locks")
_UNLOCK = "`snakemake --unlock`, then run the same command again"


class Holder(NamedTuple):
    """A run or job that holds the project, or did: where its file lies, and whether it is at work.

    `is_alive` is None where that can't be told from this machine.
    """

    path: Path
    host: str
    process: int
    since: str
    is_alive: bool | None


def hold(folder: Path = Path()) -> IO[str] | None:
    """Say that this process works in a folder; return the open file that holds it.

    None where it can't be made: then the lock of this process stays if it is killed.
    """
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    about = {"host": socket.gethostname(), "process": os.getpid(), "since": began}
    # The working directory may change.
    path = (folder / RECORDS).resolve() / f"{about['host']}-{os.getpid()}-{time.time_ns()}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.with_suffix(".part").open("w", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        json.dump(about, file)
        file.flush()
        # Under its name only when it is held.
        path.with_suffix(".part").replace(path)
    except OSError:
        return None
    return file


def leave(file: IO[str] | None) -> None:
    """Say that this process runs no longer."""
    if file:
        with suppress(OSError):
            Path(file.name).with_suffix(".json").unlink(missing_ok=True)
            file.close()
            Path(file.name).parent.rmdir()


def holders(folder: Path = Path()) -> list[Holder]:
    """Return the runs and jobs that hold a folder, or did and were killed."""
    records = (_read(path) for path in sorted((folder / RECORDS).glob("*.json")))
    return [holder for holder in records if holder]


def _read(path: Path) -> Holder | None:
    try:
        with path.open("r+", encoding="utf-8") as file:
            about = json.load(file)
            is_here = about["host"] == socket.gethostname()
            alive = _is_locked(file) if is_here else None
            return Holder(path, about["host"], about["process"], about["since"], alive)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def free(holders: list[Holder], folder: Path = Path()) -> str:
    """Remove the lock of killed runs if nobody is at work; return what to say, or nothing."""
    locks = folder / LOCKS
    had_lock = locks.is_dir() and any(locks.iterdir())
    far = any(holder.is_alive is None for holder in holders)
    # Without a lock no run is at work anywhere, and files of other machines are of the past.
    if not holders or any(holder.is_alive for holder in holders) or (far and had_lock):
        return ""
    with suppress(OSError):
        # The folder stays: Snakemake has made sure of it, and will write there.
        for path in locks.iterdir() if had_lock else ():
            path.unlink()
        for holder in holders:
            holder.path.unlink(missing_ok=True)
    if not had_lock or any(locks.iterdir()):
        return ""
    last = holders[-1]
    return f"The run of {last.since} (process {last.process}) was killed; its lock is removed."


def lock_message(holders: list[Holder]) -> str:
    """Return who holds the project, and what to do."""
    alive = [holder for holder in holders if holder.is_alive]
    if alive:
        first = alive[0]
        holder = f"process {first.process} of this machine runs since {first.since}"
        return f"Locked: {holder}; wait for its end, or stop it"
    far = [holder for holder in holders if holder.is_alive is None]
    if far:
        where = f"process {far[0].process} on {far[0].host} began at {far[0].since}"
        return f"Locked: {where}; if it runs no longer: {_UNLOCK}"
    return f"Locked, and no run is known that could hold it; if none is at work: {_UNLOCK}"
