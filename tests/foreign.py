"""What other sites send to a page that is served on this machine."""

from typing import Any

ELSEWHERE = "http://elsewhere.example"
# Names that are not this machine's.
HOSTS = ["elsewhere.example", "", "[", "127.0.0.1.example", "127.0.0.1@x"]


def posts(own: dict[str, str]) -> list[dict[str, Any]]:
    """Headers of posts that must be refused; `own` are those of the page itself."""
    kinds = ["text/plain", "multipart/form-data; boundary=x", "application/x-www-form-urlencoded"]
    return [
        {},
        {"Origin": ELSEWHERE},
        {"Origin": "null"},
        {"Origin": "http://localhost:81"},
        *({**own, "Content-Type": kind} for kind in [*kinds, ""]),
        {"Host": "elsewhere.example", "Origin": ELSEWHERE},
    ]
