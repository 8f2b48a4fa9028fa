"""Digests of what jobs made, written when it was made, and compared before it is read again.

Of every output of a job, a file or a folder, a record lies in the folder `.digests` beside it:
`results/score/toy.parquet` has `results/score/.digests/toy.parquet.digest`. It is JSON and lists,
by name, size, MD5 (that of DVC) and XXH128 (faster: what is compared) of the file, or of
each file in the folder; "" is the output itself. The record of a `manifest.json` has the files too
that the manifest names. Nothing in a record depends on when or where it was written.

A record is removed before its output is written and comes back when all of it is there, so that a
job that dies in between leaves none: what has no record is not compared, and that is said.
"""

import hashlib
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import xxhash

from isotope.core import store
from isotope.core.errors import ChecksumMismatch, CorruptFile, IsotopeError, MissingFile
from isotope.core.progress import log
from isotope.core.terminal import shortened

FOLDER, SUFFIX = ".digests", ".digest"
MANIFEST = "manifest.json"
# What a run makes and keeps. Elsewhere lie sources, and parts that one run makes and removes.
TOPS = ("data", "results")
# Folders there that Snakemake removes when they were read (`temp`); they have sums of their own.
TEMPORARY = ("data/project/*/index",)
# Where files that are compared by size and time have what was seen when they were last read.
REMEMBERED = Path(".isotope/digests")
_VERSION = 1
_BLOCK = 1 << 20
_READERS = 4
_MISSING, _SHOWN = "written, and no longer there", 3
# What to do about a file that is not as it was written.
MEND = (
    "remove it and run the same command again, which makes it anew (`chmod u+w` first where it is "
    "read-only); if this comes back, test memory and disk"
)


class Digest(NamedTuple):
    """Size in bytes, MD5 and XXH128 (both in hexadecimal) of a file."""

    bytes: int
    md5: str
    xxh128: str


def digest(path: Path) -> Digest:
    """Return the digest of a file, read once.

    Raises:
        OSError: a file that can't be read.
    """
    md5, fast, size = hashlib.md5(usedforsecurity=False), xxhash.xxh3_128(), 0
    for block in blocks(path):
        md5.update(block)
        fast.update(block)
        size += len(block)
    return Digest(size, md5.hexdigest(), fast.hexdigest())


def quick(path: Path) -> str:
    """Return the XXH128 of a file.

    Raises:
        OSError: a file that can't be read.
    """
    fast = xxhash.xxh3_128()
    for block in blocks(path):
        fast.update(block)
    return fast.hexdigest()


def blocks(path: Path) -> Iterator[memoryview]:
    """Yield a file in blocks, each of which is gone with the next one.

    Raises:
        OSError: a file that can't be read.
    """
    room = memoryview(bytearray(_BLOCK))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(room):
            yield room[:size]


def is_kept(path: Path) -> bool:
    """Tell whether a path, relative to the project, has a record: below TOPS, not TEMPORARY."""
    inner = Path(os.path.relpath(path)) if path.is_absolute() else path
    is_below = len(inner.parts) > 1 and inner.parts[0] in TOPS
    return is_below and not any(inner.match(pattern) for pattern in TEMPORARY)


def record_of(output: Path) -> Path:
    """Return where the record of an output lies, whether or not it is there."""
    return output.parent / FOLDER / f"{output.name}{SUFFIX}"


def output_of(record: Path) -> Path:
    """Return the output that a record is of."""
    return record.parents[1] / record.name.removesuffix(SUFFIX)


def recorded(path: Path) -> Path | None:
    """Return the output with a record that a path is, or is below; None if there is none."""
    outputs = (path, *path.parents[: len(path.parts) - 1])
    return next((output for output in outputs if record_of(output).is_file()), None)


def files_of(output: Path) -> list[str]:
    """Return the names of an output's files, sorted: "" for itself, or paths below a folder.

    A `manifest.json` has the files that it names, with their paths below its folder.
    """
    if output.is_dir():
        files = (path.relative_to(output) for path in output.rglob("*") if path.is_file())
        # Snakemake's time stamp, what a killed process left, and records of other outputs.
        return sorted(p.as_posix() for p in files if not any(s.startswith(".") for s in p.parts))
    return ["", *_named_by(output)]


def _named_by(manifest: Path) -> list[str]:
    if manifest.name != MANIFEST:
        return []
    with suppress(OSError, ValueError, KeyError, TypeError):
        entries = json.loads(manifest.read_text(encoding="utf-8"))["files"]
        return sorted({str(file["path"]) for file in entries})
    return []


