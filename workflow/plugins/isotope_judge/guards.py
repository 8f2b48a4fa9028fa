"""What pages served on this machine share: guards, replies, what posts carry, the socket."""

import errno
import ipaddress
import socket
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from fnmatch import fnmatchcase
from typing import Any

import psutil
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from isotope.core import plugins
from isotope.core.errors import BadParams
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope_judge.ledger import Grade, Item, LineForm

LOOPBACK = "127.0.0.1"
_SHUT_S = 2
_TYPES = {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
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
    addresses |= {
        address.address
        for interface in interfaces
        for address in interface
        if address.family in internet
    }
    plain = {address.partition("%")[0].lower() for address in addresses}
    return sorted(names | {f"[{name}]" if ":" in name else name for name in plain})


class SameOrigin:
    """Answers 403 to posts that may come from another site: another Origin, or not JSON.

    A form or a plain request of another site can't send JSON without asking first, nor a type of
    `types`: the media types, `image/*` for all of a kind, of posts to paths that take others.
    """

    def __init__(self, app: ASGIApp, types: Mapping[str, Collection[str]] | None = None) -> None:
        """Stand before `app`."""
        self._app, self._types = app, types or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403."""
        if scope["type"] == "http" and (reason := self._refusal(Request(scope))):
            await PlainTextResponse(reason, 403, HEADERS)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, request: Request) -> str | None:
        if request.method in {"GET", "HEAD"}:
            return None
        host = request.headers.get("host", "")
        if request.headers.get("origin") != f"{request.url.scheme}://{host}":
            return "posts are taken from this page only"
        types = self._types.get(request.url.path, ("application/json",))
        sent = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not any(fnmatchcase(sent, pattern) for pattern in types):
            return f"posts to {request.url.path} are {' or '.join(types)}"
        return None


def guarded(host: str, types: Mapping[str, Collection[str]] | None = None) -> list[Middleware]:
    """Return the guards of a page served at `host`; `types` as in `SameOrigin`."""
    hosts = own_hosts(host)
    return [
        Middleware(TrustedHostMiddleware, allowed_hosts=hosts, www_redirect=False),
        Middleware(SameOrigin, types=types),
    ]


def reply(content: object, status: int = 200) -> JSONResponse:
    """Return `content` as JSON, with the page's headers."""
    return JSONResponse(content, status, HEADERS)


def asset(name: str) -> Callable[[Request], Response]:
    """Return the endpoint of a file of the templates: a script, a style sheet or an icon."""
    content = plugins.templates()[name].read_bytes()
    return lambda _: Response(content, 200, HEADERS, _TYPES[name.rpartition(".")[2]])


def parse_json(body: bytes) -> Any:  # noqa: ANN401 (whatever somebody sent)
    """Return what the body of a post says.

    Raises:
        HTTPException: 400 for what is no JSON, or is beyond the limits of depth and digits.
    """
    try:
        return json_value(body)
    except Refused as error:
        raise HTTPException(400, f"the body can't be read: {error}") from error


def refusal(_: Request, error: Exception) -> Response:
    """Answer an `HTTPException` as JSON."""
    assert isinstance(error, HTTPException)  # noqa: S101 (the key that this is registered under)
    return reply({"error": error.detail}, error.status_code)


def parse_post(body: bytes) -> dict[str, Any] | None:
    """Return the JSON object of a post, None if it is none with an assessor and a collection.

    Raises:
        As `parse_json`.
    """
    record = parse_json(body)
    try:
        names = [record[name] for name in ("assessor", "collection")]
    except (KeyError, TypeError):
        return None
    return record if all(isinstance(name, str) for name in names) else None


def parse_change(
    record: Mapping[str, Any], form: LineForm[Item, Grade]
) -> tuple[Item, Grade | None, Grade | None] | None:
    """Return an item, its grade and the one that the page showed before; None if it has none."""
    if not {"grade", "expected"} <= record.keys():
        return None
    after, before = form.read(record), form.read({**record, "grade": record["expected"]})
    return None if after is None or before is None else (*after, before[1])


def listen(host: str, port: int, *, remote: bool = False) -> socket.socket:
    """Return a listening socket; port 0 is any free one.

    Raises:
        BadParams: a host that others reach, without `remote`; one that is none; a port in use.
    """
    if not (remote or _is_loopback(host)):
        problem = f"{host} can be reached from elsewhere, and whoever reaches it can grade"
        raise BadParams("--host", problem, "leave it out, or add --remote")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()
    except (OSError, OverflowError) as error:
        listening.close()
        busy = getattr(error, "errno", None) == errno.EADDRINUSE
        problem = "another program listens there" if busy else str(error)
        remedy = "take another --port; 0 is any free one"
        raise BadParams(f"--host {host} --port {port}", problem, remedy) from error
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
