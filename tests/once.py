"""What a session of tests builds once, whichever of its workers asks first."""

import fcntl
from collections.abc import Callable
from pathlib import Path

from tests import forkserver


def once(name: str, build: Callable[[Path], None]) -> Path:
    """Return a folder of the session; whichever worker asks first builds what is in it.

    Raises:
        RuntimeError: another worker has failed to build it.
    """
    place = forkserver.folder() / name
    with place.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if place.with_suffix(".failed").exists():
            raise RuntimeError(place.with_suffix(".failed").read_text())
        if not place.exists():
            place.mkdir()
            try:
                build(place)
            except BaseException as error:
                place.with_suffix(".failed").write_text(f"{name} was not built: {error}")
                raise
    return place
