"""Work in pieces that a killed process goes on with."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from isotope.core import store


@contextmanager
def resumable(out: Path, digest: str) -> Generator[Path, None, None]:
    """Yield a folder beside `out` that stays only where the process is killed or interrupted.

    What another run has left there is kept if that run's `digest` is the same: of inputs, params
    and code.
    """
    folder = out.with_name(f".{out.name}.blocks")
    made_of = folder / "inputs.sha256"
    if not made_of.is_file() or made_of.read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        with store.aside(made_of) as part:
            part.write_text(digest)
    try:
        yield folder
    except Exception:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder)
