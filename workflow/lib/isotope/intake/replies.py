"""Replies of web servers: status, header fields as clean text, and the body up to a limit.

Everything that the HTTP library does with what a server sends happens here, and whatever it raises
is a `ReplyFailed`, which the caller turns into a reason. So any other error is the caller's own.
"""

import errno
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

import aiohttp
from yarl import URL

from isotope.core.errors import ToolFailed
from isotope.intake.headers import clean

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})")
# A reply that is read whole without a range is a page that lists files.
_LARGEST_PAGE = 64 * 2**20
# Faults of this machine that no server answers for.
_OF_THIS_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)


class ReplyFailed(Exception):
    """What the HTTP library raised on the way to a reply or within it, and the bytes until then."""

    def __init__(self, cause: Exception, received: int = 0) -> None:
        """Keep the library's error as `cause`."""
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.cause, self.received = cause, received


class Reply:
    """A reply whose head has arrived."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        """Read the head."""
        self._response = response
        self.code, self.received = response.status, 0

    def header(self, name: str) -> str | None:
        """Return the first field of a name as clean text (`headers.clean`); None without one."""
        return clean(self._response.headers.get(name))

    def headers(self, name: str) -> list[str]:
        """Return all fields of a name, likewise."""
        return [clean(value) or "" for value in self._response.headers.getall(name, [])]

    def unclean(self, name: str) -> str | None:
        """Return the first field of a name as the library decodes it, of any length."""
        return self._response.headers.get(name)

    async def read(self, most: int) -> bytes | None:
        """Return the body; None if it is announced, or turns out, to be more than `most` bytes.

        Raises:
            ReplyFailed: the connection was cut, took too long, or sent what is not HTTP.
        """
        parts: list[bytes] = []
        try:
            if (self._response.content_length or 0) > most:
                return None
            async for part in self._response.content.iter_any():
                self.received += len(part)
                if self.received > most:
                    return None
                parts.append(part)
        except MemoryError:
            raise
        except Exception as error:
            raise _failed(error, self.received) from error
        return b"".join(parts)


@asynccontextmanager
async def opened(
    session: aiohttp.ClientSession, url: URL, headers: Mapping[str, str]
) -> AsyncGenerator[Reply, None]:
    """Request a URL, without following redirects, and yield the reply.

    Raises:
        ReplyFailed: no connection, or no head that is HTTP.
        ToolFailed: this machine has no more files or memory for connections.
    """
    try:
        response = await session.get(url, headers=headers, allow_redirects=False)
    except MemoryError:
        raise
    except Exception as error:
        raise _failed(error) from error
    try:
        yield Reply(response)
    finally:
        # A connection whose reply was not read to its end is closed by this.
        response.release()


def _failed(error: Exception, received: int = 0) -> Exception:
    cause = getattr(error, "os_error", error)
    if getattr(cause, "errno", None) in _OF_THIS_MACHINE:
        problem = f"no connection can be opened here: {cause}"
        return ToolFailed("HTTP client", problem, "raise `ulimit -n`, or lower `threads`")
    return ReplyFailed(error, received)


class BoundedResponse(aiohttp.ClientResponse):
    """A response that is read whole (`response_class` of a session), and no further than asked.

    The end is that of the requested range, or 64 MiB; what is decompressed counts.
    """

    async def read(self) -> bytes:
        """Return the whole body.

        Raises:
            ClientPayloadError: it is longer than what was requested.
        """
        if self._body is None:
            asked = _RANGE.fullmatch(self.request_info.headers.get("Range", ""))
            most = int(asked[2]) - int(asked[1]) + 1 if asked else _LARGEST_PAGE
            parts: list[bytes] = []
            size = 0
            async for part in self.content.iter_any():
                size += len(part)
                if size > most:
                    self.close()
                    raise aiohttp.ClientPayloadError(f"more than the {most} bytes asked for")
                parts.append(part)
            # Where the base class keeps what `text` and `json` read.
            self._body = b"".join(parts)
        return self._body
