"""Where a crawl may connect to: public addresses over http(s), and the mirror that params name."""

import asyncio
import re
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from aiohttp import AddrInfoType
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

_BASE_36 = re.compile(r"[0-9a-z]{1,31}")


def sha1_of_base36(text: str | None) -> str | None:
    """Return the SHA-1 that Wikimedia's file store gives in base 36, in 40 hexadecimal digits."""
    return f"{int(text, 36):040x}" if text and _BASE_36.fullmatch(text) else None


# Azure answers questions about a machine at a public address (its documentation, "168.63.129.16").
_METADATA = frozenset({ip_address("168.63.129.16")})
_NAT64 = ip_network("64:ff9b::/96")
# Where an address of `crawl.<source>.alternates` has that of the picture.
URL_FIELD = "{url}"
PORTS = {"http": 80, "https": 443}


class ForbiddenAddress(OSError):
    """An address that a crawl may not connect to."""


def is_public(address: str) -> bool:
    """Tell whether a numeric address belongs to the public internet.

    An IPv6 address that carries an IPv4 address (mapped, 6to4, Teredo, NAT64) has to be public in
    both; anything but a numeric address is none.
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


def hosts(alternates: Sequence[str]) -> list[str]:
    """Return scheme and host of the mirrors among them."""
    return [a.rstrip("/") for a in alternates if a.startswith("http") and URL_FIELD not in a]


class PublicResolver(ThreadedResolver):
    """Resolves names, and opens sockets to public addresses only.

    The check is of the very address that the socket then connects to, so a name that
    resolves differently the second time gains nothing. The `mirrors` (scheme and host) that params
    name are exempt.
    """

    def __init__(self, *mirrors: str) -> None:
        """Take hosts and ports of the mirrors as allowed; start within a running event loop."""
        super().__init__()
        self._mirrors = {_host_and_port(mirror) for mirror in mirrors}
        self._allowed = set(self._mirrors)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the public addresses of a name.

        Raises:
            ForbiddenAddress: the name has no public address.
        """
        addresses = await super().resolve(host, port, family)
        if (host, port) in self._mirrors:
            self._allowed |= {(address["host"], port) for address in addresses}
            return addresses
        public = [address for address in addresses if is_public(address["host"])]
        if not public:
            raise ForbiddenAddress(f"{host} is not on the public internet")
        return public

    async def connects(self, where: URL, seconds: float) -> bool:
        """Tell whether a host takes a connection, which is closed at once."""
        try:
            async with asyncio.timeout(seconds):
                [address, *_] = await self.resolve(where.host or "", where.port or 0)
                _, writer = await asyncio.open_connection(address["host"], address["port"])
                writer.close()
        except (OSError, ValueError):
            return False
        return True

    def open(self, info: AddrInfoType) -> socket.socket:
        """Return a socket for an address, names having been resolved.

        Raises:
            ForbiddenAddress: an address that is neither public nor the mirror's.
        """
        family, kind, protocol, _, where = info
        if not is_public(str(where[0])) and (where[0], where[1]) not in self._allowed:
            raise ForbiddenAddress(f"{where[0]} is not on the public internet")
        return socket.socket(family, kind, protocol)


def _host_and_port(mirror: str) -> tuple[str, int]:
    url = URL(mirror)
    return url.host or "", url.port or PORTS[url.scheme]
