"""Files by address: any scheme of fsspec, object storage that speaks S3 included."""

from collections.abc import Mapping
from typing import Any, BinaryIO, cast

import fsspec
from botocore.exceptions import (
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)

_NO_KEY = (
    CredentialRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    PartialCredentialsError,
    TokenRetrievalError,
)


def opened(url: str, endpoint: str | None, *, ahead: int) -> BinaryIO:
    """Open an address or a local path for reading, `ahead` bytes at a time.

    `endpoint` is where the server of `s3:` addresses answers. Without it the server, and always
    the credentials and the region, come from where boto3 looks for them:
    https://boto3.amazonaws.com/v1/documentation/api/latest/guide/configuration.html
    """
    own = {"endpoint_url": endpoint} if endpoint and url.startswith("s3:") else {}
    fs, path = cast(Any, fsspec.url_to_fs(url, **own))
    return fs.open(path, "rb", block_size=ahead)


def version(source: BinaryIO) -> str | None:
    """Return the ETag of an opened file, where its server gives one."""
    details = getattr(source, "details", None)
    return details.get("ETag") if isinstance(details, Mapping) else None


def refused(error: BaseException) -> bool:
    """Tell whether a server, and not this machine's disk, denied what was asked."""
    if isinstance(error, PermissionError):
        return error.filename is None
    return isinstance(error, _NO_KEY)
