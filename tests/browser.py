"""A real headless Chromium, and what goes wrong in its pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WAIT_MS = 10_000


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
        page.on("requestfailed", lambda r: self.faults.append(f"failed: {r.url} {r.failure}"))
        page.on("request", lambda r: self.requests.append(r.url))
        page.goto(url)
        return page

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self.faults.append(f"{message.type}: {message.text}")


def found() -> str | None:
    """Return where this machine has Chromium, None if nowhere."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


@contextmanager
def started(program: str, profile: Path) -> Iterator[Browser]:
    """Run `program` headless with an empty profile until the block ends."""
    with sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            profile, executable_path=program, headless=True, chromium_sandbox=False, args=OPTIONS
        )
        yield Browser(context)
        context.close()
