"""Folders without room, for tests of a full disk, and folders of another file system."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[None]:
    """Mount a file system of that size at a new folder; skip where this user may not."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False).returncode:
        pytest.skip("this user may not mount a small file system")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def other_disk(beside: Path) -> Iterator[Path]:
    """Yield an empty folder of another file system than that of a folder; skip if none is known."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == beside.stat().st_dev:
        pytest.skip("no other file system here: /dev/shm is none, or can't be written")
    with tempfile.TemporaryDirectory(dir=memory, prefix="isotope-tests-") as folder:
        yield Path(folder)
