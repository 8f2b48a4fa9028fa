"""Make docs/images: small pictures of the demo's report, of served pages and of the site.

python docs/images.py [--project FOLDER] [--out FOLDER]

The project is one in which `make demo` has run. A page's picture is what a window shows of it, at
1280 and at 390 px, in Chromium; docs/images/README.md has all of them.
"""

import argparse
import io
import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import website
from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from isotope.core.errors import IsotopeError, MissingFile
from isotope_judge.pool import write_pool

ROOT = Path(__file__).parents[1]
OUT = Path(__file__).with_name("images")
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
Theme = Literal["light", "dark"]
# Widths and heights of windows, in px.
WINDOWS = {1280: 900, 390: 844}
# What the README shows, in the dark, too.
DARK = ("toy-index", "toy-cases-t2m-01", "suggest")
# Pages that start with many words, by a part of their address, and where their pictures start.
START = {"cases": "main > section:nth-of-type(2)", "failures.html": ".failure"}
# Bytes of a picture, and colours to try.
LARGEST = 40_000
COLOURS = (64, 32, 16, 8)
JUDGED = "toy"
SERVED = ("judge", "suggest")
# The site of the docs, by the name of its pictures, and the page that they show.
SITE, SHOWN = "site", "docs/rules.html"
# For the model to be loaded, before which BM25 answers alone.
WAIT_S = 120
DEPTH = 10
GALLERY = """# Pictures of the report

See the demo's pages as windows of 1280 and 390 px show them (by `python docs/images.py`).
"""


def pages(report: Path) -> dict[str, Path]:
    """Return the pages of a report, by the name of their pictures; of cases, one a task.

    Raises:
        MissingFile: no report.
    """
    found = sorted(report.rglob("*.html"), key=lambda path: (len(path.parts), path))
    if not found:
        raise MissingFile(report, "no report to take pictures of", "run `make demo` first")
    kinds: dict[Path, Path] = {}
    for path in found:
        listed = path.parent.with_suffix(".html").is_file()
        kinds.setdefault(path.with_stem(path.stem.partition("-")[0]) if listed else path, path)
    named = [path.relative_to(report).with_suffix("") for path in kinds.values()]
    return {"-".join(n.parts): report / f"{n}.html" for n in named}


def files(name: str) -> dict[str, tuple[int, Theme]]:
    """Return the pictures of a page by file name: the width in px and the theme of each."""
    found: dict[str, tuple[int, Theme]] = {f"{name}-{w}.webp": (w, "light") for w in WINDOWS}
    if name in DARK:
        found[f"{name}-dark.webp"] = (1280, "dark")
    return found


def small(picture: bytes) -> bytes:
    """Return a PNG as a WebP of at most `LARGEST` bytes, with as many colours as fit.

    Raises:
        IsotopeError: not even the fewest colours fit.
    """
    whole = Image.open(io.BytesIO(picture)).convert("RGB")
    for colours in COLOURS:
        few = whole.quantize(colours, dither=Image.Dither.NONE).convert("RGB")
        out = io.BytesIO()
        few.save(out, "WEBP", lossless=True, quality=100, method=6)
        if out.tell() <= LARGEST:
            return out.getvalue()
    raise IsotopeError("a picture", f"more than {LARGEST} bytes", "make its window smaller")


def take(browser: Browser, url: str, name: str, out: Path) -> None:
    """Write the pictures of a page to the folder `out`."""
    for file, (width, theme) in files(name).items():
        size = ViewportSize(width=width, height=WINDOWS[width])
        page = browser.new_page(viewport=size, color_scheme=theme, reduced_motion="reduce")
        page.goto(url, wait_until="networkidle")
        for part in START.keys() & set(Path(url).parts):
            page.locator(START[part]).first.evaluate("e => e.scrollIntoView()")
        (out / file).write_bytes(small(page.screenshot()))
        page.close()


def gallery(names: Sequence[str]) -> str:
    """Return the page that shows the pictures of the pages named."""
    parts = [GALLERY]
    for name in names:
        wide, narrow = (f'<img src="{name}-{w}.webp" alt="{name}, {w} px"' for w in WINDOWS)
        parts.append(f'## {name}\n\n{wide} width="640">\n{narrow} width="195">\n')
    return "\n".join(parts)


