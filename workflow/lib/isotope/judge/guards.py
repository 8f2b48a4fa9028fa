"""What guards a page served on this machine: hosts, origins, headers, the socket it listens at."""

import errno
import ipaddress
import socket
from contextlib import closing, suppress

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from isotope.core.errors import BadParams

LOOPBACK = "127.0.0.1"
_SHUT_S = 2
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def own_hosts(host: str) -> list[str]:
    """Return the names and addresses of this machine, and `host`, as they stand in Host headers.

    A page elsewhere may point a name of its own at this machine (DNS rebinding), so no other name
    is answered.
    """
    names = {"localhost", socket.gethostname().lower()}
    interfaces = psutil.net_if_addrs().values()
    internet = (socket.AF_INET, socket.AF_INET6)
    addresses = {host, LOOPBACK, "::1"}
    addresses |= {own.address for each in interfaces for own in each if own.family in internet}
    plain = {address.partition("%")[0].lower() for address in addresses}
    return sorted(names | {f"[{each}]" if ":" in each else each for each in plain})


class SameOrigin:
    """Answers 403 to posts that may come from another site: another Origin, or not JSON."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http" and (reason := _refusal(Request(scope))):
            await PlainTextResponse(reason, 403, HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _refusal(request: Request) -> str | None:
    if request.method in {"GET", "HEAD"}:
        return None
    host = request.headers.get("host", "")
    if request.headers.get("origin") != f"{request.url.scheme}://{host}":
        return "grades are taken from this page only"
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        return "grades come as JSON"
    return None


def listen(host: str, port: int, *, remote: bool = False) -> socket.socket:
    """Return a listening socket; port 0 is any free one.

    Raises:
        BadParams: a host that others reach, without `remote`; one that is none; a port in use.
    """
    if not (remote or _is_loopback(host)):
        found = f"{host} can be reached from elsewhere, and whoever reaches it can grade"
        raise BadParams("--host", found, "leave it out, or add --remote")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        busy = getattr(error, "errno", None) == errno.EADDRINUSE
        found = "another program listens there" if busy else str(error)
        remedy = "take another --port; 0 is any free one"
        raise BadParams(f"--host {host} --port {port}", found, remedy) from error
    return listening


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def address(listening: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def serve(page: Starlette, listening: socket.socket) -> None:
    """Serve a page until the process is interrupted, then close the socket."""
    with suppress(KeyboardInterrupt), closing(listening):
        uvicorn.Server(_config(page)).run(sockets=[listening])


def _config(page: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        page,
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUT_S,
    )
