"""Pages that a test looks at in a browser, served from threads of this process."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Thread

import uvicorn
from starlette.applications import Starlette

from isotope_judge import guards


@contextmanager
def hosting() -> Iterator[Callable[[Starlette], str]]:
    """Yield what serves an application on loopback and returns its address."""
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
