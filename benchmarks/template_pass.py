"""Claim: the pass over a dump's templates costs less than half of what parsing its articles does.

    python benchmarks/template_pass.py [PAGES] [ROUNDS]     (default 1400 3)

Real pages (../shared/snapshots), and for every seventh of them a page of Template: or Module:, go
as one multistream through the pass (`parse_templates`) and through `parse_dump` with the table that
it writes. The pages of templates are those of tests/wikis, again and again under new names. Three
sizes give the rate of the pass, for `isotope estimate`. Written to
benchmarks/results/template_pass.md.
"""

import bz2
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import yaml
from common import Claim, Timing, machine, rounds, spent, verdicts, write
from parse_dump import HEAD, PAGE, real_pages
from rates import keep, line

from isotope.parse.dump import parse_dump
from isotope.parse.template_pages import collect, read

# ASSUME a dump has a page of Template: or Module: for seven articles (enwiki: 7 M articles and a
# million of templates, statistics of 2025); no paper says.
ARTICLES_A_TEMPLATE = 7
WIKI = Path(__file__).parents[1] / "tests/wikis/enwiki.yaml"
AT_LEAST = 2.0
_STREAM_PAGES = 100
_ENWIKI_XML = 90e9
_SIZES = (0.1, 0.4, 1.0)
_PARSED = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")


def templates() -> Iterator[tuple[str, str, str]]:
    """Yield number of the namespace, title and wikitext of templates, again under new names."""
    own = yaml.safe_load(WIKI.read_text("utf-8"))["pages"].items()
    for number, (title, text) in enumerate(cycle(own)):
        namespace = "828" if title.startswith("Module:") else "10"
        yield namespace, title if number < len(own) else f"{title} {number}", text


def make(path: Path, pages: int) -> int:
    """Write a multistream of `pages` articles, templates among them; return its bytes of XML."""
    written, others = list[str](), templates()
    for number, (title, text) in enumerate(islice(real_pages(), pages)):
        written.append(PAGE.format(title=escape(title), number=number + 1, text=escape(text)))
        if number % ARTICLES_A_TEMPLATE == 0:
            namespace, name, body = next(others)
            page = PAGE.format(title=escape(name), number=pages + number + 1, text=escape(body))
            written.append(page.replace("<ns>0</ns>", f"<ns>{namespace}</ns>"))
    cuts = range(0, len(written), _STREAM_PAGES)
    streams = [HEAD, *("".join(written[n : n + _STREAM_PAGES]) for n in cuts), "</mediawiki>\n"]
    path.write_bytes(b"".join(bz2.compress(stream.encode()) for stream in streams))
    return sum(len(stream.encode()) for stream in streams)


def by_pass(dump: Path) -> Timing:
    """Collect and read the templates, in this process."""
    pages, calls, table = (dump.parent / name for name in ("pages", "calls", "table"))
    before = spent()
    collect([dump], pages, calls, 1, (0, 1))
    collected = spent()
    read([dump], [pages], [calls], table)
    return {"s": spent() - before, "collect_s": collected - before, "read_s": spent() - collected}


def by_parse(dump: Path) -> Timing:
    """Parse the articles with the table of templates, in this process."""
    where: dict[str, Any] = {name: dump.parent / f"{name}.parsed" for name in _PARSED}
    before = spent()
    parse_dump([dump], workers=1, templates=dump.parent / "table", **where)
    return {"s": spent() - before}


def rate_of(sizes: Sequence[int], found: Sequence[Timing]) -> Mapping[str, object]:
    """Return the rate of the pass over bytes of XML."""
    taken = line(sizes, [timing["s"] for timing in found])
    return {"what": "parse", "unit": "byte of templates", "value": taken.slope}


def main(pages: int = 1400, times: int = 3) -> None:
    """Measure the pass beside parsing, at three sizes, and report."""
    sizes, found = list[int](), list[dict[str, Timing]]()
    for share in _SIZES:
        with tempfile.TemporaryDirectory() as name:
            dump = Path(name) / "enwiki-pages-articles-multistream.xml.bz2"
            sizes.append(make(dump, round(pages * share)))
            tools = {"templates": by_pass, "articles": by_parse}
            found.append(rounds(tools, dump, times=times))
    ours, theirs = found[-1]["templates"], found[-1]["articles"]
    what = f"{pages:,} real pages, {sizes[-1] / 1e6:.0f} MB of XML"
    claim = Claim(
        *("parse", what, "parsing the articles", ours["s"], theirs["s"], AT_LEAST),
        ours["peak_gib"],
        unit="CPU s",
    )
    if pages == main.__defaults__[0]:  # type: ignore[index]
        keep([rate_of(sizes, [timings["templates"] for timings in found])])
    hours = ours["s"] / sizes[-1] * _ENWIKI_XML / 3600
    told = (
        f"Collecting the pages takes {ours['collect_s']:.2f} s, reading them {ours['read_s']:.2f} s"
        f" (processor seconds). ASSUME the English Wikipedia has {_ENWIKI_XML / 1e9:.0f} GB of XML,"
        f" of the same proportions: {hours:.1f} core hours, by this rate; it was not run.\n\n"
    )
    title = "# Reading a dump's templates, beside parsing its articles\n\n"
    write("template_pass", f"{title}{verdicts([claim])}\n{told}{machine(['pyarrow'])}", [claim])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
