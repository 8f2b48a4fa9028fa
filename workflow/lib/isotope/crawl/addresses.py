"""Where a crawl may connect to: public addresses over http(s), and the mirror that params name."""

import re
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit, urlunsplit

from yarl import URL

_BASE_36 = re.compile(r"[0-9a-z]{1,31}")


def sha1_of_base36(text: str | None) -> str | None:
    """Return the SHA-1 that Wikimedia's file store gives in base 36, in 40 hexadecimal digits."""
    return f"{int(text, 36):040x}" if text and _BASE_36.fullmatch(text) else None


_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Azure answers questions about a machine at a public address (its documentation, "168.63.129.16").
_METADATA = frozenset({ip_address("168.63.129.16")})
_NAT64 = ip_network("64:ff9b::/96")
# Where an address of `crawl.<source>.alternates` has that of the picture.
PLACE = "{url}"
PORTS = {"http": 80, "https": 443}
_LONGEST_HOST, _LONGEST_LABEL = 253, 63


class ForbiddenAddress(OSError):
    """An address that a crawl may not connect to."""


class BadUrl(ValueError):
    """A URL without a host to request over http or https."""


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


def hosts(alternates: Sequence[str]) -> list[str]:
    """Return scheme and host of the mirrors among them."""
    return [a.rstrip("/") for a in alternates if a.startswith("http") and PLACE not in a]
