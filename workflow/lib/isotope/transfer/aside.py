"""Where the bytes of a remote arrive before they take their places: whole, and compared.

A file lies in `.isotope/pull` by its digest, with the ending `.part` until all of it has arrived
and is what was sent. It stays there until its output is in place, so what has arrived once is not
asked for again, whenever a run is killed.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from isotope.core import digests, store
from isotope.core.errors import ChecksumMismatch
from isotope.transfer.asked import Movers
from isotope.transfer.outputs import STAMP, Output, OutputFile
from isotope.transfer.remote import HASHES, Remote
from isotope.transfer.sizes import counted

FOLDER = Path(".isotope/pull")
_TRIES = 2
_READ_ONLY, _WRITABLE = 0o444, 0o644


class ArrivalFolder:
    """The folder of a project in which bytes of a remote arrive."""

    def __init__(self, remote: Remote, root: Path) -> None:
        """Nothing is asked yet."""
        self._remote, self._folder, self._root = remote, root / FOLDER, root

    def fetch(self, objects: Mapping[str, OutputFile], size: int, jobs: int) -> None:
        """Fetch files, `size` bytes in all, by the names of their bytes, so many at a time.

        Raises:
            ChecksumMismatch, TruncatedFile: what is there is not what was sent.
            MissingFile, AccessDenied, FetchFailed, DiskFull, Unwritable: as `Remote.fetch`.
        """
        lacking = {name: file for name, file in objects.items() if not self._at(name).exists()}
        begun = [self._part(name) for name in lacking]
        arrived = size - sum(file.bytes for file in lacking.values())
        with counted("fetched", size) as progress:
            progress.resume(arrived + sum(p.stat().st_size for p in begun if p.exists()))
            movers = Movers(jobs, progress)
            movers.run(lambda item: self._fetch(*item, movers.count), lacking.items())

    def _fetch(self, name: str, file: OutputFile, count: Callable[[int], None]) -> None:
        """Fetch one file, again where a byte was changed on the way.

        Raises:
            ChecksumMismatch: it came twice so.
        """
        part, differing = self._part(name), ("", "")
        for _ in range(_TRIES):
            self._remote.fetch(name, part, file.bytes, count)
            differing = next(iter(_differing(part, file)), None)
            if differing is None:
                part.replace(self._at(name))
                return
            part.unlink()
            count(-file.bytes)
        kind, digest = differing or ("", "")
        problem = f"{kind} {digest}, sent with {file.digests[kind]}"
        remedy = "run again; if it comes back, remove this file from the remote, and push it again"
        raise ChecksumMismatch(self._remote.address_of(name), problem, remedy)

    def install(self, output: Output, lacking: Sequence[str]) -> None:
        """Give an output its place at once: what it lacked is from here.

        Raises:
            DiskFull, Unwritable: no room, or no leave to write.
        """
        if output.is_folder:
            self._install_folder(output, lacking)
            return
        places = output.places(self._root)
        # The file itself comes last: a manifest, behind all that it names.
        for name in sorted(lacking, reverse=True):
            with store.aside(places[name]) as part:
                self._lay(output, name, part)

    def _install_folder(self, output: Output, lacking: Sequence[str]) -> None:
        target = self._root / output.path
        for name in output.files.keys() - {*lacking}:
            # What is here already is as safe as what has arrived.
            self._folder.mkdir(parents=True, exist_ok=True)
            if not self._at(output.object(name)).exists():
                _lay(target / name, self._at(output.object(name)))
        with store.folder_aside(target) as aside:
            for name in output.files:
                (aside / name).parent.mkdir(parents=True, exist_ok=True)
                self._lay(output, name, aside / name)
            if output.has_stamp:
                (aside / STAMP).touch()

    def _lay(self, output: Output, name: str, path: Path) -> None:
        file = output.files[name]
        path.unlink(missing_ok=True)
        _lay(self._at(output.object(name)), path)
        path.chmod(_READ_ONLY if file.is_read_only else _WRITABLE)

    def clean(self) -> None:
        """Remove what has arrived: all of it is in its place."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _at(self, name: str) -> Path:
        return self._folder / name.rpartition("/")[2]

    def _part(self, name: str) -> Path:
        at = self._at(name)
        return at.with_name(f"{at.name}.part")


def _lay(path: Path, target: Path) -> None:
    """Have a file at a second place by a link, and at a third as a file of its own."""
    if path.stat().st_nlink == 1:
        with suppress(OSError):
            os.link(path, target)
            return
    shutil.copyfile(path, target)


def has_size(path: Path, file: OutputFile) -> bool:
    """Tell whether a file is there with the size that a version has."""
    return path.is_file() and path.stat().st_size == file.bytes


def is_same(path: Path, file: OutputFile, count: Callable[[int], None]) -> bool:
    """Tell whether a file of this size is what a version has; `count` is told of each block."""
    return not any(_differing(path, file, count))


def hashed(
    path: Path, names: Sequence[str] = tuple(HASHES), count: Callable[[int], None] | None = None
) -> list[tuple[str, str]]:
    """Return digests of a file by their names."""
    hashes: dict[str, Any] = {name: HASHES[name]() for name in names}
    for block in digests.blocks(path):
        for computed in hashes.values():
            computed.update(block)
        if count:
            count(len(block))
    return [(name, computed.hexdigest()) for name, computed in hashes.items()]


def _differing(
    path: Path, file: OutputFile, count: Callable[[int], None] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield name and value of each digest of a file that it does not have."""
    computed = hashed(path, [name for name in HASHES if name in file.digests], count)
    yield from ((name, value) for name, value in computed if value != file.digests[name])