def write(output: Path) -> None:
    """Write the record of an output that is complete.

    Raises:
        DiskFull, Unwritable: no room or no leave to write.
        OSError: a file that can't be read.
    """
    names = files_of(output)
    places = [_file(output, name) for name in names]
    with ThreadPoolExecutor(_READERS) as pool:
        digests_of_files = dict(zip(names, pool.map(digest, places), strict=True))
    write_listed(output, digests_of_files)


def write_listed(output: Path, files: Mapping[str, Digest]) -> None:
    """Write the record of an output whose files have these digests, by name as `files_of`.

    Raises:
        DiskFull, Unwritable: no room or no leave to write.
    """
    listed_files = {name: list(fields) for name, fields in files.items()}
    content = {"version": _VERSION, "files": listed_files, "crc32": _crc(listed_files)}
    with store.aside(record_of(output)) as part:
        part.write_text(json.dumps(content, ensure_ascii=False) + "\n", encoding="utf-8")


def write_kept(output: Path) -> None:
    """Write the record of a file that a job makes beside its outputs, if it is one that is kept.

    Raises:
        As `write`.
    """
    if is_kept(output):
        write(output)


def forget(output: Path) -> None:
    """Remove the record of an output that is about to be written, or was removed on purpose."""
    record_of(output).unlink(missing_ok=True)
    # A folder that has no records left is none of anybody's files.
    with suppress(OSError):
        record_of(output).parent.rmdir()


def listed(output: Path) -> dict[str, Digest] | None:
    """Return the digests of an output's files by name, as `files_of`; None if there is no record.

    Raises:
        CorruptFile: a record that is not as it was written.
    """
    record = record_of(output)
    try:
        content = json.loads(record.read_text(encoding="utf-8"))
        files: dict[str, Any] = content["files"]
        if (content["version"], content["crc32"]) != (_VERSION, _crc(files)):
            raise ValueError("its version or CRC-32 is another")
        return {name: Digest(*fields) for name, fields in files.items()}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        remedy = f"remove it and {output}, and run again"
        raise CorruptFile(record, f"no record of digests: {error}", remedy) from error


def _crc(files: Mapping[str, object]) -> int:
    return zlib.crc32(json.dumps(files, sort_keys=True).encode())


def absent(output: Path) -> list[Path]:
    """Return the files of an output that its record lists and that are not there, or are shorter.

    Looks at names and sizes alone; an output without a record, or with a damaged one, has none.
    """
    try:
        files = listed(output) or {}
    except CorruptFile:
        return []
    places = ((_file(output, name), written.bytes) for name, written in files.items())
    return [path for path, size in places if not path.is_file() or path.stat().st_size < size]


def _file(output: Path, name: str) -> Path:
    if not name:
        return output
    return (output.parent if output.name == MANIFEST else output) / name


class FileDifference(NamedTuple):
    """A file that is not as its record says: what was written, and what is found."""

    path: Path
    written: str
    now: str

    def error(self) -> IsotopeError:
        """Return it as an error with what to do."""
        kind = MissingFile if self.now == _MISSING else ChecksumMismatch
        problem = f"{self.now}" if kind is MissingFile else f"{self.written}, now {self.now}"
        return kind(self.path, problem, MEND)


def differing(output: Path, files: Mapping[str, Digest]) -> Iterator[FileDifference]:
    """Yield the files of an output that differ from what was `listed`, reading all of each."""
    with ThreadPoolExecutor(_READERS) as pool:
        places = [(_file(output, name), written) for name, written in files.items()]
        for difference in pool.map(lambda pair: compared(*pair), places):
            if difference:
                yield difference


def compared(path: Path, written: Digest) -> FileDifference | None:
    """Compare a file's size and XXH128 with what was written; None if they are the same."""
    expected = f"written with {written.bytes:,} bytes, XXH128 {written.xxh128}"
    try:
        size = path.stat().st_size
        if size != written.bytes:
            return FileDifference(path, expected, f"{size:,} bytes")
        present = quick(path)
    except FileNotFoundError:
        return FileDifference(path, expected, _MISSING)
    except OSError as error:
        return FileDifference(path, expected, f"unreadable ({error.strerror})")
    return (
        None if present == written.xxh128 else FileDifference(path, expected, f"XXH128 {present}")
    )


