"""One URL over the network: every hop checked, paced, capped, and its outcome named."""

import asyncio
import errno
import os
import re
import ssl
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from yarl import URL

from isotope.core.contact import has_contact, user_agent
from isotope.core.errors import HostDown
from isotope.core.uploads import is_wikimedias
from isotope.crawl import robots
from isotope.crawl.addresses import (
    PORTS,
    ForbiddenAddress,
    PublicResolver,
    hosts,
    sha1_of_base36,
)
from isotope.crawl.hosts import Host, HostLimits, Owner
from isotope.crawl.ledger import HOST_DOWN, HOST_GONE, OF_THE_HOST, status_of_code
from isotope.crawl.outages import Outages
from isotope.intake import headers as fields
from isotope.intake import replies
from isotope.intake.limits import limits
from isotope.intake.replies import Reply, ReplyFailed
from isotope.params.crawl import Crawl

# Redirects followed from a URL: Wikimedia's own files need one, or two from a page of a wiki.
REDIRECTS = 5
ARRIVED, UNCHANGED = "arrived", "unchanged"
_OK, _NOT_MODIFIED = 200, 304
_MOVED = (301, 302, 303, 307, 308)
_WITH_RETRY_AFTER = (429, 503)
_MIB = 2**20
# The name of what Wikimedia's hosts share, among those of hosts.
_WIKIMEDIA = "wikimedia.org"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_LONGEST_HOST, _LONGEST_LABEL = 253, 63
NO_NETWORK = (
    "check the network, and run again later; nothing that was fetched is requested twice (for a "
    "host that is gone for good: `isotope recrawl SOURCE --gone HOST`)"
)


@dataclass(frozen=True)
class Response:
    """The answer to one request; `body` is there for the status ARRIVED only.

    `received` counts the bytes of a body that arrived, kept or not. `moved_to` is the address that
    answered, if redirects led to another one; `host` the one that was given up.
    """

    status: str
    http_status: int | None = None
    error: str | None = None
    body: bytes = b""
    content_type: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    commons_sha1: str | None = None
    retry_after_s: float | None = None
    location: str | None = None
    moved_to: str | None = None
    received: int = 0
    host: str | None = None


