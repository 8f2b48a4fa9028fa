"""Measure: how long a wiki's templates take to be read, and its pages with and without their table.

    python benchmarks/read_templates.py [TEMPLATES] [PAGES]     (default 100000 200)

A wiki of templates is made by seed. Its shares and sizes are assumed, after what the English
Wikipedia's namespace Template is said to hold: redirects, navigation boxes, infoboxes with fifty
parameters, inline templates, messages, documentation. `read_templates` reads them in a process of
its own. Then real pages (../shared/snapshots) are parsed without a table, and with one that knows
every template that they call. Written to benchmarks/results/read_templates.md.
"""

import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from common import Timing, alone, machine, rounds, spent, write
from parse_dump import make, real_pages

from isotope.parse.dump import parse_dump
from isotope.parse.site import Site
from isotope.parse.transclusion.pages import TemplatePage, template_title
from isotope.parse.transclusion.reading import read_templates

SITE = Site.from_siteinfo(
    "https://en.wikipedia.org/wiki/",
    "en",
    {6: "File", 10: "Template", 14: "Category", 828: "Module"},
    "enwiki",
)
SEED = 29
# ASSUME these shares and, below, these sizes; no dump's own are at hand.
SHARES = {"redirect": 0.4, "navigation": 0.25, "inline": 0.12, "box": 0.05, "message": 0.08}
# Pages of the namespace Template in the English Wikipedia, roughly, that full size is reckoned of.
FULL_SIZE = 1_000_000
DOCUMENTATION = "<noinclude>{{documentation}}" + "Words of a manual. " * 20 + "</noinclude>"


def templates(count: int) -> Iterator[TemplatePage]:
    """Yield pages of templates, those that others call first."""
    yield TemplatePage(10, "Infobox", "", "{{#invoke:Infobox|infobox}}")
    yield TemplatePage(10, "Navbox", "", "{{#invoke:Navbox|navbox}}")
    yield TemplatePage(10, "Inline 0", "", "<span>{{{1}}}</span>")
    draw = random.Random(SEED)
    kinds, weights = [*SHARES, "manual"], [*SHARES.values(), 1 - sum(SHARES.values())]
    for n, kind in enumerate(draw.choices(kinds, weights, k=count)):
        yield TemplatePage(10, f"{kind.capitalize()} {n}", *_page(kind, n, draw))


def _page(kind: str, n: int, draw: random.Random) -> tuple[str, str]:
    """Return what a page redirects to, and its text."""
    if kind == "redirect":
        return f"Inline {draw.randrange(max(n, 1))}", ""
    if kind == "navigation":
        links = " * ".join(f"[[Page {draw.randrange(10**6)}|words]]" for _ in range(120))
        return "", f"{{{{Navbox|name=N{n}|title=Title|list1={links}}}}}{DOCUMENTATION}"
    if kind == "box":
        rows = "".join(f"|label{k}=L|data{k}={{{{{{p{k}|{{{{{{q{k}|}}}}}}}}}}}}" for k in range(50))
        image = "{{#invoke:InfoboxImage|InfoboxImage|image={{{image|}}}|alt={{{alt|}}}}}"
        return (
            "",
            f"{{{{Infobox|image={image}|caption={{{{{{caption|}}}}}}{rows}}}}}{DOCUMENTATION}",
        )
    if kind == "inline":
        inner = f"{{{{Inline {draw.randrange(4)}|{{{{{{1}}}}}}}}}}" if n % 3 else "{{{1}}}"
        switch = "|".join(f"{k}=word {k}" for k in range(12))
        body = f"{{{{#if:{{{{{{1|}}}}}}|{inner}|none}}}} {{{{#switch:{{{{{{2|}}}}}}|{switch}}}}}"
        return "", body + DOCUMENTATION
    if kind == "message":
        return "", "<div class='ambox'>" + "{{#if:{{{1|}}}|Words of it. }}" * 10 + "</div>"
    return "", "Words of a manual.\n" * 60


def by_reading(count: int, folder: Path) -> Timing:
    """Read the templates into a table."""
    pages = list(templates(count))
    before = spent()
    table = read_templates(pages, SITE)
    took = spent() - before
    pq.write_table(table, folder / "templates.parquet")
    size = sum(len(page.text) for page in pages)
    return {"s": took, "characters": size, "prints": dict(Counter(table["prints"].to_pylist()))}


def by_parsing(table: Path | None, dump: Path) -> Timing:
    """Parse a dump in this process."""
    names = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    where: dict[str, Any] = {name: dump.parent / f"{name}.{table is None}" for name in names}
    where |= {} if table is None else {"templates": table}
    before = spent()
    parse_dump([dump], workers=1, **where)
    return {"s": spent() - before}


def called(pages: int) -> list[TemplatePage]:
    """Return a page for every template that real pages call, each a text of its first argument."""
    text = "".join(text for _, (_, text) in zip(range(pages), real_pages(), strict=False))
    names = {template_title(name) for name in re.findall(r"\{\{([^{}|#:\n]{1,80})", text)}
    body = "{{#if:{{{1|}}}|<span>{{{1}}}</span>|{{{text|}}}}}"
    return [TemplatePage(10, name, "", body) for name in sorted(names)]


def main(count: int = 100_000, pages: int = 200) -> None:
    """Read, parse with and without, and report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        read = alone(by_reading, count, folder)
        dump = folder / "enwiki-pages-articles.xml.bz2"
        make(dump, pages)
        table = folder / "called.parquet"
        pq.write_table(read_templates(called(pages), SITE), table)
        ways = {"without": partial(by_parsing, None), "with": partial(by_parsing, table)}
        found = rounds(ways, dump, times=3)
    write("read_templates", report(read, found, count, pages) + machine(["pyarrow"]))


def report(read: Timing, found: dict[str, Timing], count: int, pages: int) -> str:
    """Return what was measured, in words."""
    rate, size = count / read["s"], read["characters"] / 1e6
    kinds = ", ".join(f"{n:,} {kind or 'redirect'}" for kind, n in sorted(read["prints"].items()))
    shares = ", ".join(f"{kind} {share:.0%}" for kind, share in SHARES.items())
    without, beside = found["without"]["s"], found["with"]["s"]
    return (
        "# Reading a wiki's templates\n\n"
        f"{count:,} pages of templates, {size:.0f} million characters, made by seed:"
        f" {read['s']:.1f} CPU s, {rate:,.0f} pages a second, {read['peak_gib']:.2f} GiB at most,"
        f" the pages themselves included. Rows by what they print: {kinds}.\n\n"
        f"At that rate {FULL_SIZE:,} pages take {FULL_SIZE / rate / 60:.0f} minutes on one core:"
        f" assumed of the English Wikipedia, as are the shares ({shares}) and sizes.\n\n"
        f"{pages:,} real pages are parsed in {without:.2f} CPU s without a table, and in"
        f" {beside:.2f} CPU s with one in which every template that they call is a text:"
        f" {beside / without:.2f} times as long.\n\n"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
