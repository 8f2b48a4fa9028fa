"""Header fields of a server as text that any table, database or later request can take.

A field's value is bytes. Libraries hand it over decoded, with lone surrogates for what is no UTF-8,
which neither Arrow nor a terminal can write; nor may a value end or command a terminal.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import quote

from isotope.core.terminal import escaped

# What a table keeps of a value; fields of servers that are in use are shorter.
LONGEST_VALUE = 1_000
# A pause beyond it is as good as for ever, and no clock or date overflows below it.
LONGEST_PAUSE_S = 1e10
_CUT = "…"
_SECONDS = re.compile(r"[0-9]+")
_PLAIN = re.compile(r"[\x20-\x7e]+")


def raw(value: str) -> bytes:
    """Return the bytes of a value that a library decoded as UTF-8 with surrogates in between."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "backslashreplace")


def clean(value: str | None) -> str | None:
    r"""Return a value as one line of text; None stays None.

    Bytes that are no UTF-8 are read as Latin-1 (RFC 9110, 5.5). What is not printable is
    written as `\x1b` or `\u202e`: control characters, and those that move or turn others. What is
    longer than LONGEST_VALUE characters ends with `…`.
    """
    if value is None:
        return None
    data = raw(value)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    if not text.isprintable():
        text = "".join(c if c.isprintable() else escaped(c) for c in text)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + _CUT


def returnable(value: str | None) -> str | None:
    """Return an ETag or a date that a request can send back as it came; None for any other value.

    A tag ought to be quoted (RFC 9110, 8.8.3); stores in use, such as OpenStack's, leave it out.
    """
    fits = value is not None and len(value) < LONGEST_VALUE and _PLAIN.fullmatch(value)
    return value if fits else None


def location(value: str) -> str:
    """Return an address of a redirect; bytes that are no UTF-8 are percent-encoded, as browsers do.

    Of any length: what a URL may be, whoever requests it checks.
    """
    data = raw(value)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 128 else quote(bytes([byte])) for byte in data)  # noqa: PLR2004 (ASCII)


def retry_after_s(
    value: str | None, sent: str | None = None, now: Callable[[], datetime] | None = None
) -> float | None:
    """Return the seconds that a Retry-After header asks for, in seconds or as an HTTP date.

    RFC 9110, 10.2.3. What is neither is None; a date that has passed is 0. At most LONGEST_PAUSE_S.
    A date is that of the server's clock, which its header Date tells (`sent`), whatever this
    machine's clock says; without it the time is `now`.
    """
    if value is None:
        return None
    text = value.strip()
    if _SECONDS.fullmatch(text):
        return min(float(text), LONGEST_PAUSE_S)
    until, since = _moment(text), _moment(sent or "") or (now() if now else datetime.now(UTC))
    if until is None:
        return None
    return min(max(0.0, (until - since).total_seconds()), LONGEST_PAUSE_S)


def _moment(text: str) -> datetime | None:
    """Return the moment of an HTTP date; None for anything else."""
    try:
        moment = parsedate_to_datetime(text)
        # Offsets may lead out of the years that there are.
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except Exception:
        return None
