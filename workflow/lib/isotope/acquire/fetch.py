"""Upstream bytes: fetched for their address, checked, placed read-only, listed in a manifest."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from isotope.acquire import addresses, remote
from isotope.acquire.addresses import (
    ORIGINS,
    FileOrigin,
    add_origin,
    read_origins,
    remove_placed,
    write_origins,
)
from isotope.core import digests, patterns, store
from isotope.core import manifest as manifests
from isotope.core.errors import (
    AccessDenied,
    BadParams,
    ChecksumMismatch,
    FetchFailed,
    IsotopeError,
    MissingFile,
)
from isotope.core.patterns import Stated, UpstreamFile
from isotope.core.progress import Progress, log
from isotope.params.acquire import DigestedSource

_BLOCK = 1 << 20
_DIGESTS = ("md5", "sha1", "sha256")
_GONE = (404, 410)
Files = Mapping[str, UpstreamFile]


def acquire(spec: DigestedSource, manifest: Path, scratch: Path) -> None:
    """Fetch the files of `spec` (params `acquire.<source>`) and write the manifest beside them.

    A placed file stays if `origins.jsonl` has its address, the version there and its bytes.
    Interrupted downloads stay in `scratch`, or beside the manifest where that is another file
    system (`store.near`), and go on from there.

    Raises:
        BadParams, FetchFailed, AccessDenied, ChecksumMismatch, MissingFile: nothing incomplete is
            placed, and no manifest lists files of an earlier one.
        Unwritable, DiskFull: as `store.near`.
    """
    folder = manifest.parent
    aside = store.near(folder, scratch)
    before = read_origins(folder)
    files = upstream(spec.stated(), spec.endpoint)
    source = _Source(manifest, aside, spec.endpoint, before)
    origins = [source.fetch(path, file) for path, file in files.items()]
    manifest.unlink(missing_ok=True)
    remove_placed(folder, before.keys() - files.keys())
    write_origins(folder, origins)
    digests.write_kept(folder / ORIGINS)
    manifests.write(
        manifest, [manifests.entry(o.path, o.bytes, o.sha256, o.url, o.version) for o in origins]
    )
    if aside != scratch:
        shutil.rmtree(aside, ignore_errors=True)


def upstream(files: Mapping[str, Sequence[Stated]], endpoint: str | None) -> Files:
    """Return every file of a source by its place below the source's folder, patterns expanded.

    Raises:
        MissingFile: a pattern that names no file.
        FetchFailed, AccessDenied: a server that does not list its files.
        BadParams: as `addresses.places`.
    """
    return {
        f"{part}/{path}": file
        for part, listed in files.items()
        for path, file in addresses.places(part, list(_expanded(listed, endpoint))).items()
    }


def _expanded(listed: Sequence[Stated], endpoint: str | None) -> Iterator[UpstreamFile]:
    for file in (file for stated in listed for file in patterns.expand(stated)):
        url = file.stated.url
        if patterns.local_path(url) is None and patterns.is_pattern(url):
            with _named_errors(url):
                yield from remote.matching(file.stated, endpoint)
        else:
            yield file


def _make_room(root: Path, path: Path) -> None:
    """Make the folders of `path` below `root`, where an earlier file or folder may be."""
    for parent in path.relative_to(root).parents[:-1]:
        if (root / parent).is_file():
            (root / parent).unlink()
    if path.is_dir():
        shutil.rmtree(path)
    path.parent.mkdir(parents=True, exist_ok=True)


class _Source:
    """A folder of placed files, with their earlier origins."""

    def __init__(
        self, manifest: Path, scratch: Path, endpoint: str | None, before: Mapping[str, FileOrigin]
    ) -> None:
        self._manifest, self._scratch = manifest, scratch
        self._endpoint, self._before = endpoint, before

    def fetch(self, path: str, file: UpstreamFile) -> FileOrigin:
        """Download one file unless what is placed is of its address and of what is there now."""
        url, placed, origin = file.stated.url, self._folder / path, self._before.get(path)
        with _named_errors(url):
            now = remote.state(url, self._endpoint)
        present = _up_to_date(placed, file, now, origin)
        if present is not None:
            return present._replace(path=path)
        partial = self._scratch / path
        _make_room(self._scratch, partial)
        with _named_errors(url, partial):
            download(url, partial, now, self._endpoint, most=file.stated.bytes)
            later = remote.state(url, self._endpoint)
        if later != now:
            raise FetchFailed(url, "it changed while it was fetched", "run again")
        verify(partial, file.stated)
        origin = _origin(path, file, now, partial, origin)
        self._put(partial, placed, origin)
        log.info("%s fetched on %s", url, datetime.now(UTC).isoformat(timespec="seconds"))
        return origin

    @property
    def _folder(self) -> Path:
        return self._manifest.parent

    def _put(self, partial: Path, placed: Path, origin: FileOrigin) -> None:
        """Move a file into place; an earlier manifest would be wrong from then on."""
        self._manifest.unlink(missing_ok=True)
        _make_room(self._folder, placed)
        add_origin(self._folder, origin)
        partial.chmod(0o444)
        partial.replace(placed)
        _note(partial).unlink(missing_ok=True)


def _up_to_date(
    placed: Path, file: UpstreamFile, now: remote.FileState, origin: FileOrigin | None
) -> FileOrigin | None:
    """Return what a placed file is of, if that is what is at the address now.

    A file of a server without an origin stays if it has the published digest.
    """
    stated, size = file.stated, now.size
    if not placed.is_file() or (size is not None and placed.stat().st_size != size):
        return None
    published = any(getattr(stated, name) for name in _DIGESTS)
    if _differing(placed, stated):
        return None
    if origin is None or origin.url != stated.url:
        served = patterns.local_path(stated.url) is None
        return _origin("", file, now, placed, None) if published and served else None
    same = now.version in (origin.version, origin.seen)
    unchanged = same and addresses.sha256(placed) == origin.sha256
    return origin._replace(pattern=file.pattern) if unchanged else None


def _origin(
    path: str, file: UpstreamFile, now: remote.FileState, fetched: Path, before: FileOrigin | None
) -> FileOrigin:
    """Return where fetched bytes are from; the same bytes keep the version of their first fetch."""
    url, digest, size = file.stated.url, addresses.sha256(fetched), fetched.stat().st_size
    same = before is not None and (before.url, before.sha256) == (url, digest)
    first = before.version if same and before is not None else now.version
    return FileOrigin(path, file.pattern, url, first, now.version, size, digest)


def download(
    url: str,
    partial: Path,
    now: remote.FileState,
    endpoint: str | None = None,
    *,
    most: int | None = None,
) -> None:
    """Append to `partial` what it still lacks of `url` (any scheme of fsspec, or a local path).

    `now` is what is at the address: parts of another size or version are dropped. Where that does
    not say how large it is, no more than a block is read beyond `most` bytes.
    """
    start = resume_point(partial, {"url": url, **now._asdict()})
    with remote.opened(url, endpoint, ahead=8 * _BLOCK) as source:
        enough = now.size if now.size is not None else most
        copy(source, partial, start, Progress(f"bytes of {url}", now.size), enough)


@contextmanager
def _named_errors(url: str, partial: Path | None = None) -> Iterator[None]:
    """Turn whatever goes wrong with an address into an error that says what to do about it."""
    try:
        yield
    except IsotopeError:
        raise
    except Exception as error:
        raise _server_error(error, url) or _other_error(error, url, partial) from error


def _server_error(error: Exception, url: str) -> IsotopeError | None:
    """Return what a server that can't be reached, or refuses, means for the user."""
    cut, status = remote.connection_error(error), remote.http_status(error)
    if remote.is_refused(error):
        answer = f"{type(error).__name__}: {error}" if status is None else f"it answers {status}"
        way = "as boto3 reads them" if url.startswith("s3:") else "in ~/.netrc"
        return AccessDenied(url, answer, f"give credentials {way}, then run again")
    if cut is not None:
        remedy = "check the network and the proxy (HTTPS_PROXY), then run again to resume"
        return FetchFailed(url, f"cannot be reached: {cut}", remedy)
    if status is not None and status not in _GONE:
        return FetchFailed(url, f"its server answers {status}", "wait, then run again to resume")
    return None


