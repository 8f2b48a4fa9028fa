"""Claim: a dump is parsed in a third of mwparserfromhell's processor time, and no text is lost.

    python benchmarks/parse_dump.py [PAGES] [ROUNDS] [BEFORE]     (default 300 3)

Real pages (../shared/snapshots) go as one bz2 file through isotope's `parse_dump`, through
mwparserfromhell page by page, and through WikiExtractor, one process each. What words one of them
kept and another lost is counted. BEFORE, a checkout of an earlier isotope, parses the same file in
the same rounds. Written to benchmarks/results/parse_dump.md.
"""

import bz2
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import mwparserfromhell
import polars as pl
from common import Claim, Timing, machine, rounds, spent, verdicts, write

from isotope.parse.dump import parse_dump

SNAPSHOTS = Path(__file__).parents[2] / "shared/snapshots"
BEFORE = "isotope of before"
# What is read more must not cost more than a tenth of the speed of before.
AT_LEAST = {"mwparserfromhell": 3.0, "WikiExtractor": 1.0, BEFORE: 0.9}
# The share of a peer's words that may be missing here: what is text and what is none has borders.
MOST_LOST, EVERY = 0.005, 5
HIDDEN_LINKS = ("file:", "image:", "media:", "category:", ":category:", ":file:", ":image:")
HIDDEN_TAGS = ("ref", "references", "gallery", "math", "timeline", "score", "syntaxhighlight")
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>enwiki</dbname>
    <base>https://en.wikipedia.org/wiki/Main_Page</base>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>0</ns>
    <id>{number}</id>
    <revision>
      <id>{number}</id>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text xml:space="preserve">{text}</text>
    </revision>
  </page>
"""


def real_pages() -> Iterator[tuple[str, str]]:
    """Yield title and wikitext of every article of the snapshots, again and again."""
    dumps = [p for form in ("minidumps/*/*.bz2", "*/dump/*.bz2") for p in SNAPSHOTS.glob(form)]
    found: list[tuple[str, str]] = []
    for path in sorted(dumps):
        for page in ET.fromstring(bz2.decompress(path.read_bytes())).findall("{*}page"):
            text = page.findtext("{*}revision/{*}text") or ""
            redirect = page.find("{*}redirect") is not None or text[:9].lower() == "#redirect"
            if page.findtext("{*}ns") == "0" and not redirect and text.strip():
                found.append((page.findtext("{*}title") or "", text))
    while found:
        yield from found


def make(path: Path, pages: int) -> int:
    """Write a dump of `pages` real pages, as Wikimedia lays out its lines; return its bytes."""
    numbered = zip(range(1, pages + 1), real_pages(), strict=False)
    parts = [PAGE.format(title=escape(t), number=n, text=escape(x)) for n, (t, x) in numbered]
    xml = "".join([HEAD, *parts, "</mediawiki>\n"]).encode()
    path.write_bytes(bz2.compress(xml))
    return len(xml)


def by_isotope(dump: Path) -> Timing:
    """Parse into the table of sections, in this process."""
    folder = dump.parent
    names = ("out", "links", "outline", "rejected", "infoboxes", "pictures", "counts")
    where: dict[str, Any] = {name: folder / f"{name}.isotope" for name in names}
    before = spent()
    parse_dump([dump], workers=1, **where)
    return {"s": spent() - before}


def by_before(checkout: Path, dump: Path) -> Timing:
    """Parse with an earlier isotope, in a process of its own, which tells what it took."""
    folders = (checkout.resolve() / "workflow/lib", Path(__file__).parent)
    code = (
        "import sys, pathlib, parse_dump as b; print(b.by_isotope(pathlib.Path(sys.argv[1]))['s'])"
    )
    told = subprocess.run(
        [sys.executable, "-c", code, str(dump)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        check=True,
        capture_output=True,
        text=True,
    )
    return {"s": float(told.stdout.split()[-1])}


def by_mwparserfromhell(dump: Path) -> Timing:
    """Parse whole pages, and write their text without markup."""
    before = spent()
    with (dump.parent / "text.mw").open("w") as file:
        for number, text in _texts(dump):
            row = {"id": number, "text": mwparserfromhell.parse(text).strip_code()}
            file.write(json.dumps(row) + "\n")
    return {"s": spent() - before}


def _texts(dump: Path) -> Iterator[tuple[str, str]]:
    for page in ET.fromstring(bz2.decompress(dump.read_bytes())).findall("{*}page"):
        yield page.findtext("{*}id") or "", page.findtext("{*}revision/{*}text") or ""


def by_wikiextractor(dump: Path) -> Timing:
    """Run the program as it comes, templates left unexpanded, with one process for the work."""
    before = spent()
    program = Path(sys.executable).with_name("wikiextractor")
    flags = ["--json", "--no-templates", "--processes", "1", "--quiet"]
    where = ["--output", str(dump.parent / "wikiextractor")]
    subprocess.run([str(program), *flags, *where, str(dump)], check=True, capture_output=True)
    return {"s": spent() - before}


def words(text: str) -> Counter[str]:
    """Count the words of a text: runs of letters and digits, case aside."""
    return Counter(re.findall(r"\w+", unescape(unescape(text)).casefold()))


def kept_by_isotope(folder: Path) -> dict[str, Counter[str]]:
    """Return each page's words in the table of sections, headings included."""
    sections = pl.read_parquet(folder / "out.isotope")
    found: dict[str, Counter[str]] = {}
    for page, title, text in sections.select(
        "page_id", "section_title", "context_section_description"
    ).iter_rows():
        found.setdefault(str(page), Counter()).update(words(f"{title} {text}"))
    return found


