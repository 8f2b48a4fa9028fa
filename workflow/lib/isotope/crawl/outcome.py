"""What may become of a URL: the statuses of the ledger, and which of them may pass."""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

OWN_HOST = "own host"


def origin(spec: Mapping[str, Any]) -> str:
    """Return what answers for the URLs of crawl.<source>: a folder, a mirror, or their own host."""
    if spec.get("serve"):
        return str(PurePath(spec["serve"]))
    return spec.get("mirror") or OWN_HOST


def share_tags(one: str | None, other: str) -> bool:
    """Tell whether an ETag or date of one origin means the same bytes at another.

    It does at the same one. Folders that are served on loopback share their tags, which are digests
    of the content. A row of a ledger that tells no origin (None) is taken as of the own host.
    """
    one = one or OWN_HOST
    return one == other or (_is_folder(one) and _is_folder(other))


def _is_folder(place: str) -> bool:
    return place != OWN_HOST and "://" not in place


STATUSES = (
    "success",
    "not_found",
    "gone",
    "forbidden",
    "rate_limited",
    "server_error",
    "http_error",
    "truncated",
    "timeout",
    "connection",
    "tls",
    "checksum",
    "host_down",
    "refused",
    "bad_url",
    "bad_redirect",
    "forbidden_address",
    "too_large",
    "too_many_pixels",
    "wrong_type",
    "polyglot",
    "svg",
    "pdf",
    "not_an_image",
    "decode_timeout",
    "decoder_died",
)
MAY_PASS = frozenset(
    {"rate_limited", "server_error", "truncated", "timeout", "connection", "checksum"}
)
# Asked again by another run only.
HOST_DOWN = "host_down"
LATER = MAY_PASS | {HOST_DOWN}
# What the same bytes will be the next time.
OF_THE_BYTES = frozenset({"wrong_type", "polyglot", "svg", "pdf", "not_an_image"})
FAILURES = frozenset(STATUSES) - {"success"}
# What a network that is down does to every URL.
UNREACHED = frozenset({"connection", "timeout", HOST_DOWN})
# Judged without a request.
UNASKED = frozenset({"bad_url", "forbidden_address"})
# The outcomes that another value of a setting may change.
DECIDED_BY: dict[str, frozenset[str]] = {
    "user_agent": FAILURES,
    "contact": FAILURES,
    "redirects": frozenset({"bad_redirect"}),
    "timeout_s": frozenset({"timeout", "truncated"}),
    "max_mib": frozenset({"too_large"}),
    "max_pixels": frozenset({"too_many_pixels"}),
    "decode_s": frozenset({"decode_timeout"}),
    "decode_mb": frozenset({"decoder_died"}),
    **dict.fromkeys(
        ("attempts", "wait_s", "connections", "rate_per_s", "megabits_per_s"), MAY_PASS
    ),
}
# What a host in trouble does, whatever it is asked.
OF_THE_HOST = frozenset({"rate_limited", "server_error", "timeout", "connection", "tls"})
_BY_CODE = {404: "not_found", 410: "gone", 401: "forbidden", 403: "forbidden", 429: "rate_limited"}
_FIRST_SERVER_ERROR = 500

Row = dict[str, Any]


def of_code(code: int) -> str:
    """Return the status of an HTTP answer that brings no picture."""
    return _BY_CODE.get(code, "server_error" if code >= _FIRST_SERVER_ERROR else "http_error")
