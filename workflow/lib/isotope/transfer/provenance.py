"""What Snakemake knows of outputs: by which params and code they were made, of which inputs.

Its records travel with outputs, and so do the times of these and of the files of the project that
jobs have read. After a pull Snakemake decides as it would have done where they were made: it plans
nothing where params and code are the same, and what they have changed otherwise.
"""

import gzip
import json
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import xxhash

from isotope.core import digests, extras
from isotope.core.digests import Digest
from isotope.core.errors import CorruptFile, MissingFile
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.transfer.aside import ArrivalFolder
from isotope.transfer.outputs import STAMP, Output, OutputFile, object_of, time_of
from isotope.transfer.remote import Remote
from isotope.transfer.versions import Version

_SNAKEMAKE_FOLDER = Path(".snakemake")
# Of zlib, for what has the head of gzip.
_GZIP, _MOST_BYTES = 31, 1 << 30
PACKED = "provenance.json.gz"
Records = dict[str, dict[str, Any]]


def records_of(root: Path, outputs: Iterable[Output]) -> Records:
    """Return Snakemake's record of each output of a project that has one, by path."""
    is_run = extras.is_installed("snakemake")
    if not is_run or not (root / _SNAKEMAKE_FOLDER / "metadata").is_dir():
        return {}
    record_store = _RecordStore(root)
    records = ((output.path, record_store.read(output.path)) for output in outputs)
    return {path: record for path, record in records if record}


def sources_of(root: Path, records: Records) -> dict[str, tuple[OutputFile, int]]:
    """Return the files that jobs have read and that no job has made: with digest, and their time.

    These are runs and judgements of the project, not what lies elsewhere.
    """
    read = {str(path) for record in records.values() for path in record.get("input") or ()}
    sources = dict[str, tuple[OutputFile, int]]()
    for name in sorted(read):
        path = root / name
        is_made = name.partition("/")[0] in digests.TOPS or name.startswith((".", "/"))
        if not is_made and path.is_file():
            state = path.stat()
            sources[name] = (
                OutputFile(state.st_size, {"xxh128": digests.quick(path)}),
                state.st_mtime_ns,
            )
    return sources


def packed(records: Records) -> tuple[OutputFile, bytes]:
    """Return records as the file that a remote keeps, and its bytes: JSON, compressed."""
    text = json.dumps(records, sort_keys=True, ensure_ascii=False).encode()
    content = gzip.compress(text, mtime=0)
    return OutputFile(len(content), {"xxh128": xxhash.xxh3_128_hexdigest(content)}), content


def unpacked(content: bytes, where: str) -> Records:
    """Return the records in the bytes of a remote's file.

    Raises:
        CorruptFile: they are none.
    """
    try:
        unpacking = zlib.decompressobj(_GZIP)
        text = unpacking.decompress(content, _MOST_BYTES)
        if not unpacking.eof:
            raise ValueError(f"cut, or more than {_MOST_BYTES:,} bytes")
        plain = cast("Mapping[str, Any]", json_value(text))
        return {str(path): dict(record) for path, record in plain.items()}
    except (zlib.error, Refused, ValueError, TypeError, AttributeError) as error:
        remedy = "remove it from the remote, and push again"
        raise CorruptFile(where, f"no records of Snakemake ({error})", remedy) from error


class _RecordStore:
    """Snakemake's records of a project."""

    def __init__(self, root: Path) -> None:
        from snakemake.persistence.file import FilePersistence  # noqa: PLC0415 (slow, optional)

        self._records = FilePersistence(path=root.absolute() / _SNAKEMAKE_FOLDER, nolock=True)

    def read(self, path: str) -> dict[str, Any] | None:
        record = self._records._read_record(path)  # pyright: ignore[reportPrivateUsage]
        return record.model_dump() if record else None

    def write(self, path: str, record: Mapping[str, Any]) -> None:
        from snakemake.persistence import MetadataRecord  # noqa: PLC0415 (as above)

        fields = {key: record[key] for key in MetadataRecord.model_fields if key in record}
        try:
            metadata = MetadataRecord.model_validate(fields)
        except ValueError as error:
            problem = f"no record of Snakemake's: {str(error).splitlines()[0]}"
            raise CorruptFile(path, problem, "push it again") from error
        self._records._write_record(path, metadata)  # pyright: ignore[reportPrivateUsage]