def kept_by_wikiextractor(folder: Path) -> dict[str, Counter[str]]:
    """Return each page's words in what WikiExtractor wrote; its first line is the title."""
    files = sorted((folder / "wikiextractor").rglob("wiki_*"))
    rows = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    return {str(row["id"]): words(row["text"]) for row in rows}


def kept_by_mwparserfromhell(dump: Path) -> dict[str, Counter[str]]:
    """Return words of every few pages without pictures, categories, references and formulas."""
    found: dict[str, Counter[str]] = {}
    for number, text in _texts(dump):
        if int(number) % EVERY:
            continue
        code = mwparserfromhell.parse(text, skip_style_tags=True)
        without_hidden(code)
        found[number] = words(code.strip_code(normalize=True, collapse=True))
    return found


def without_hidden(code: Any) -> None:  # noqa: ANN401
    """Take out of a tree what is no running text, templates among it."""
    code.nodes = [node for node in code.nodes if not _hidden(node)]
    for node in code.nodes:
        for inside in (getattr(node, "contents", None), getattr(node, "text", None)):
            if hasattr(inside, "nodes"):
                without_hidden(inside)


def _hidden(node: Any) -> bool:  # noqa: ANN401
    nodes = mwparserfromhell.nodes
    if isinstance(node, nodes.Wikilink):
        return str(node.title).strip().lower().startswith(HIDDEN_LINKS)
    if isinstance(node, nodes.Tag):
        return str(node.tag).strip().lower() in HIDDEN_TAGS
    return isinstance(node, nodes.Template | nodes.Comment | nodes.Argument)


def lost(theirs: dict[str, Counter[str]], ours: dict[str, Counter[str]]) -> float:
    """Return the share of the words of one that the other lacks, on the pages that both have."""
    both = theirs.keys() & ours.keys()
    missing = sum((theirs[page] - ours[page]).total() for page in both)
    return missing / max(1, sum(theirs[page].total() for page in both))


def report(found: dict[str, Timing], shares: dict[str, tuple[float, float]], what: str) -> str:
    """Return what was kept and lost, in words and a table."""
    lines = [
        "| peer | of its words isotope lacks | of isotope's words it lacks |",
        "|---|---:|---:|",
    ]
    lines += [f"| {peer} | {a:.3%} | {b:.1%} |" for peer, (a, b) in shares.items()]
    seconds = ", ".join(f"{tool} {t['s']:.1f} s" for tool, t in found.items())
    return (
        f"{what}; processor seconds: {seconds}. Each reads the same bz2 file on one core. isotope"
        " writes the table of sections, links, infoboxes and rejected pages as Parquet, the others"
        " JSON lines of text.\n\n" + "\n".join(lines) + "\n\n"
        "Words: runs of letters and digits, character references resolved, case aside, counted a"
        " page. Pages that isotope puts aside (disambiguation) are not compared. mwparserfromhell"
        " parses whole pages; for the comparison, untimed and on every"
        f" {EVERY}th page, pictures, categories, references, templates, formulas and galleries are"
        " taken out of its tree first, as they are no text here. WikiExtractor runs as it comes,"
        " with templates left unexpanded.\n\n"
    )


def main(pages: int = 300, times: int = 3, before: str = "") -> None:
    """Parse with the three, compare the words, and report."""
    tools: dict[str, Callable[..., Timing]] = {
        # Its tables lie where isotope's do, which are read below.
        **({BEFORE: partial(by_before, Path(before))} if before else {}),
        **{"isotope": by_isotope, "mwparserfromhell": by_mwparserfromhell},
        "WikiExtractor": by_wikiextractor,
    }
    with tempfile.TemporaryDirectory() as name:
        dump = Path(name) / "enwiki-pages-articles.xml.bz2"
        size = make(dump, pages)
        found = rounds(tools, dump, times=times)
        ours = kept_by_isotope(dump.parent)
        theirs = {
            "mwparserfromhell": kept_by_mwparserfromhell(dump),
            "WikiExtractor": kept_by_wikiextractor(dump.parent),
        }
    shares = {peer: (lost(kept, ours), lost(ours, kept)) for peer, kept in theirs.items()}
    assert all(share < MOST_LOST for share, _ in shares.values()), shares
    what, own = f"{pages:,} real pages, {size / 1e6:.1f} MB of XML", found["isotope"]
    claims = [
        Claim("parse", what, peer, own["s"], found[peer]["s"], least, own["peak_gib"], unit="CPU s")
        for peer, least in AT_LEAST.items()
        if peer in found
    ]
    told = report(found, shares, what)
    end = machine(["mwparserfromhell", "wikiextractor", "pyarrow"])
    title = "# Parsing a dump, beside mwparserfromhell and WikiExtractor\n\n"
    write("parse_dump", f"{title}{verdicts(claims)}\n{told}{end}", claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]), before="".join(sys.argv[3:4]))