def _other_error(error: Exception, url: str, partial: Path | None) -> IsotopeError:
    """Return what a missing file, a full disk or anything else means for the user."""
    if isinstance(error, FileNotFoundError):
        return MissingFile(url, "nothing is there", "check the address in params")
    if isinstance(error, IsADirectoryError):
        return MissingFile(url, "a folder, no file", f"name its files: {url.rstrip('/')}/*")
    if isinstance(error, ValueError) and patterns.is_pattern(url):
        return BadParams(url, str(error), "write `**` between two slashes only")
    if isinstance(error, OSError) and error.errno is not None and error.filename is None:
        return FetchFailed(
            str(partial or url), f"cannot write: {error}", "free space and run again"
        )
    return FetchFailed(url, f"{type(error).__name__}: {error}", "run again to resume")


def resume_point(partial: Path, request: Mapping[str, Any]) -> int:
    """Return how many bytes of `partial` are of this address, size and version; drop others."""
    note, now = _note(partial), json.dumps(request)
    if request["size"] is None or not note.exists() or note.read_text(encoding="utf-8") != now:
        partial.unlink(missing_ok=True)
        note.write_text(now, encoding="utf-8")
    return partial.stat().st_size if partial.exists() else 0


def _note(partial: Path) -> Path:
    """Return the file that says what a partial download is of; no upstream file is named so."""
    return partial.with_name(f".{partial.name}.of")


def copy(
    source: BinaryIO, partial: Path, start: int, progress: Progress, enough: int | None = None
) -> None:
    """Append the bytes from `start` on, in blocks, until there are more than `enough`."""
    if start:
        source.seek(start)
        progress.resume(start)
    with partial.open("ab") as out:
        while (enough is None or progress.done <= enough) and (block := source.read(_BLOCK)):
            out.write(block)
            progress.add(len(block))
    progress.finish()
    if progress.total is not None and progress.done != progress.total:
        raise EOFError(f"{progress.done} of {progress.total} bytes arrived")


def verify(path: Path, stated: Stated) -> None:
    """Compare with the published size and digests, where there are any.

    Raises:
        ChecksumMismatch: the file is removed, so that the next run fetches it again.
    """
    differing = _differing(path, stated)
    if differing is not None:
        name, value = differing
        path.unlink()
        published = f"published {name} is {getattr(stated, name)}"
        raise ChecksumMismatch(stated.url, f"{name} {value}", f"{published}; run again")


def _differing(path: Path, stated: Stated) -> tuple[str, Any] | None:
    """Return the first published figure that a file does not have, with the one that it has."""
    if stated.bytes is not None and (size := path.stat().st_size) != stated.bytes:
        return "bytes", size
    for name in (name for name in _DIGESTS if getattr(stated, name)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, name).hexdigest()
        if digest != getattr(stated, name):
            return name, digest
    return None
