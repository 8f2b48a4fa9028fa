"""What may become of a URL: the statuses of the ledger, and which of them may pass."""

from typing import Any

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
# What a host in trouble does, whatever it is asked.
OF_THE_HOST = frozenset({"rate_limited", "server_error", "timeout", "connection", "tls"})
_BY_CODE = {404: "not_found", 410: "gone", 401: "forbidden", 403: "forbidden", 429: "rate_limited"}
_FIRST_SERVER_ERROR = 500

Row = dict[str, Any]


def of_code(code: int) -> str:
    """Return the status of an HTTP answer that brings no picture."""
    return _BY_CODE.get(code, "server_error" if code >= _FIRST_SERVER_ERROR else "http_error")
