"""Files by address: any scheme of fsspec, object storage that speaks S3 included."""

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, BinaryIO, NamedTuple, cast

import aiohttp
import fsspec
from botocore.exceptions import (
    CredentialRetrievalError,
    HTTPClientError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)

from isotope.acquire.addresses import modified
from isotope.core.errors import MissingFile
from isotope.core.patterns import Stated, UpstreamFile, fixed_steps, local_path
from isotope.core.progress import log
from isotope.intake.headers import clean
from isotope.intake.replies import BoundedResponse

_CREDENTIAL_ERRORS = (
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)
_CONNECTION_ERRORS = (
    aiohttp.ClientConnectionError,
    ConnectionError,
    HTTPClientError,
    TimeoutError,
    socket.gaierror,
)
_HTTP = ("http://", "https://")
# Links of a page that lead out of its folder, or to a page.
_ELSEWHERE = re.compile(r"/.|[?#]|^\.\.?/?$")
# With what is put before and behind it, such a name is too long for a disk.
_LONGEST_NAME = 240
# What servers call the version of a file, in the order of what they promise.
_VERSIONS = (
    *("ETag", "etag", "blob_id", "Last-Modified", "LastModified", "updated", "mtime", "created"),
)


class FileState(NamedTuple):
    """Bytes and version of what is at an address now, as far as its server says."""

    size: int | None
    version: str | None


def opened(url: str, endpoint: str | None, *, ahead: int) -> BinaryIO:
    """Open an address or a local path for reading, `ahead` bytes at a time.

    `endpoint` is where the server of `s3:` addresses answers. Without it the server, and always
    the credentials and the region, come from where boto3 looks for them:
    https://boto3.amazonaws.com/v1/documentation/api/latest/guide/configuration.html
    Proxies of `http:` and `https:` are those of the environment.
    """
    fs, path = file_system(url, endpoint)
    return fs.open(path, "rb", block_size=ahead)


def state(url: str, endpoint: str | None) -> FileState:
    """Return the size and version of a file: an ETag, or when it was last modified."""
    local = local_path(url)
    if local is not None:
        stat = local.stat()
        if local.is_dir():
            raise IsADirectoryError(url)
        return FileState(stat.st_size, modified(stat))
    fs, path = file_system(url, endpoint)
    fs.invalidate_cache()
    info = fs.info(path)
    version = next((str(info[key]) for key in _VERSIONS if info.get(key)), None)
    return FileState(info.get("size"), clean(version))


def matching(stated: Stated, endpoint: str | None) -> list[UpstreamFile]:
    """Return the files of a server that a pattern names, sorted.

    Raises:
        MissingFile: none, or a server that does not list its files.
    """
    url = stated.url
    fs, pattern = file_system(url, endpoint)
    fs.invalidate_cache()
    steps = pattern.split("/")
    fixed = fixed_steps(steps)
    if url.startswith(_HTTP):
        files = sorted(set(_linked(fs, "/".join(steps[:fixed]) + "/", steps[fixed:])))
    else:
        listed = fs.glob(pattern, detail=True)
        files = sorted(path for path, info in listed.items() if info["type"] != "directory")
    if not files:
        problem = "the server lists no such file"
        raise MissingFile(url, problem, "check the address, or name each file")
    return [
        UpstreamFile(
            stated._replace(url=fs.unstrip_protocol(p)), "/".join(p.split("/")[fixed:]), url
        )
        for p in files
    ]


def _linked(fs: fsspec.AbstractFileSystem, folder: str, steps: Sequence[str]) -> Iterator[str]:
    """Yield the files that a server's pages of a folder link to; fsspec's own walk hides errors."""
    step, *below = steps
    if below and "*" not in step:
        yield from _linked(fs, f"{folder}{step}/", below)
        return
    if below and step == "**":
        yield from _linked(fs, folder, below)
    for path, name in _links(fs, folder):
        if step == "**" and name.endswith("/"):
            yield from _linked(fs, path, steps)
        elif not fnmatchcase(name.rstrip("/"), step):
            continue
        elif below and name.endswith("/") and step != "**":
            yield from _linked(fs, path, below)
        elif not below and not name.endswith("/"):
            yield path


def _links(fs: fsspec.AbstractFileSystem, folder: str) -> Iterator[tuple[str, str]]:
    try:
        paths = {str(info["name"]) for info in fs.ls(folder, detail=True)}
    except FileNotFoundError:
        return
    for path in sorted(paths):
        name = path.removeprefix(folder)
        if not path.startswith(folder) or not name or _ELSEWHERE.search(name):
            continue
        if not name.isprintable() or len(name.encode()) > _LONGEST_NAME:
            log.warning("%s links to what is no name of a file: %s", folder, clean(name[:80]))
            continue
        yield path, name


def file_system(
    url: str, endpoint: str | None, *, http: Mapping[str, Any] | None = None, is_own: bool = False
) -> tuple[Any, str]:
    """Return the file system of an address, and the path there.

    `http` is for the session of an HTTP client. One that `is_own` is nobody else's.

    Raises:
        ValueError: a scheme that fsspec does not know.
        ImportError: one whose package is not installed.
    """
    options: dict[str, Any] = {"skip_instance_cache": True} if is_own else {}
    if endpoint and url.startswith("s3:"):
        options["endpoint_url"] = endpoint
    if url.startswith(_HTTP):
        # Ranges of a compressed form are none of the file.
        plain = {"Accept-Encoding": "identity"}
        client = {"trust_env": True, "headers": plain, "response_class": BoundedResponse}
        options["client_kwargs"] = {**client, **(http or {})}
    return cast(tuple[Any, str], fsspec.url_to_fs(url, **options))


def is_refused(error: BaseException) -> bool:
    """Tell whether a server, and not this machine's disk, denied the request."""
    if isinstance(error, PermissionError):
        return error.filename is None
    return isinstance(error, _CREDENTIAL_ERRORS) or http_status(error) in (401, 403, 407)


def http_status(error: BaseException) -> int | None:
    """Return the status that an HTTP server answered with, where that is the cause."""
    answers = (e.status for e in _causes(error) if isinstance(e, aiohttp.ClientResponseError))
    return next(answers, None)


def connection_error(error: BaseException) -> str | None:
    """Return what kept a server from being reached, or cut the connection; else None."""
    causes = (e for e in _causes(error) if isinstance(e, _CONNECTION_ERRORS))
    return next((f"{type(e).__name__}: {e}".rstrip(": ") for e in causes), None)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and what it came from; libraries wrap the cause, some more than once."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
