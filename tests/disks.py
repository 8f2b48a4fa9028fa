"""Folders without room, for tests of a full disk."""

import shutil
import subprocess
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
