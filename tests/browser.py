"""A real headless Chromium, one process a session, and what goes wrong in its pages."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser as Process
from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, sync_playwright

# The first has no window to draw: it takes two thirds of the others' time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = 10_000
# What some versions of Chromium do (149 and 152, not 156): Tab goes on from what was scrolled to.
SCROLLING_MOVES_TAB = """
const scroll = Element.prototype.scrollIntoView;
Element.prototype.scrollIntoView = function (...options) {
  scroll.apply(this, options);
  if (document.activeElement !== document.body) return;
  const before = this.getAttribute("tabindex");
  this.tabIndex = -1;
  this.focus({ preventScroll: true });
  this.blur();
  if (before === null) this.removeAttribute("tabindex");
  else this.setAttribute("tabindex", before);
};
"""
_LOOK_EVERY_MS = 20


@dataclass
class Browser:
    """Pages of one profile; `faults` are console errors, exceptions and failed requests."""

    context: BrowserContext
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, url: str, *, width: int = 1280, height: int = 900) -> Page:
        """Open a new tab of `width` by `height` px on `url`, and listen to it."""
        page = self.context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.set_viewport_size({"width": width, "height": height})
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))
        page.on("requestfailed", self._failed)
        page.on("request", lambda r: self.requests.append(r.url))
        page.goto(url)
        return page

    def _failed(self, request: Request) -> None:
        # A page that is left breaks off what it still loads, its icon for one.
        if request.failure != "net::ERR_ABORTED":
            self.faults.append(f"failed: {request.url} {request.failure}")

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type}: {message.text}")


def until(page: Page, expression: str) -> None:
    """Wait until an expression is true in a page, whose policy may forbid that it evaluates text.

    Raises:
        TimeoutError: it was false for WAIT_MS.
    """
    for _ in range(WAIT_MS // _LOOK_EVERY_MS):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(_LOOK_EVERY_MS)
    raise TimeoutError(expression)


def found() -> str | None:
    """Return where this machine has Chromium, None if nowhere."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chromium:
    """A running program; each profile is empty, and nothing of it is left when its block ends.

    Playwright has a loop of asyncio that counts as running in this thread from its start on. It is
    hidden between profiles, so that other tests can run loops of their own.
    """

    def __init__(self, process: Process) -> None:
        """Keep the program and the loop by which it is driven."""
        self._process, self._loop = process, asyncio.get_running_loop()
        _set_running_loop(None)

    @contextmanager
    def profile(self) -> Iterator[Browser]:
        """Yield a browser without history, cookies or cache."""
        with self._driven():
            context = self._process.new_context()
            yield Browser(context)
            context.close()

    def close(self) -> None:
        """End the program."""
        with self._driven():
            self._process.close()
        _set_running_loop(self._loop)

    @contextmanager
    def _driven(self) -> Iterator[None]:
        _set_running_loop(self._loop)
        try:
            yield
        finally:
            _set_running_loop(None)


def _set_running_loop(loop: asyncio.AbstractEventLoop | None) -> None:
    asyncio.events._set_running_loop(loop)  # pyright: ignore[reportPrivateUsage]


@contextmanager
def started(program: str) -> Iterator[Chromium]:
    """Run `program` headless until the block ends."""
    with sync_playwright() as driver:
        process = driver.chromium.launch(
            executable_path=program, headless=True, chromium_sandbox=False, args=OPTIONS
        )
        chromium = Chromium(process)
        yield chromium
        chromium.close()