@contextmanager
def judging(project: Path) -> Iterator[str]:
    """Serve the judging page on a pool of the project's runs; yield its address.

    Raises:
        MissingFile: no runs.
    """
    runs = sorted(project.glob(f"results/search/{JUDGED}/large/test/*/*.parquet"))
    if not runs:
        raise MissingFile(project / "results/search", "no runs to judge", "run `make demo` first")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("data", "workflow", "params", "params.yaml"):
            (place / name).symlink_to(project.resolve() / name)
        words = (project / f"data/collect/{JUDGED}/{side}.parquet" for side in ("texts", "images"))
        pool = place / f"results/score/{JUDGED}/pool.parquet"
        pool.parent.mkdir(parents=True)
        write_pool(runs, *words, depth=DEPTH, pool=pool, sheets=[])
        with _serving(place, "judge", JUDGED, "--assessor", "ann") as address:
            yield address


@contextmanager
def suggesting(project: Path) -> Iterator[str]:
    """Serve the page of suggestions; yield the address of the first section without a picture.

    Raises:
        MissingFile: no suggestions.
    """
    suggested = project / f"results/suggest/{JUDGED}/sections.parquet"
    if not suggested.is_file():
        raise MissingFile(suggested, "no suggestions to show", "run `make demo` first")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("data", "results", "workflow", "params", "params.yaml"):
            (place / name).symlink_to(project.resolve() / name)
        with _serving(place, "suggest", JUDGED, "--serve", "--assessor", "ann") as address:
            first = _json(f"{address}api/unillustrated")["sections"][0]["text_id"]
            _await_model(f"{address}api/section?id={quote(first, safe='')}")
            yield f"{address}#section/{quote(first, safe='')}"


def _await_model(url: str) -> None:
    """Ask until the answer has no note, or for WAIT_S: what is missing is then in the picture."""
    end = time.monotonic() + WAIT_S
    while _json(url)["notes"] and time.monotonic() < end:
        time.sleep(1)


def _json(url: str) -> Any:  # noqa: ANN401 (what the server answers)
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


@contextmanager
def _serving(place: Path, *command: str) -> Iterator[str]:
    """Run `isotope COMMAND` at any free port in the folder `place`; yield its address."""
    program = ["isotope", *command, "--port", "0"]
    with subprocess.Popen(program, cwd=place, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+/", next(iter(server.stdout or ()), ""))
            if address is None:
                raise IsotopeError(f"isotope {command[0]}", "it did not start", "see its error")
            yield address[0]
        finally:
            server.terminate()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Run this machine's Chromium.

    Raises:
        MissingFile: there is none.
    """
    program = next((path for path in map(shutil.which, CHROMIUM) if path), None)
    if program is None:
        raise MissingFile("chromium", "not on this machine", "run `make system` as root")
    with sync_playwright() as driver:
        process = driver.chromium.launch(
            executable_path=program, chromium_sandbox=False, args=["--disable-gpu"]
        )
        yield process
        process.close()


def make(project: Path, out: Path) -> None:
    """Write the pictures and their page, in place of the old ones once all are taken.

    Raises:
        MissingFile: no report, no runs, no suggestions, or no Chromium.
    """
    found = pages(project / "results/report")
    with tempfile.TemporaryDirectory() as folder:
        taken = Path(folder)
        with chromium() as browser, judging(project) as judge, suggesting(project) as suggest:
            for name, path in found.items():
                take(browser, path.resolve().as_uri(), name, taken)
            for name, address in zip(SERVED, (judge, suggest), strict=True):
                take(browser, address, name, taken)
            # Its pages link the pictures that are there.
            take_site(browser, taken)
        out.mkdir(parents=True, exist_ok=True)
        for old in out.glob("*.webp"):
            old.unlink()
        shutil.copytree(taken, out, dirs_exist_ok=True)
    (out / "README.md").write_text(gallery([*found, *SERVED, SITE]), "utf-8")


def take_site(browser: Browser, out: Path) -> None:
    """Write the pictures of the site, which is made for them without a report."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        list(website.build(ROOT, site, Path(folder) / "report"))
        take(browser, (site / SHOWN).as_uri(), SITE, out)


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the pictures, or say what is missing."""
    parser = argparse.ArgumentParser(prog="python docs/images.py", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--project", type=Path, default=ROOT, help="where the demo has run")
    parser.add_argument("--out", type=Path, default=OUT, help="the folder of the pictures")
    chosen = parser.parse_args(arguments)
    try:
        make(chosen.project, chosen.out)
    except IsotopeError as error:
        parser.exit(1, f"{error}\n")


if __name__ == "__main__":
    main()
