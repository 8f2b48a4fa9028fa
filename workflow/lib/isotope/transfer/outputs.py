"""What a folder has to send: outputs of jobs by their records, and releases by their manifests.

An output is a file or a folder that one job has written. Its record (`core.digests`) has size, MD5
and XXH128 of each of its files. A release has SHA-256 as well, in its `manifest.json`, which is
all that it needs. What has neither is not complete, or nobody's, and is not sent.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from isotope.core import digests
from isotope.core.digests import Digest
from isotope.core.errors import ChecksumMismatch, CorruptFile, MissingFile
from isotope.release import manifest

# Where Snakemake keeps the time of an output that is a folder.
STAMP = ".snakemake_timestamp"
_RELEASES = "results/release"
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,12}")
_HEX = {"md5": 32, "xxh128": 32, "sha256": 64}
_FOLDER_OF_COLLECTION = 3
# What file systems take for a time; it is in the year 2116.
LATEST_NS = 1 << 62


class OutputFile(NamedTuple):
    """A file of an output: bytes, digests by name (md5, xxh128, sha256), and its mode."""

    bytes: int
    digests: Mapping[str, str]
    is_read_only: bool = False

    @property
    def digest(self) -> tuple[str, str]:
        """The digest that names the file, SHA-256 if it is known, else XXH128: name and value."""
        name = "sha256" if "sha256" in self.digests else "xxh128"
        return name, self.digests[name]


@dataclass(frozen=True)
class Output:
    """A complete output: its path below the project, and its files by name ("" is itself).

    `time_ns` is when it was made, as Snakemake reads it; `has_stamp` tells that a folder keeps it
    in STAMP.
    """

    path: str
    is_folder: bool
    files: Mapping[str, OutputFile]
    time_ns: int
    has_stamp: bool = False

    @property
    def bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for file in self.files.values())

    @property
    def same(self) -> tuple[str, Mapping[str, tuple[str, str]]]:
        """What two outputs share that have the same files: path, and digests by name."""
        return self.path, {name: file.digest for name, file in self.files.items()}

    @property
    def folder(self) -> str:
        """The folder of a collection or source that it is of, such as `data/encode/toy`."""
        return "/".join(self.path.split("/")[:_FOLDER_OF_COLLECTION])

    def places(self, root: Path) -> dict[str, Path]:
        """Return where each file lies below `root`, by its name."""
        output = root / self.path
        above = output if self.is_folder else output.parent
        return {name: above / name if name else output for name in self.files}

    def object(self, name: str) -> str:
        """Return the name that the bytes of a file have in a remote."""
        return object_of(name or self.path, self.files[name])

    def record(self) -> dict[str, Digest] | None:
        """Return what `core.digests` records of it; None where that is not known."""
        if any(not {"md5", "xxh128"} <= file.digests.keys() for file in self.files.values()):
            return None
        return {
            name: Digest(file.bytes, file.digests["md5"], file.digests["xxh128"])
            for name, file in self.files.items()
        }


def object_of(path: str, file: OutputFile) -> str:
    """Return the name of a file's bytes in a remote: `files/7c/7c8ad0….parquet`."""
    digest = file.digest[1]
    suffix = PurePosixPath(path).suffix
    return f"files/{digest[:2]}/{digest}{suffix if _SUFFIX.fullmatch(suffix) else ''}"


def outputs_of(root: Path) -> list[Output]:
    """Return the outputs of a project that are complete, by path.

    Raises:
        ChecksumMismatch, MissingFile: a file that is gone, or of another size than was written.
        CorruptFile: a record or manifest that can't be read.
    """
    outputs = dict[str, Output]()
    for top in digests.TOPS:
        pattern = f"{top}/**/{digests.FOLDER}/*{digests.SUFFIX}"
        for record in sorted(root.glob(pattern)):
            output = digests.output_of(record)
            path = output.relative_to(root).as_posix()
            if digests.is_kept(Path(path)):
                outputs[path] = _recorded(root, path)
    for about in sorted(root.glob(f"{_RELEASES}/*/{manifest.NAME}")):
        path = about.parent.relative_to(root).as_posix()
        outputs[path] = _released(root, path, outputs.get(path))
    return [outputs[path] for path in sorted(outputs)]


def _recorded(root: Path, path: str) -> Output:
    output = root / path
    files = {
        name: OutputFile(digest.bytes, {"md5": digest.md5, "xxh128": digest.xxh128})
        for name, digest in (digests.listed(output) or {}).items()
    }
    if not output.exists():
        raise MissingFile(output, "written, and no longer there", digests.MEND)
    return _checked(root, Output(path, output.is_dir(), files, *time_of(output)))


def _released(root: Path, path: str, recorded: Output | None) -> Output:
    folder = root / path
    listed = manifest.read_manifest(folder).files
    entries = {entry.path: entry for entry in (*listed, _own_entry(folder))}
    before = recorded.files if recorded and recorded.files.keys() == entries.keys() else {}
    files = {
        name: OutputFile(entry.bytes, {**_digests_of(before, name), "sha256": entry.sha256})
        for name, entry in sorted(entries.items())
    }
    return _checked(root, Output(path, True, files, *time_of(folder)))


def _digests_of(files: Mapping[str, OutputFile], name: str) -> Mapping[str, str]:
    return files[name].digests if name in files else {}


