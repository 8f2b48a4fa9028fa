"""A remote: files by name below an address of fsspec, each written whole or not at all.

On a disk a file is written aside and renamed; object storage shows an object when all of it has
arrived; elsewhere fsspec sees to the same. HTTP is for reading.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import aiohttp
import xxhash
from fsspec.asyn import AsyncFileSystem

from isotope.acquire import remote as servers
from isotope.core.digests import TOPS
from isotope.core.errors import (
    AccessDenied,
    BadArgument,
    FetchFailed,
    IsotopeError,
    MissingFile,
    ToolFailed,
    TruncatedFile,
    as_disk_full,
    as_unwritable,
)
from isotope.core.patterns import local_path

_HTTP = ("http://", "https://")
_BLOCK = 1 << 20
# A request of this many bytes, or a block of a longer file, whose number S3 limits to 10,000.
_REQUEST_BYTES, _MOST_BLOCKS = 32 << 20, 9_000
_INCOMING = "incoming"
_DAY_S = 86_400
# A server that sends nothing for so long has stalled; after a cut it is asked again, at most
# TRIES times in a row without a byte.
STALL_S, CONNECT_S, TRIES, PAUSE_S = 60.0, 30.0, 4, 1.0
_GONE = (404, 410)
# What a digest is computed by.
HASHES: dict[str, Callable[[], Any]] = {"xxh128": xxhash.xxh3_128, "sha256": hashlib.sha256}


class Stopped(Exception):
    """Raised in threads whose work is not wanted any more."""


class Remote:
    """Files below an address: a folder, `s3://bucket/folder`, `https://…`, or any of fsspec's."""

    def __init__(self, address: str) -> None:
        """Take an address; nothing is asked yet.

        Raises:
            BadArgument: no address, or a scheme that nobody knows.
            ToolFailed: a scheme whose package is not installed.
        """
        self.address = address.rstrip("/") or address
        self.folder = local_path(self.address)
        self._files, self._root = _file_system(self.address)

    def __str__(self) -> str:
        """Return the address."""
        return self.address

    @property
    def is_web(self) -> bool:
        """Whether it can be read only, and its files not listed."""
        return self.address.startswith(_HTTP)

    def address_of(self, name: str) -> str:
        """Return the address of a file."""
        return f"{self.address}/{name}"

    def demand_writable(self) -> None:
        """Check that files can be sent there.

        Raises:
            BadArgument: an address of HTTP, or a folder of results, named in place of a remote.
            MissingFile: a folder below one that is not there, as of a disk that is not mounted.
        """
        if self.is_web:
            raise BadArgument("REMOTE", f"{self.address} can be read only", "push to where it is")
        tops = [Path(top).resolve() for top in TOPS]
        if self.folder and {*tops} & {self.folder.resolve(), *self.folder.resolve().parents}:
            problem = f"{self.folder} is of the results that are sent"
            raise BadArgument("REMOTE", problem, "name the remote first, then the results")
        if self.folder and not self.folder.absolute().parent.is_dir():
            remedy = "make it, mount its disk, or check the address"
            raise MissingFile(self.folder.absolute().parent, "no such folder", remedy)

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the files of a folder of the remote with their sizes, by name; none if it is not.

        Raises:
            AccessDenied, FetchFailed: as `named`.
        """
        with named(self.address_of(folder)):
            listed = self._listed(folder)
        return {f"{folder}/{name}": info["size"] for name, info in listed if _is_file(info)}

    def folders(self, folder: str) -> list[str]:
        """Return the names of the folders in a folder of the remote, sorted.

        Raises:
            AccessDenied, FetchFailed: as `named`.
        """
        with named(self.address_of(folder)):
            listed = self._listed(folder)
        return sorted(name for name, info in listed if not _is_file(info))

    def read(self, name: str) -> bytes | None:
        """Return a small file; None if there is none.

        Raises:
            AccessDenied, FetchFailed: as `named`.
        """
        with named(self.address_of(name)):
            files, root = self._files, self._root
            try:
                return bytes(files.cat_file(f"{root}/{name}"))
            except FileNotFoundError:
                return None

    def write(self, name: str, size: int, blocks: Iterator[bytes]) -> None:
        """Write a file of so many bytes; it has its name when the blocks have ended, not before.

        Raises:
            IsotopeError: what `blocks` raises; the file has then not been written.
            AccessDenied, FetchFailed, MissingFile, DiskFull, Unwritable: as `named`.
        """
        with named(self.address_of(name)):
            if self.folder:
                _write_aside(self.folder, name, blocks)
                return
            files, root = self._files, self._root
            path = f"{root}/{name}"
            if size <= _REQUEST_BYTES and isinstance(files, AsyncFileSystem):
                files.pipe_file(path, b"".join(blocks))
                return
            files.makedirs(path.rpartition("/")[0], exist_ok=True)
            block_size = max(_REQUEST_BYTES, size // _MOST_BLOCKS)
            out = files.open(path, "wb", block_size=block_size, autocommit=False)
            try:
                for block in blocks:
                    out.write(block)
                out.close()
                out.commit()
            except BaseException:
                out.close()
                out.discard()
                raise
            finally:
                files.transaction.files.remove(out)

    def fetch(self, name: str, into: Path, size: int, count: Callable[[int], None]) -> None:
        """Append to `into` what it lacks of a file of so many bytes; `count` is told of each block.

        A connection that is cut, or stalls, is made again, and goes on where it was.

        Raises:
            MissingFile: the remote has no such file.
            TruncatedFile: it ends before.
            AccessDenied, FetchFailed, DiskFull, Unwritable: as `named`; what has arrived stays.
        """
        into.parent.mkdir(parents=True, exist_ok=True)
        tries = 0
        while True:
            start = into.stat().st_size if into.exists() else 0
            try:
                with named(self.address_of(name), into):
                    self._append(name, into, (start, size), count)
                return
            except FetchFailed:
                arrived = into.stat().st_size if into.exists() else 0
                tries = 1 if arrived > start else tries + 1
                if tries >= TRIES:
                    raise
                time.sleep(PAUSE_S * 2**tries)

    def clean(self) -> None:
        """Remove what pushes have left that were killed more than a day ago."""
        for path in (self.folder / _INCOMING).glob("*.part") if self.folder else ():
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > _DAY_S:
                    path.unlink()
        with suppress(OSError):
            if self.folder:
                (self.folder / _INCOMING).rmdir()

    def _listed(self, folder: str) -> list[tuple[str, Any]]:
        files, root = self._files, self._root
        files.invalidate_cache()
        try:
            listed = files.ls(f"{root}/{folder}", detail=True)
        except FileNotFoundError:
            return []
        return [(info["name"].rstrip("/").rpartition("/")[2], info) for info in listed]

    def _append(
        self, name: str, into: Path, part: tuple[int, int], count: Callable[[int], None]
    ) -> None:
        start, size = part
        if start > size:
            into.unlink()
            count(-start)
            start = 0
        with self._opened(name, start, size) as (source, begins), into.open("ab") as out:
            if begins != start:
                out.truncate(begins)
                count(begins - start)
            at = begins
            while at < size and (block := source.read(min(_BLOCK, size - at))):
                out.write(block)
                count(len(block))
                at += len(block)
        if at < size:
            remedy = "remove it from the remote, and push it again"
            raise TruncatedFile(self.address_of(name), f"{at:,} bytes of {size:,}", remedy)

    @contextmanager
    def _opened(self, name: str, start: int, size: int) -> Iterator[tuple[BinaryIO, int]]:
        """Open a file at a byte; yield it, and the byte at which it is: 0 without ranges."""
        files, root = self._files, self._root
        path = f"{root}/{name}"
        if not self.is_web:
            with files.open(path, "rb", block_size=8 * _BLOCK) as source:
                source.seek(start)
                yield source, start
            return
        asked = {"headers": {"Range": f"bytes={start}-"}} if start else {}
        # With a size fsspec does not ask for it first; none of 0 is taken for one.
        with files.open(path, "rb", block_size=0, size=size or 1, **asked) as source:
            status = source.r.status
            yield source, start if status == 206 else 0  # noqa: PLR2004 (partial content)


def _file_system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, which threads may share, and the path there.

    Raises:
        BadArgument, ToolFailed: as `Remote`.
    """
    stalls = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=STALL_S)
    try:
        return servers.file_system(address, None, http={"timeout": stalls}, is_own=True)
    except ImportError as error:
        problem = f"no way to {address.partition(':')[0]}: {error}"
        raise ToolFailed(address, problem, "install what it names") from error
    except ValueError as error:
        remedy = "give a folder, or an address such as s3://bucket/folder"
        raise BadArgument("REMOTE", f"{address}: {error}", remedy) from error


