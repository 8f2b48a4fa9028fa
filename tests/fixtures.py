"""Fixtures that several kinds of tests share."""

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests import browser, forkserver, java_archive
from tests.one_java import OneJava
from xdist.scheduler import LoadFileScheduling

from isotope.core import lucene

ROOT = Path(__file__).parents[1]


# Each process compiles ranx's dictionaries anew, for 8 s.
WITH_RANX = (
    *("core/test_measures.py", "search/test_fuse.py", "search/test_tune.py"),
    *("isotope_verify/tests/test_verify.py", "isotope_suggest/tests/test_evaluate.py"),
    "release/test_readers.py",
)


class FilesTogether(LoadFileScheduling):
    """Give a file to one worker, and to the same one all files that compare with ranx."""

    def _split_scope(self, nodeid: str) -> str:
        file = super()._split_scope(nodeid)
        return "ranx" if file.endswith(WITH_RANX) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Take the place of `--dist loadfile`."""
    return FilesTogether(config, log) if config.getoption("dist") == "loadfile" else None


def pytest_collection_finish() -> None:
    """From here on the collector of garbage leaves alone what the tests are made of."""
    gc.freeze()
    gc.enable()


def pytest_configure(config: pytest.Config) -> None:
    """Make the folder that all workers of a session share; no example of a test is timed."""
    gc.disable()  # it would look through all modules again and again while they are imported
    settings.register_profile("untimed", deadline=None)
    settings.load_profile("untimed")
    # Two workers have more threads than cores: one that waits for others must not spin meanwhile.
    # OpenMP reads this when torch or FAISS is imported, in programs that tests start too.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    if not hasattr(config, "workerinput"):
        forkserver.prepare(Path(tempfile.mkdtemp(prefix="isotope-tests-")))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a GPU where there is none."""
    if item.get_closest_marker("gpu"):
        import torch  # noqa: PLC0415 (slow to import)

        if not torch.cuda.is_available():
            pytest.skip("torch sees no GPU on this machine")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print what no worker's time shows, as the fork server's processes are not its own."""
    if spent := forkserver.spent():
        terminalreporter.write_line(f"{len(spent)} programs forked, {sum(spent):.0f} s of CPU")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove it; the fork server ends with this process."""
    gc.unfreeze()
    if not hasattr(config, "workerinput"):
        shutil.rmtree(forkserver.folder(), ignore_errors=True)


@pytest.fixture(scope="session", autouse=True)
def _java_that_lives_shortly(pytestconfig: pytest.Config) -> Iterator[None]:
    """A test's Java does without what pays in minutes, and finds its classes loaded."""
    with pytest.MonkeyPatch.context() as patch:
        cache = getattr(pytestconfig, "cache", None)  # None where its plugin is off
        folder = cache.mkdir("java") if cache else forkserver.folder() / "java"
        folder.mkdir(exist_ok=True)
        patch.setenv("JAVA_TOOL_OPTIONS", java_archive.options(folder))
        java = OneJava()
        patch.setattr(lucene, "_java_runs", java)
        yield
        java.end()


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's root."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the project; the test skips where it is absent."""
    path = ROOT.parent / "shared"
    if not path.is_dir():
        pytest.skip(f"real data is absent: no folder {path}")
    return path


@pytest.fixture(scope="session")
def _chromium_process() -> Iterator[browser.Chromium]:
    program = browser.found()
    if program is None:
        pytest.skip("no Chromium on this machine: `make system`, as root")
    with browser.started(program) as process:
        yield process


@pytest.fixture
def chromium(_chromium_process: browser.Chromium) -> Iterator[browser.Browser]:
    """A real headless Chromium with an empty profile; the test skips on a machine without."""
    with _chromium_process.profile() as opened:
        yield opened
