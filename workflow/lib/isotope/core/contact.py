"""How requests are signed: the contact that Wikimedia asks of everybody who takes its pictures."""

import re
from collections.abc import Iterable
from importlib.metadata import version
from typing import Protocol

from isotope.core.errors import NoContact
from isotope.core.uploads import is_wikimedias

_CONTACT = re.compile(r"[^\s@(]+@[^\s@]+\.[^\s@)]+|https?://[^\s/]+\.[^\s]+")


class Signed(Protocol):
    """Who is crawling: a crawl's entry of the params."""

    @property
    def user_agent(self) -> str:
        """Name of the crawler."""
        ...

    @property
    def contact(self) -> str | None:
        """A mail address or a web page."""
        ...


def is_contact(text: str) -> bool:
    """Tell whether a text has a mail address or the address of a web page."""
    return _CONTACT.search(text) is not None


def has_contact(spec: Signed) -> bool:
    """Tell whether a crawl names its operator's contact: a mail address or a web page."""
    return is_contact(f"{spec.user_agent} {spec.contact or ''}")


def require_contact(hosts: Iterable[str | None], spec: Signed) -> None:
    """Refuse requests to Wikimedia without a contact.

    Raises:
        NoContact: https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy wants one.
    """
    if has_contact(spec):
        return
    for host in hosts:
        if is_wikimedias(host):
            remedy = "set crawl.<source>.contact to a mail address or a web page of yours"
            raise NoContact(str(host), "no contact in the User-Agent", remedy)


def user_agent(spec: Signed) -> str:
    """Return name, contact and library, as Wikimedia's policy has them."""
    contact = f" ({spec.contact})" if spec.contact else ""
    return f"{spec.user_agent}{contact} aiohttp/{version('aiohttp')}"
