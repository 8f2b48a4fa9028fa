"""A real server that speaks S3, on loopback, whose answers a test may refuse."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request, urlopen

import fsspec
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

KEYS = {
    "AWS_ACCESS_KEY_ID": "tests",
    "AWS_SECRET_ACCESS_KEY": "tests",
    "AWS_DEFAULT_REGION": "us-east-1",
}
# What boto3 would read of this machine's own, and the question to a cloud's metadata service.
NOTHING_ELSE = {
    "AWS_CONFIG_FILE": "/nonexistent",
    "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@dataclass
class Server:
    """Its address, the ranges that it was asked for, what it was sent, by path, and from which
    byte on, or for which requests, it answers 403."""

    url: str = ""
    ranges: list[int] = field(default_factory=list)
    puts: list[str] = field(default_factory=list)
    refuse_from: int | None = None
    refused: tuple[str, ...] = ()

    def files(self) -> Any:
        """Return the file system of the server, for one who has the keys."""
        key, secret = KEYS["AWS_ACCESS_KEY_ID"], KEYS["AWS_SECRET_ACCESS_KEY"]
        more = {
            "key": key,
            "secret": secret,
            "skip_instance_cache": True,
            "use_listings_cache": False,
        }
        return fsspec.filesystem("s3", endpoint_url=self.url, **more)

    def guard(self, app: Callable[..., Any]) -> Callable[..., Any]:
        """Note the ranges on their way to the application, and refuse some."""

        def guarded(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
            if environ["REQUEST_METHOD"] in self.refused:
                start_response("403 Forbidden", [("Content-Length", "0")])
                return [b""]
            if environ["REQUEST_METHOD"] == "PUT":
                self.puts.append(environ["PATH_INFO"])
            asked = environ.get("HTTP_RANGE")
            if environ["REQUEST_METHOD"] == "GET" and asked:
                first = int(asked.removeprefix("bytes=").partition("-")[0])
                if self.refuse_from is not None and first >= self.refuse_from:
                    start_response("403 Forbidden", [("Content-Length", "0")])
                    return [b""]
                self.ranges.append(first)
            return app(environ, start_response)

        return guarded


@contextmanager
def started() -> Iterator[Server]:
    """Run a server with an empty `bucket`."""
    server = Server()
    app = server.guard(DomainDispatcherApplication(create_backend_app))
    running = make_server("127.0.0.1", 0, app, threaded=True)
    server.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever)
    thread.start()
    try:
        # What the server holds belongs to the process, which may have had another one.
        urlopen(Request(f"{server.url}/moto-api/reset", method="POST"), timeout=10).close()
        server.files().mkdir("bucket")
        yield server
    finally:
        running.shutdown()
        running.server_close()
        thread.join()