def _own_entry(folder: Path) -> manifest.ManifestEntry:
    return manifest.digest(folder / manifest.NAME, folder)


def time_of(output: Path) -> tuple[int, bool]:
    """Return when an output was made, in ns, and whether a folder keeps that in STAMP."""
    stamp = output / STAMP
    has_stamp = output.is_dir() and stamp.exists()
    return (stamp if has_stamp else output).stat().st_mtime_ns, has_stamp


def _checked(root: Path, output: Output) -> Output:
    """Return an output with the modes of its files, all of which have the size that was written.

    Raises:
        ChecksumMismatch, MissingFile: that is not so.
    """
    files = dict[str, OutputFile]()
    for name, path in output.places(root).items():
        file = output.files[name]
        if not path.is_file():
            raise MissingFile(path, "written, and no longer there", digests.MEND)
        state = path.stat()
        if state.st_size != file.bytes:
            problem = f"written with {file.bytes:,} bytes, now {state.st_size:,}"
            raise ChecksumMismatch(path, problem, digests.MEND)
        files[name] = file._replace(is_read_only=not state.st_mode & 0o222)
    return Output(output.path, output.is_folder, files, output.time_ns, output.has_stamp)


def selected(
    outputs: Sequence[Output], paths: Sequence[str], collection: str | None = None
) -> list[Output]:
    """Return the outputs that some paths name: of an output or a folder, a pattern, or a phase.

    Without paths all are; with a `collection` only what its folders and files have.
    """
    return [output for output in outputs if is_selected(output.path, paths, collection)]


def is_selected(path: str, paths: Sequence[str], collection: str | None = None) -> bool:
    """Tell whether an output, by its path, is one of those that `selected` returns."""
    if collection is not None and collection not in _names(path):
        return False
    way = [path, *(str(above) for above in PurePosixPath(path).parents)]
    patterns = [pattern for selected_path in paths for pattern in _patterns(selected_path)]
    return not paths or any(_matches(step, pattern) for step in way for pattern in patterns)


def _patterns(path: str) -> Iterator[str]:
    plain = PurePosixPath(path).as_posix()
    yield plain
    if "/" not in plain:
        yield from (f"{top}/{plain}" for top in digests.TOPS)


def _matches(path: str, pattern: str) -> bool:
    same_depth = path.count("/") == pattern.count("/")
    return same_depth and PurePosixPath(path).match(pattern)


def _names(path: str) -> set[str]:
    """Return the names that the collection of an output may have, by its place."""
    parts = path.split("/")
    if len(parts) < _FOLDER_OF_COLLECTION:
        return set()
    steps = parts[2].split(".")
    stems = {".".join(steps[: n + 1]) for n in range(len(steps))}
    return stems | {stem.removesuffix("-lite") for stem in stems}


def as_plain(output: Output) -> dict[str, Any]:
    """Return an output as JSON has it, with the object that each of its files is."""
    files = {
        name: {
            "bytes": file.bytes,
            **file.digests,
            **({"read_only": True} if file.is_read_only else {}),
            "object": output.object(name),
        }
        for name, file in output.files.items()
    }
    kind = {"folder": output.is_folder, "stamp": output.has_stamp, "time_ns": output.time_ns}
    return {"path": output.path, **kind, "files": files}


def of_plain(plain: Mapping[str, Any]) -> Output:
    """Return the output that JSON says, whoever wrote it.

    Raises:
        CorruptFile: a path that leads elsewhere, or what is no digest; without a place.
        KeyError, TypeError, ValueError, AttributeError: not what `as_plain` returns.
    """
    path = inner_path(str(plain["path"]))
    if path.partition("/")[0] not in digests.TOPS or "/" not in path:
        raise CorruptFile("", f"{path!r} is no place of results", "")
    files = {
        inner_path(name) if name else "": file_of_plain(fields)
        for name, fields in plain["files"].items()
    }
    is_folder, time_ns = bool(plain["folder"]), int(plain["time_ns"])
    if not 0 <= time_ns < LATEST_NS:
        raise CorruptFile("", f"{path}: no time: {time_ns}", "")
    if is_folder == ("" in files):
        raise CorruptFile("", f"{path}: neither a file nor a folder", "")
    return Output(path, is_folder, files, time_ns, bool(plain["stamp"]))


def file_of_plain(plain: Mapping[str, Any]) -> OutputFile:
    """Return the file that JSON says, whoever wrote it.

    Raises:
        CorruptFile: what is no digest, or no size; without a place.
        KeyError, TypeError, ValueError: not what `as_plain` returns.
    """
    hex_digests = {kind: str(plain[kind]) for kind in _HEX if kind in plain}
    bad = [k for k, v in hex_digests.items() if not re.fullmatch(f"[0-9a-f]{{{_HEX[k]}}}", v)]
    size = int(plain["bytes"])
    if bad or not {"xxh128", "sha256"} & hex_digests.keys() or size < 0:
        raise CorruptFile("", f"no size and digest of a file: {dict(plain)}", "")
    return OutputFile(size, hex_digests, bool(plain.get("read_only", False)))


def inner_path(path: str) -> str:
    """Return a path that stays below its folder.

    Raises:
        CorruptFile: it does not, or has a step that is hidden; without a place.
    """
    steps = path.split("/")
    if any(not step or step.startswith(".") or "\\" in step or "\0" in step for step in steps):
        raise CorruptFile("", f"{path!r} leads elsewhere", "")
    return path
