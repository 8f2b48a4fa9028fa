"""What Wikimedia asks of a crawl: a contact, originals or permitted widths, and its own digests."""

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any
from urllib.parse import urlsplit

from isotope.core.errors import NoContact

# https://www.mediawiki.org/wiki/Common_thumbnail_sizes: other widths are not made on request.
WIDTHS = (20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840)
_OWN = ("wikimedia.org", "wikipedia.org")
_CONTACT = re.compile(r"[^\s@(]+@[^\s@]+\.[^\s@)]+|https?://[^\s/]+\.[^\s]+")
_UPLOAD = re.compile(
    r"(?P<wiki>https?://upload\.wikimedia\.org/wikipedia/[^/]+)/(?P<thumb>thumb/)?"
    r"(?P<place>[0-9a-f]/[0-9a-f]{2}/(?P<name>[^/?]+))(?:/(?P<made>[^/?]+))?"
)
_WIDTH = re.compile(r"(?:^|-)(\d+)px-")
# MediaWiki's handlers: what a thumbnail of the type is called and made of.
_PAGED = {"pdf": "jpg", "djvu": "jpg"}
_MADE = {"svg": "png", "webp": "png", "xcf": "png"}
# $wgMaxThumbNameLength of Wikimedia's wikis: longer names are cut to "thumbnail".
_LONGEST_NAME_BYTES = 160


def is_wikimedias(host: str | None) -> bool:
    """Tell whether a host is one of Wikimedia's."""
    name = (host or "").lower().rstrip(".")
    return any(name == own or name.endswith(f".{own}") for own in _OWN)


def has_contact(spec: Mapping[str, Any]) -> bool:
    """Tell whether a crawl says where its operator is reached: a mail address or a web page."""
    return _CONTACT.search(f"{spec['user_agent']} {spec.get('contact', '')}") is not None


def require_contact(hosts: Iterable[str | None], spec: Mapping[str, Any]) -> None:
    """Refuse to ask Wikimedia without saying who asks.

    Raises:
        NoContact: https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy wants one.
    """
    if has_contact(spec):
        return
    for host in hosts:
        if is_wikimedias(host):
            remedy = "set crawl.<source>.contact to a mail address or a web page of yours"
            raise NoContact(str(host), "no contact in the User-Agent", remedy)


def user_agent(spec: Mapping[str, Any]) -> str:
    """Return name, contact and library, as Wikimedia's policy has them."""
    contact = f" ({spec['contact']})" if spec.get("contact") else ""
    return f"{spec['user_agent']}{contact} aiohttp/{version('aiohttp')}"


def asked(url: str, width: int | None) -> str:
    """Return what to ask for in place of an upload of Wikimedia's: it at `width`, or the original.

    A thumbnail of a permitted width is asked for as it is where no `width` is wanted; other URLs
    are returned unchanged.
    """
    found = _UPLOAD.fullmatch(url)
    if found is None:
        return url
    made = _WIDTH.search(found["made"] or "")
    if width is None and (found["thumb"] is None or (made and int(made[1]) in WIDTHS)):
        return url
    if width is None:
        return f"{found['wiki']}/{found['place']}"
    return f"{found['wiki']}/thumb/{found['place']}/{_thumbnail(found['name'], width)}"


def _thumbnail(name: str, width: int) -> str:
    ending = urlsplit(name).path.rpartition(".")[2].lower()
    shown = name if len(name.encode()) <= _LONGEST_NAME_BYTES else f"thumbnail.{ending}"
    if ending in _PAGED:
        return f"page1-{width}px-{shown}.{_PAGED[ending]}"
    if ending in ("tif", "tiff"):
        return f"lossy-page1-{width}px-{shown}.jpg"
    made = f".{_MADE[ending]}" if ending in _MADE else ""
    return f"{width}px-{shown}{made}"


def sha1_of_base36(text: str | None) -> str | None:
    """Return the SHA-1 that Wikimedia's file store tells in base 36, in 40 hexadecimal digits."""
    try:
        return None if not text else f"{int(text, 36):040x}"
    except ValueError:
        return None
