"""Where a picture may be that its own address does not bring: renamed, on a mirror, in an archive.

MediaWiki's page Special:Redirect/file leads to a file by its name and follows the redirect that a
rename leaves (https://www.mediawiki.org/wiki/Help:Redirects, .../Manual:Special:Redirect). The
Internet Archive answers `/web/<date>id_/<url>` with the bytes of the capture nearest to the date.
"""

import re
from typing import Any
from urllib.parse import urlsplit

from isotope.core.uploads import redirect_url, request_url, upload_of
from isotope.crawl.addresses import URL_FIELD
from isotope.crawl.fetch import mirrored
from isotope.crawl.ledger import NEXT_RUN, Row

RENAMED = "renamed"
_ARCHIVE = re.compile(r"archive@(?P<date>\d+)")
_WAYBACK = "https://web.archive.org/web/{date}id_/{url}"
# Outcomes after which the picture may be elsewhere. What an owner refuses, what is no public
# address and what is too large stay as they are.
LOST = frozenset(
    {
        *("not_found", "gone", "forbidden", "http_error", "server_error", "truncated", "checksum"),
        *("timeout", "connection", "tls", "host_down", "host_gone", "bad_redirect"),
        *("wrong_type", "not_an_image"),
    }
)


def alternate_url(alternate: str, image_url: str, width: int | None = None) -> str | None:
    """Return the address of a picture by one of `crawl.<source>.alternates`; None if it has none.

    `renamed` is for uploads of Wikimedia's only. `width` is that of the crawl's thumbnails; an
    archive has originals.
    """
    if alternate == RENAMED:
        upload = upload_of(image_url)
        return upload and redirect_url(upload, width)
    if archive := _ARCHIVE.fullmatch(alternate):
        return _WAYBACK.format(date=archive["date"], url=image_url)
    if URL_FIELD in alternate:
        return alternate.replace(URL_FIELD, image_url)
    return mirrored(request_url(image_url, width), alternate)


def found_elsewhere(direct: Row, row: Row) -> Row:
    """Return the row of a picture that another address brought, after its own row.

    Its tags are those of another server, which mean nothing at the picture's own.
    """
    attempts = direct["attempts"] + row["attempts"]
    error = f"its own address: {outcome(direct)}"
    return {**row, "attempts": attempts, "error": error, "etag": None, "last_modified": None}


def lost_elsewhere(direct: Row, address: str | None, row: Row | None, number: int) -> Row:
    """Return a picture's own row after alternate `number` has not brought it, or does not fit."""
    if row is None:
        return {**direct, "tried": number}
    words = f"{_site(address or '')}: {outcome(row)}"
    error = "; ".join(filter(None, [direct.get("error"), words]))
    again = bool(direct.get("again")) or row["status"] in NEXT_RUN
    attempts = direct["attempts"] + row["attempts"]
    return {**direct, "attempts": attempts, "error": error, "tried": number, "again": again}


def _site(address: str) -> str:
    try:
        return urlsplit(address).netloc
    except ValueError:
        return "another address"


def outcome(row: Row) -> str:
    """Return the status of a row, and the answer's code where there was one."""
    code: Any = row.get("http_status")
    return f"{row['status']}, HTTP {code}" if code else str(row["status"])