class Fetcher:
    """Requests URLs; at most `threads` answers are on their way or in memory at a time."""

    def __init__(
        self,
        spec: Crawl,
        mirror: str | None,
        shared: Path | None,
        outages: Outages | None = None,
        witnesses: Sequence[str] = (),
    ) -> None:
        """Start within a running event loop; `shared` is the folder where all jobs share limits.

        What `outages` call gone gets no request. `witnesses` are URLs of hosts that answered an
        earlier run; where no host answers now, they tell whether the network is there.
        """
        self.spec, self.mirror, self.shared = spec, mirror, shared
        self.received, self.answered = 0, False
        self._outages, self._witnesses = outages, witnesses
        self._hosts: dict[str, Host] = {}
        self._owners: dict[str, Owner] = {}
        self._gate = asyncio.Semaphore(spec.threads)
        self._guard = PublicResolver(*([mirror] if mirror else []), *hosts(spec.alternates or []))
        connector = aiohttp.TCPConnector(
            limit=0, resolver=self._guard, socket_factory=self._guard.open, ttl_dns_cache=300
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=aiohttp.ClientTimeout(total=spec.timeout_s),
            headers={"User-Agent": user_agent(spec), "Accept-Encoding": "identity"},
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def host(self, url: URL) -> Host:
        """Return the host of a URL, port included."""
        name = url.authority.lower()
        if name not in self._hosts:
            limits_of_host, owner = HostLimits.from_params(self.spec), self._owner(url)
            host = self._hosts[name] = Host(name, limits_of_host, self.shared, owner)
            if self._outages is not None and (why := self._outages.gone(name)):
                host.retire(why)
        return self._hosts[name]

    def _owner(self, url: URL) -> Owner:
        """Return whose limits hold for a host: Wikimedia's for all of its hosts, or its own."""
        name = _WIKIMEDIA if is_wikimedias(url.host) else url.authority.lower()
        if name not in self._owners:
            self._owners[name] = Owner(name, HostLimits.from_params(self.spec), self.shared)
        return self._owners[name]

    def recovered(self) -> set[str]:
        """Return the hosts that answered, and were not given up since."""
        return {name for name, host in self._hosts.items() if host.answered and not host.down}

    async def check_network(self) -> None:
        """Check that any host answers, or would: that a witness takes a connection.

        Raises:
            HostDown: no host has answered, all requests have failed, and the breaker of one
                has opened; pauses are for a host in trouble, not for a network that is not there.
        """
        hosts = [host for host in self._hosts.values() if not host.gone]
        if self.answered or not all(host.last_error for host in hosts):
            return
        paused = next((host for host in hosts if host.paused), None)
        if paused is not None and not await self.has_network():
            problem = (
                f"no answer, and none from any other host; the last error: {paused.last_error}"
            )
            raise HostDown(paused.name, problem, NO_NETWORK)

    async def has_network(self) -> bool:
        """Tell whether any host has answered, or a witness takes a connection."""
        for url in () if self.answered else self._witnesses:
            if await self._guard.connects(parse_url(url), self.spec.timeout_s):
                self.answered = True
                break
        return self.answered

    @asynccontextmanager
    async def fetched(
        self, url: str, headers: Mapping[str, str], *, fresh: bool
    ) -> AsyncGenerator[Response, None]:
        """Yield the last answer on the way from `url`; its body may stay in memory until then."""
        answer, where, hops = Response("bad_redirect", error="too many redirects"), None, 0
        while hops <= REDIRECTS:
            try:
                where = self._allowed(parse_url(url, where), where)
            except BadUrl as error:
                answer = Response("bad_redirect" if hops else "bad_url", error=str(error))
                break
            async with self._request(where, headers, fresh=fresh) as answer:
                if answer.location is None:
                    yield _moved(answer, where) if hops else answer
                    return
            url, hops = answer.location, hops + 1
            answer = Response("bad_redirect", answer.http_status, "too many redirects")
        yield answer

    def _allowed(self, where: URL, before: URL | None) -> URL:
        if before is not None and is_wikimedias(where.host) and not has_contact(self.spec):
            raise BadUrl("leads to Wikimedia, and no contact is given")
        return where

    @asynccontextmanager
    async def _request(
        self, where: URL, headers: Mapping[str, str], *, fresh: bool
    ) -> AsyncGenerator[Response, None]:
        host, has_place = self.host(where), False
        try:
            async with host.turn() as started:
                await self._gate.acquire()
                has_place = True
                status = HOST_GONE if host.gone else HOST_DOWN
                down = Response(status, error=host.why, host=host.name)
                answer = down if host.down else await self._request_once(where, headers)
                if answer.host is None:
                    failed = answer.status in OF_THE_HOST
                    host.report(failed, fresh=fresh, started=started, error=_cause(answer))
                    host.received(answer.received)
                    self.received += answer.received
                if answer.retry_after_s is not None:
                    host.pause(answer.retry_after_s)
            yield answer
        finally:
            if has_place:
                self._gate.release()

    async def _request_once(self, where: URL, headers: Mapping[str, str]) -> Response:
        try:
            async with replies.opened(self._session, where, headers) as reply:
                self.answered = True
                answer = self._judged(reply, conditional=bool(headers))
                return await self._read(reply, answer) if answer.status == ARRIVED else answer
        except ReplyFailed as failed:
            return replace(_failure(failed.cause), received=failed.received)

    def _judged(self, reply: Reply, *, conditional: bool) -> Response:
        """Return what the head of a reply says; ARRIVED where its body is wanted."""
        code = reply.code
        answer = Response(
            ARRIVED,
            code,
            content_type=reply.header("Content-Type"),
            etag=reply.header("ETag"),
            last_modified=reply.header("Last-Modified"),
            commons_sha1=sha1_of_base36(reply.header("X-Object-Meta-Sha1base36")),
        )
        is_unchanged = code == _NOT_MODIFIED and conditional
        if code in _MOVED and (to := reply.unclean("Location")) is not None:
            return replace(answer, status="bad_redirect", location=fields.location(to))
        if code != _OK and not is_unchanged:
            asked = reply.header("Retry-After") if code in _WITH_RETRY_AFTER else None
            wait = fields.retry_after_s(asked, reply.header("Date"))
            return replace(answer, status=status_of_code(code), retry_after_s=wait)
        rule = robots.forbids(reply.headers("X-Robots-Tag"), self.spec.user_agent)
        if rule is not None:
            return replace(answer, status="refused", error=f"X-Robots-Tag: {rule}")
        return replace(answer, status=UNCHANGED) if is_unchanged else answer

    async def _read(self, reply: Reply, answer: Response) -> Response:
        most = limits().member_bytes
        body = await reply.read(most)
        if body is None:
            error = f"more than {most / _MIB:g} MiB"
            return replace(answer, status="too_large", error=error, received=reply.received)
        return replace(answer, body=body, received=reply.received)


def _moved(answer: Response, where: URL) -> Response:
    """Return an answer to which redirects led."""
    status = "bad_redirect" if answer.status == "bad_url" else answer.status
    return replace(answer, status=status, moved_to=str(where))


def _cause(answer: Response) -> str:
    """Name in a few words what went wrong at a host."""
    code = f"HTTP {answer.http_status}" if answer.http_status else answer.status
    return ": ".join(filter(None, [code, answer.error]))


_CUT, _NO_ANSWER = "cut off", "no answer at this address"
# The system's words for these say whether it is the host or the way to it.
_TELLING_ERRORS = (errno.ECONNREFUSED, errno.ENETUNREACH, errno.EHOSTUNREACH)


def _failure(error: Exception) -> Response:
    """Name what went wrong, in words without addresses, ports or the order of events."""
    cause = getattr(error, "os_error", error)
    number = getattr(cause, "errno", None)
    no_answer = f"{_NO_ANSWER}: {os.strerror(number)}" if number in _TELLING_ERRORS else _NO_ANSWER
    statuses: list[
        tuple[type[BaseException] | tuple[type[BaseException], ...], str, str | None]
    ] = [
        (ForbiddenAddress, "forbidden_address", "not on the public internet"),
        (TimeoutError, "timeout", "slower than timeout_s"),
        (aiohttp.ClientConnectorDNSError, "connection", "the name does not resolve"),
        ((aiohttp.ClientSSLError, ssl.SSLError), "tls", "certificate or handshake refused"),
        (aiohttp.ClientPayloadError, "truncated", "fewer bytes than announced"),
        ((aiohttp.InvalidURL, UnicodeError), "bad_url", "not a URL"),
        (aiohttp.ClientConnectorError, "connection", no_answer),
        ((aiohttp.ClientConnectionError, OSError), "connection", _CUT),
    ]
    for kinds, status, words in statuses:
        if isinstance(cause, kinds) or isinstance(error, kinds):
            return Response(status, error=words)
    return Response("http_error", error="an answer that is not HTTP")


class BadUrl(ValueError):
    """A URL without a host to request over http or https."""


def parse_url(url: str, base: URL | None = None) -> URL:
    """Return `url`, or where it leads from `base`, checked.

    Raises:
        BadUrl: another scheme than http(s), no host or one that no name server can know, a user
            name, control characters, or the step from https to http.
    """
    if _CONTROL.search(url):
        raise BadUrl("control characters")
    try:
        parsed = URL(url, encoded=url.isascii() and " " not in url)
        parsed = parsed if base is None else base.join(parsed)
        # Names are decoded when they are first read (RFC 3492).
        port, host, _ = parsed.port, parsed.host, parsed.authority
    except Exception as error:
        raise BadUrl("not a URL") from error
    if parsed.scheme not in PORTS or not host or port is None or parsed.user is not None:
        raise BadUrl("not an http(s) URL with a host")
    _check_name(parsed.raw_host or "")
    if base is not None and (base.scheme, parsed.scheme) == ("https", "http"):
        raise BadUrl("from https to http")
    return parsed


def authority(url: str) -> str:
    """Return host and port of a URL, in small letters; nothing for what is no URL."""
    try:
        return parse_url(url).authority.lower()
    except BadUrl:
        return ""


def _check_name(name: str) -> None:
    """Check the lengths of a host's name (RFC 1035, 2.3.4), an address in brackets aside."""
    labels = name.removesuffix(".").split(".")
    if ":" in name:
        return
    if len(name) > _LONGEST_HOST or max(map(len, labels)) > _LONGEST_LABEL or "" in labels:
        raise BadUrl("no name of a host: empty or too long a part")


def mirrored(url: str, mirror: str | None) -> str:
    """Return an http(s) URL with scheme and host of `mirror`; ids stay those of the original."""
    if not mirror or not url.lower().startswith(("http://", "https://")):
        return url
    try:
        host = urlsplit(mirror)
        return urlunsplit(urlsplit(url)._replace(scheme=host.scheme, netloc=host.netloc))
    except ValueError:
        return url
