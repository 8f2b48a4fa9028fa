"""Judging pages for tests in a browser, served from threads of this process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import pytest
import uvicorn
from starlette.applications import Starlette

from isotope.judge import guards


@pytest.fixture
def hosted() -> Iterator[Callable[[Starlette], str]]:
    """Serve an application on loopback until the test ends; return its address."""
    with ExitStack() as servers:
        yield lambda page: servers.enter_context(_serving(page))


@contextmanager
def _serving(page: Starlette) -> Iterator[str]:
    with guards.listen("127.0.0.1", 0) as listening:
        config = uvicorn.Config(page, log_level="warning", lifespan="off", ws="none")
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        server.should_exit = server.force_exit = True
        thread.join()
