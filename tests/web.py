"""A web server of a folder, on loopback, that cuts, stalls, or changes a byte where a test says."""

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

_STALL_S, _MOMENT_S = 2, 0.1


@dataclass
class Web:
    """Its address, and how often it has sent each byte range, by path and first byte.

    `cut` and `stall` are the bytes of a reply after which it ends or says nothing more, so many
    times in all; `changed` is how often the last byte of a reply is another one.
    """

    url: str = ""
    has_ranges: bool = True
    cut: tuple[int, int] = (0, 0)
    stall: tuple[int, int] = (0, 0)
    changed: int = 0
    asked: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    whole: Counter[str] = field(default_factory=Counter[str])
    sent: int = 0


def _handler(folder: Path, web: Web) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            del format, args

        def do_GET(self) -> None:
            path = folder / self.path.strip("/")
            if not path.is_file():
                self.send_error(404)
                return
            content = path.read_bytes()
            found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            first = int(found[1]) if found and web.has_ranges else 0
            web.asked.append((self.path, first))
            is_object = "/files/" in self.path
            body = content[first:]
            if is_object and web.changed and body:
                web.changed -= 1
                body = body[:-1] + bytes([body[-1] ^ 1])
            self.send_response(206 if first else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self._send(body, is_object=is_object)

        def _send(self, body: bytes, *, is_object: bool) -> None:
            for name in ("cut", "stall"):
                size, times = getattr(web, name)
                if is_object and times and len(body) > size:
                    setattr(web, name, (size, times - 1))
                    self.wfile.write(body[:size])
                    self.wfile.flush()
                    web.sent += size
                    time.sleep(_STALL_S if name == "stall" else _MOMENT_S)
                    self.close_connection = True
                    self.connection.close()
                    return
            self.wfile.write(body)
            web.sent += len(body)
            web.whole[self.path] += 1

    return Handler


@contextmanager
def serving(folder: Path) -> Iterator[Web]:
    """Run a server of a folder."""
    web = Web()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(folder, web))
    server.daemon_threads = True
    web.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield web
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