class Provenance:
    """Gives outputs of a version their places, with the records and times that belong to them."""

    def __init__(self, remote: Remote, version: Version, root: Path) -> None:
        """Fetch Snakemake's records, where a project is that it runs.

        Raises:
            MissingFile, CorruptFile, AccessDenied, FetchFailed: records that are not there.
        """
        self._version, self._root = version, root
        newest_ns = max(output.time_ns for output in version.outputs.values())
        # By the clock of the machine that made them, which may be ahead of this one.
        self._ahead_ns = max(0, newest_ns - time.time_ns())
        is_run = (root / "Snakefile").is_file() and extras.is_installed("snakemake")
        self._store = _RecordStore(root) if is_run else None
        self._records = dict(_fetched(remote, version)) if self._store else Records()

    def is_settled(self, output: Output) -> bool:
        """Tell whether an output whose files are here has its records, and none that are older."""
        record, path = output.record(), self._root / output.path
        if record is not None and _recorded(path) != record:
            return False
        sent = self._records.get(output.path)
        if sent is None or self._store is None:
            return True
        local_record = self._store.read(output.path)
        return local_record is not None and (local_record["endtime"] or 0) >= (
            sent.get("endtime") or 0
        )

    def install(self, output: Output, aside: ArrivalFolder, lacking: Sequence[str] | None) -> None:
        """Give an output its place; it has its records only when all of it is there.

        `lacking` names the files that have arrived; None if all of it is here, and no more.

        Raises:
            DiskFull, Unwritable: no room, or no leave to write.
        """
        path, record = self._root / output.path, output.record()
        time_ns = self._time_ns(output)
        if lacking is not None:
            digests.forget(path)
            aside.install(output, lacking)
        timed = path / STAMP if output.has_stamp else path
        os.utime(timed, ns=(time_ns, time_ns))
        if record is not None and _recorded(path) != record:
            digests.write_listed(path, record)
        if self._store and output.path in self._records:
            self._store.write(output.path, self._records[output.path])

    def _time_ns(self, output: Output) -> int:
        """Return when an output was made, or when that was which it was made of, if that is here
        already, the same, and later.
        """
        read = self._records.get(output.path, {}).get("input") or ()
        same = (o for path in read if (o := self._version.outputs.get(str(path))))
        times = [time_of(self._root / o.path)[0] for o in same if self._is_current(o)]
        return max([output.time_ns - self._ahead_ns, *times])

    def _is_current(self, output: Output) -> bool:
        path = self._root / output.path
        return path.exists() and _recorded(path) == output.record()

    def age_sources(self) -> None:
        """Give files of the project the times that they had, where they have the same bytes.

        A checkout gives them its own, by which they look newer than results.
        """
        for push in self._version.pushes.values():
            for name, (file, time_ns) in push.sources.items():
                path = self._root / name
                if path.is_file() and path.stat().st_size == file.bytes:
                    is_same = digests.quick(path) == file.digests["xxh128"]
                    if is_same and path.stat().st_mtime_ns > time_ns:
                        made_ns = time_ns - self._ahead_ns
                        os.utime(path, ns=(made_ns, made_ns))


def _recorded(path: Path) -> dict[str, Digest] | None:
    try:
        return digests.listed(path)
    except CorruptFile:
        return None


def _fetched(remote: Remote, version: Version) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield Snakemake's record of each output of a version, as the push had it that sent it."""
    for push in version.pushes.values():
        if push.provenance is None:
            continue
        name = object_of(PACKED, push.provenance)
        content = remote.read(name)
        if content is None:
            raise MissingFile(remote.address_of(name), "sent, and not there", "push again")
        for path, record in unpacked(content, remote.address_of(name)).items():
            if version.sent_by.get(path) is push:
                yield path, record
