"""How requests are signed: the contact that Wikimedia asks of everybody who takes its pictures."""

import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any

from isotope.core.errors import NoContact
from isotope.core.uploads import is_wikimedias

_CONTACT = re.compile(r"[^\s@(]+@[^\s@]+\.[^\s@)]+|https?://[^\s/]+\.[^\s]+")


def has_contact(spec: Mapping[str, Any]) -> bool:
    """Tell whether a crawl names its operator's contact: a mail address or a web page."""
    return _CONTACT.search(f"{spec['user_agent']} {spec.get('contact', '')}") is not None


def require_contact(hosts: Iterable[str | None], spec: Mapping[str, Any]) -> None:
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


def user_agent(spec: Mapping[str, Any]) -> str:
    """Return name, contact and library, as Wikimedia's policy has them."""
    contact = f" ({spec['contact']})" if spec.get("contact") else ""
    return f"{spec['user_agent']}{contact} aiohttp/{version('aiohttp')}"
