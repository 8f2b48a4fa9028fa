"""Where a crawl may connect to: public addresses over http(s), and the mirror that params name."""

import re
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import AddrInfoType
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Azure answers questions about a machine at a public address (its documentation, "168.63.129.16").
_METADATA = frozenset({ip_address("168.63.129.16")})
_NAT64 = ip_network("64:ff9b::/96")
_PORTS = {"http": 80, "https": 443}


class ForbiddenAddress(OSError):
    """An address that is no business of a crawl."""


class BadUrl(ValueError):
    """A URL that names no host to be asked over http or https."""


def is_public(address: str) -> bool:
    """Tell whether a numeric address belongs to the public internet.

    An IPv6 address that carries an IPv4 address (mapped, 6to4, Teredo, NAT64) is judged by both;
    anything but a numeric address is none.
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, IPv6Address):
        inner = _carried(ip)
        if inner is not None:
            return is_public(str(inner))
        if ip.is_site_local:
            return False
    special = ip.is_multicast or ip.is_reserved or ip.is_unspecified or ip in _METADATA
    return ip.is_global and not special


def _carried(ip: IPv6Address) -> IPv4Address | None:
    if ip in _NAT64:
        return IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)


def target(url: str, base: URL | None = None) -> URL:
    """Return `url`, or where it leads from `base`, as something to ask for.

    Raises:
        BadUrl: another scheme than http(s), no host, a user name, control characters, or the step
            from https to http.
    """
    if _CONTROL.search(url):
        raise BadUrl("control characters")
    try:
        found = URL(url, encoded=url.isascii() and " " not in url)
        found = found if base is None else base.join(found)
        port = found.port
    except ValueError as error:
        raise BadUrl("not a URL") from error
    if found.scheme not in _PORTS or not found.host or port is None or found.user is not None:
        raise BadUrl("not an http(s) URL with a host")
    if base is not None and (base.scheme, found.scheme) == ("https", "http"):
        raise BadUrl("from https to http")
    return found


class Guard(ThreadedResolver):
    """Resolves names, and opens sockets to nothing but what it judges to be public.

    The judgement falls on the very address that the socket then connects to, so a name that
    resolves differently the second time gains nothing. `mirror` (scheme and host) is exempt.
    """

    def __init__(self, mirror: str | None) -> None:
        """Take the mirror's host and port as allowed; start within a running event loop."""
        super().__init__()
        self._mirror = _place(mirror) if mirror else None
        self._allowed = {self._mirror}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the public addresses of a name.

        Raises:
            ForbiddenAddress: the name has no public address.
        """
        found = await super().resolve(host, port, family)
        if (host, port) == self._mirror:
            self._allowed |= {(one["host"], port) for one in found}
            return found
        public = [one for one in found if is_public(one["host"])]
        if not public:
            raise ForbiddenAddress(f"{host} is not on the public internet")
        return public

    def open(self, info: AddrInfoType) -> socket.socket:
        """Return a socket for an address, names having been resolved.

        Raises:
            ForbiddenAddress: an address that is neither public nor the mirror's.
        """
        family, kind, protocol, _, where = info
        if not is_public(str(where[0])) and (where[0], where[1]) not in self._allowed:
            raise ForbiddenAddress(f"{where[0]} is not on the public internet")
        return socket.socket(family, kind, protocol)


def _place(mirror: str) -> tuple[str, int]:
    url = URL(mirror)
    return url.host or "", url.port or _PORTS[url.scheme]