def _is_file(listed: Any) -> bool:  # noqa: ANN401 (what fsspec says of a file)
    return listed["type"] == "file"


def _write_aside(folder: Path, name: str, blocks: Iterator[bytes]) -> None:
    part = folder / _INCOMING / f"{os.getpid()}-{secrets.token_hex(6)}.part"
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        with part.open("wb") as out:
            for block in blocks:
                out.write(block)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        part.replace(folder / name)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def named(where: str, into: Path | None = None) -> Iterator[None]:
    """Turn whatever goes wrong at a place of a remote into an error that says what to do about it.

    Raises:
        AccessDenied: the server, or the disk, refuses.
        FetchFailed: it can't be reached, or the connection was cut.
        MissingFile: nothing is there.
        DiskFull, Unwritable: the disk of the remote, or of `into`, takes no more.
    """
    try:
        yield
    except (IsotopeError, MemoryError, Stopped):
        raise
    except Exception as error:
        local = into or local_path(where)
        mine = as_disk_full(error, local) if local else error
        mine = as_unwritable(mine, local) if local else mine
        if isinstance(mine, IsotopeError):
            raise mine from error
        raise _server_error(error, where) from error


def _server_error(error: Exception, where: str) -> IsotopeError:
    cut, status = servers.connection_error(error), servers.http_status(error)
    answer = f"its server answers {status}" if status else f"{type(error).__name__}: {error}"
    if servers.is_refused(error) or isinstance(error, PermissionError):
        way = "as boto3 reads them" if where.startswith("s3:") else "in ~/.netrc"
        return AccessDenied(where, answer, f"give credentials that may do this, {way}")
    if isinstance(error, FileNotFoundError) or status in _GONE:
        return MissingFile(where, "nothing is there", "check the address of the remote")
    if cut is not None:
        remedy = "check the address, the network and the proxy, then run again to go on"
        return FetchFailed(where, f"cannot be reached: {cut}", remedy)
    return FetchFailed(where, answer, "run again to go on")
