"""What the judging page does not answer: posts from other sites, and foreign names for itself."""

import ipaddress
import socket
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_OWN = {"localhost", socket.gethostname().lower()}


class Guard:
    """Refuses what another site could send: foreign Host headers, posts from elsewhere.

    A page elsewhere may point a name of its own at this machine (DNS rebinding), so only
    addresses, `localhost` and this machine's own name are answered.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http" and (found := refused(Request(scope))):
            await PlainTextResponse(found, 403, HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def refused(request: Request) -> str | None:
    """Return why a request is refused, None if it is not."""
    host = request.headers.get("host", "")
    if not _is_ours(host):
        return f"this page is not to be had under the name {host!r}"
    if request.method in {"GET", "HEAD"}:
        return None
    if request.headers.get("origin") != f"{request.url.scheme}://{host}":
        return "grades are taken from this page only"
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return "grades come as JSON"
    return None


def _is_ours(host: str) -> bool:
    try:
        name = urlsplit(f"//{host}").hostname or ""
        return name in _OWN or bool(ipaddress.ip_address(name))
    except ValueError:
        return False