@dataclass
class Job:
    """What a job has compared: each file once.

    Files of more than `by_time_above` bytes that were compared before and have the same size, time
    and inode are taken as they are; None compares all of them each time.
    """

    by_time_above: float | None = None
    files: int = 0
    bytes: int = 0
    trusted: int = 0
    unknown: list[Path] = field(default_factory=list[Path])
    _done: set[Path] = field(default_factory=set[Path])
    _records: dict[Path, dict[str, Digest] | None] = field(
        default_factory=dict[Path, dict[str, Digest] | None]
    )

    def demand(self, paths: Iterable[Path]) -> None:
        """Compare files, and all files of folders, with their records.

        Raises:
            ChecksumMismatch, MissingFile, CorruptFile: a file, or a record, that is not as written.
        """
        asked = [pair for path in paths for pair in self._asked(path)]
        with ThreadPoolExecutor(_READERS) as pool:
            for (_, written), (difference, is_read) in zip(
                asked, pool.map(lambda pair: self._compared(*pair), asked), strict=True
            ):
                self.files, self.trusted = self.files + is_read, self.trusted + (not is_read)
                self.bytes += written.bytes * is_read
                if difference:
                    raise difference.error()

    def _asked(self, path: Path) -> Iterator[tuple[Path, Digest]]:
        if path in self._done or not is_kept(path):
            return
        self._done.add(path)
        digests_of_files = self._listed(path)
        if digests_of_files is not None:
            # The files of a manifest are compared when they are read.
            names = digests_of_files if path.is_dir() else [""]
            pairs = [(_file(path, name), digests_of_files[name]) for name in names]
        else:
            held = self._held(path)
            pairs = [(path, held)] if held else []
            self.unknown += [] if held else [path]
        for file, written in pairs:
            self._done.add(file)
            yield file, written

    def _held(self, path: Path) -> Digest | None:
        """Return the digest of a file by the record of a folder above it, or of its manifest."""
        for above in path.parents[: len(path.parts) - 1]:
            for output in (above, above / MANIFEST):
                digests_of_files = self._listed(output)
                name = path.relative_to(above).as_posix()
                if digests_of_files is not None and name in digests_of_files:
                    return digests_of_files[name]
        return None

    def _listed(self, output: Path) -> dict[str, Digest] | None:
        if output not in self._records:
            self._records[output] = listed(output)
        return self._records[output]

    def _compared(self, path: Path, written: Digest) -> tuple[FileDifference | None, bool]:
        """Return what differs, and whether the file was read."""
        if self._is_trusted(path, written):
            return None, False
        difference = compared(path, written)
        if difference is None and self._may_trust(written):
            _remember(path, written)
        return difference, True

    def _may_trust(self, written: Digest) -> bool:
        return self.by_time_above is not None and written.bytes > self.by_time_above

    def _is_trusted(self, path: Path, written: Digest) -> bool:
        if not self._may_trust(written):
            return False
        with suppress(OSError, ValueError):
            remembered = json.loads(_memory_of(path).read_text(encoding="utf-8"))
            return remembered == [written.xxh128, *_state(path)]
        return False


def _memory_of(path: Path) -> Path:
    return REMEMBERED / f"{quote(str(path), safe='')}.json"


def _state(path: Path) -> list[int]:
    state = path.stat()
    return [state.st_size, state.st_mtime_ns, state.st_ino]


def _remember(path: Path, written: Digest) -> None:
    with suppress(OSError), store.aside(_memory_of(path)) as part:
        part.write_text(json.dumps([written.xxh128, *_state(path)]), encoding="utf-8")


# The job of this process, if it runs one.
_job: list[Job] = []


@contextmanager
def job(
    inputs: Iterable[Path], outputs: Sequence[Path], by_time_above: float | None = None
) -> Iterator[Job]:
    """Compare inputs; on success write the records of outputs. `demand` compares what else is read.

    Raises:
        ChecksumMismatch, MissingFile, CorruptFile: as `Job.demand`.
        DiskFull, Unwritable: as `write`.
    """
    recorded_outputs = [path for path in outputs if is_kept(path)]
    running = Job(by_time_above)
    start = time.perf_counter()
    running.demand(inputs)
    compared_s = time.perf_counter() - start
    _job.append(running)
    try:
        for path in recorded_outputs:
            forget(path)
        yield running
        start = time.perf_counter()
        for path in recorded_outputs:
            write(path)
        message = (
            "digests: %s files, %s bytes compared in %.3f s; those of %d outputs written in %.3f s"
        )
        written_s = time.perf_counter() - start
        sizes = f"{running.files:,}", f"{running.bytes:,}"
        log.info(message, *sizes, compared_s, len(recorded_outputs), written_s)
    finally:
        _job.remove(running)
        _say(running)


def demand(*paths: Path) -> None:
    """Compare files with their records before they are read; outside a job nothing is compared.

    Raises:
        ChecksumMismatch, MissingFile, CorruptFile: as `Job.demand`.
    """
    for running in _job:
        running.demand(paths)


def _say(ended: Job) -> None:
    if ended.trusted:
        log.info("digests: %s files have the size and time that they had", f"{ended.trusted:,}")
    if ended.unknown:
        unknown = shortened(ended.unknown, _SHOWN)
        log.info("digests: not compared, since none was written: %s", unknown)
