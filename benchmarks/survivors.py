"""What survives of a page: the share of its words, pictures, captions and alternative texts.

    python benchmarks/survivors.py [BEFORE]

Reference, by group of pages: of the test wikis (tests/wikis) what a reader of them sees, of the
pages that WIT knows WIT's rows, of all other real pages what their wikitext says in so many words,
by mwparserfromhell. BEFORE is the folder of another checkout, whose reading stands in front of this
one's. Written to benchmarks/results/survivors.md.
"""

import bz2
import csv
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote
from xml.sax.saxutils import escape

import mwparserfromhell
from common import machine, write
from mwparserfromhell.nodes import Node, Tag, Template, Wikilink
from mwparserfromhell.wikicode import Wikicode
from parse_dump import without_hidden

ROOT = Path(__file__).parents[1]
SNAPSHOTS = ROOT.parent / "shared/snapshots"
DUMP = "20211213"
PAGE = (
    "<page><title>{}</title><ns>0</ns><id>1</id><revision><id>1</id>"
    "<model>wikitext</model><text>{}</text></revision></page>"
)
# Unframed and no wider: a sign, and no picture of its section.
ICON_PIXELS = 60
_FILE = r"[^\n|\[\]{}<>#:/]{1,240}\.(?:jpe?g|png|gif|svg|tiff?|webp)"
_PREFIX = r"(?:File|Image|Datei|Bild|Lêer|Beeld):"
_LINK = re.compile(rf"\s*{_PREFIX}\s*({_FILE})\s*", re.IGNORECASE)
_NAME = re.compile(rf"\s*(?:{_PREFIX})?\s*({_FILE})\s*", re.IGNORECASE)
_FRAMES = r"thumb|thumbnail|mini|miniatur|framed?|gerahmt|duimnael"
_FRAMED = re.compile(rf"\|\s*(?:{_FRAMES})\s*(?=\|)", re.IGNORECASE)
_OPTION = re.compile(
    rf"\s*(?:[\d x]*(?:px)?|{_FRAMES}|frameless|border|right|left|center|centre|none|rechts|links"
    r"|regs|hochkant|upright|(?:upright|hochkant|alt|link|page|class|lang)\s*=.*)\s*",
    re.IGNORECASE | re.DOTALL,
)
_ALT = re.compile(r"\|\s*alt\s*=([^|\]]+)", re.IGNORECASE)
_CAPTION_KEY = re.compile(
    r"caption|byskrif|beschreibung|unterschrift|legende|bildtext", re.IGNORECASE
)
_ALT_KEY = re.compile(r"(?:^|[_ ])alt(?:\d*$|[_ ])", re.IGNORECASE)
# What is common to the names of parameters of one picture.
_COMMON = re.compile(
    rf"{_CAPTION_KEY.pattern}|image|img|photo|bild|beeld|alt|[_ \d]", re.IGNORECASE
)
_MAIN = ("", "skyline", "name", "static", "cover")
_NO_TEXT = re.compile(r"\s*:?(?:Datei|Bild|Lêer|Beeld|Kategorie)\s*:", re.IGNORECASE)


TITLE = "# What survives of a page\n\n"
REFERENCE = """A caption or an alternative text survives if all its words are with its picture.

Reference: of the test wikis (tests/wikis) what their readers see; they are read with the pages of
their templates. Of the enwiki of 2015 the rows of WIT, of which one has the longest section's
words; alternative texts are left out, as WIT is of 2020. Of all other real pages, which are at hand
without HTML and without the pages of their templates, what their wikitext says in so many words, by
mwparserfromhell: text outside templates and tables, files of links, galleries and parameters, with
the words of parameters that are called a caption or alt.

"""


class Shown(NamedTuple):
    """A file with the words of its caption and alternative text."""

    file: str
    caption: tuple[str, ...] = ()
    alt: tuple[str, ...] = ()


@dataclass
class Group:
    """Pages of one wiki, by title, with their reference: words and files by title."""

    name: str
    wiki: str
    language: str
    namespaces: dict[int, str]
    pages: dict[str, str] = field(default_factory=dict[str, str])
    templates: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])
    words: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: dict[str, list[Shown]] = field(default_factory=dict[str, list[Shown]])


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case aside."""
    return re.findall(r"\w+", text.casefold())


def shown(file: str, caption: str = "", alt: str = "") -> Shown:
    """Return a file with the words that stand with it."""
    name = " ".join(file.replace("_", " ").split())
    return Shown(name[:1].upper() + name[1:], tuple(words(caption)), tuple(words(alt)))


def test_wikis() -> Iterator[Group]:
    """Yield the wikis of tests/wikis, with the pages of their templates."""
    sys.path.insert(0, str(ROOT))
    from tests import wikis  # noqa: PLC0415
    from tests.wikis import roads  # noqa: PLC0415

    for name in wikis.names():
        own = wikis.wiki(name)
        group = Group(f"{name}, test pages", name, own.language, own.namespaces)
        group.templates = [tuple(page) for page in roads.template_pages(own)]
        for page in own.articles:
            group.pages[page.title] = page.wikitext
            group.words[page.title] = words(page.text)
            group.files[page.title] = [shown(*picture) for picture in page.pictures]
        yield group


def pages_of_dump(path: Path) -> Iterator[tuple[str, str]]:
    """Yield title and wikitext of the articles of a dump."""
    for page in ET.fromstring(bz2.decompress(path.read_bytes())).findall("{*}page"):
        text = page.findtext("{*}revision/{*}text") or ""
        title = page.findtext("{*}title") or ""
        is_article = page.findtext("{*}ns") == "0" and page.find("{*}redirect") is None
        if is_article and "(disambiguation)" not in title:
            yield title, text


def known_to_wit() -> Group:
    """Return the pages of one topic, with WIT's rows as their reference."""
    group = Group("enwiki 2015, WIT's rows", "enwiki", "en", english())
    [dump] = (SNAPSHOTS / "raycharles/dump").glob("*.bz2")
    wikitext = dict(pages_of_dump(dump))
    csv.field_size_limit(1 << 30)
    for path in sorted((SNAPSHOTS / "raycharles/wit").glob("*.gz")):
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t"):
                title = row["page_title"]
                if title not in wikitext:
                    continue
                group.pages[title] = wikitext[title]
                told = words(row["context_section_description"] or "")
                group.words.setdefault(title, [])
                group.words[title] = max(group.words[title], told, key=len)
                name = row["image_url"].rsplit("/", 1)[-1]
                caption = row["caption_reference_description"] or ""
                group.files.setdefault(title, []).append(shown(unquote(name), caption))
    return group


def english() -> dict[int, str]:
    """Return the namespaces of an English wiki that matter here."""
    return {6: "File", 10: "Template", 14: "Category"}


def real_pages(templates: Mapping[str, Group]) -> Iterator[Group]:
    """Yield the real pages by language, alone and with the templates of a test wiki."""
    dump = next((SNAPSHOTS / "minidumps" / DUMP).glob("*.bz2"))
    groups = {
        "de": Group(
            "dewiki, real pages", "dewiki", "de", {6: "Datei", 10: "Vorlage", 14: "Kategorie"}
        ),
        "af": Group(
            "afwiki, real pages", "afwiki", "af", {6: "Lêer", 10: "Sjabloon", 14: "Kategorie"}
        ),
        "en": Group("enwiki, real pages", "enwiki", "en", english()),
    }
    for path in sorted((SNAPSHOTS / "pages").glob("*.txt")):
        text = path.read_text("utf-8")
        language = ("af" if " 'n " in text else "de") if "[[Kategorie:" in text else "en"
        groups[language].pages[path.stem] = text
    groups["en"].pages |= dict(pages_of_dump(dump))
    for group in groups.values():
        for title, text in group.pages.items():
            group.words[title], group.files[title] = as_written(text)
        yield group
        own = templates.get(group.wiki)
        if own:
            name = f"{group.name}, with the test wiki's templates"
            yield replace(group, name=name, templates=own.templates)


def as_written(text: str) -> tuple[list[str], list[Shown]]:
    """Return what wikitext says in so many words: text outside templates and tables, and files."""
    code = mwparserfromhell.parse(text, skip_style_tags=True)
    files = [*_links(code), *_galleries(code)]
    for template in code.filter_templates(recursive=True):
        files += _of_template(template)
    without_hidden(code)
    code.nodes = [node for node in code.nodes if not _is_no_prose(node)]
    return words(code.strip_code(normalize=True, collapse=True)), files


def _is_no_prose(node: Node) -> bool:
    table = isinstance(node, Tag) and str(node.tag).lower() == "table"
    return table or (isinstance(node, Wikilink) and bool(_NO_TEXT.match(str(node.title))))


def _links(code: Wikicode) -> Iterator[Shown]:
    for link in code.filter_wikilinks(recursive=True):
        name = _LINK.fullmatch(str(link.title))
        if not name:
            continue
        said = f"|{link.text or ''}|"
        alt = _ALT.search(said)
        parts = mwparserfromhell.parse(str(link.text or "")).nodes
        last = "".join(map(str, parts)).rpartition("|")[2] if "[[" not in said else ""
        caption = last if _FRAMED.search(said) and not _OPTION.fullmatch(last) else ""
        yield shown(name[1], _plain(caption), _plain(alt[1]) if alt else "")


def _galleries(code: Wikicode) -> Iterator[Shown]:
    for tag in code.filter_tags(matches=lambda node: str(node.tag).lower() == "gallery"):
        for line in str(tag.contents or "").split("\n"):
            name, _, caption = line.partition("|")
            named = _NAME.fullmatch(name)
            if named:
                yield shown(named[1], _plain(caption) if "|" not in caption else "")


def _of_template(template: Template) -> Iterator[Shown]:
    told = {str(p.name).strip().lower(): str(p.value).strip() for p in template.params}
    pictures = [(key, name[1]) for key, value in told.items() if (name := _NAME.fullmatch(value))]
    for place, (key, name) in enumerate(pictures):
        beside = {
            kind: [
                v for k, v in told.items() if v and pattern.search(k) and _belongs(k, key, place)
            ]
            for kind, pattern in (("caption", _CAPTION_KEY), ("alt", _ALT_KEY))
        }
        yield shown(name, *(_plain(found[0]) if found else "" for found in beside.values()))


def _belongs(key: str, picture: str, place: int) -> bool:
    """Tell whether a parameter of words is the one beside a picture's, by its number and stem."""
    number, same = (re.sub(r".*?(\d*)$", r"\1", name) for name in (picture, key))
    stem, own = (_COMMON.sub("", name) for name in (picture, key))
    return number == same and (own == stem or (not own and place == 0 and stem in _MAIN))


def _plain(wikitext: str) -> str:
    return mwparserfromhell.parse(wikitext, skip_style_tags=True).strip_code() if wikitext else ""


def read(checkout: Path, groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Return what a checkout of isotope reads of each page: words and files, by title."""
    with tempfile.TemporaryDirectory() as name:
        task = Path(name) / "task.json"
        task.write_text(json.dumps([asdict(group) for group in groups]), "utf-8")
        env = {**os.environ, "PYTHONPATH": str(checkout / "workflow/lib")}
        run = [sys.executable, __file__, "--read", str(task)]
        return json.loads(subprocess.run(run, env=env, check=True, capture_output=True).stdout)


def read_here(task: Path) -> None:
    """Read pages with the isotope at hand, which may be an older one, and print what it has."""
    said = []
    for group in json.loads(task.read_text("utf-8")):
        with tempfile.TemporaryDirectory() as name:
            of_page = _reader(group, Path(name) / "templates.parquet")
            said.append({title: of_page(title, text) for title, text in group["pages"].items()})
    print(json.dumps(said))


def _reader(group: dict[str, Any], table: Path) -> Callable[[str, str], dict[str, Any]]:
    from isotope.parse import xml_dump  # noqa: PLC0415
    from isotope.parse.site import Site  # noqa: PLC0415

    base = f"https://{group['language']}.wikipedia.org/wiki/"
    names = {0: "", **{int(number): name for number, name in group["namespaces"].items()}}
    site = Site.from_siteinfo(base, group["language"], names, group["wiki"])
    if group["templates"] and hasattr(site, "with_templates"):
        import pyarrow.parquet as pq  # noqa: PLC0415

        from isotope.parse.transclusion.pages import TemplatePage  # noqa: PLC0415
        from isotope.parse.transclusion.reading import read_templates  # noqa: PLC0415

        pq.write_table(read_templates((TemplatePage(*p) for p in group["templates"]), site), table)
        site = site.with_templates(table)

    def of_page(title: str, text: str) -> dict[str, Any]:
        xml = PAGE.format(escape(title), escape(text)).encode()
        sections, _, _, rest = xml_dump.parse_batch((site, xml_dump.Chunk(Path("x"), 0, xml)))
        columns = sections.select(["section", "section_title", "context_section_description"])
        told = [
            f"{row['section_title'] if row['section'] else ''} {row['context_section_description']}"
            for row in columns.to_pylist()
        ]
        return {"words": words(" ".join(told)), "files": [_file(row) for row in rest.pictures]}

    return of_page


def _file(row: Mapping[str, Any]) -> Shown:
    return shown(row["file"], row["caption"] or "", row["alt"] or "")


def shares(group: Group, pages: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
    """Count what of a group's reference is there, and what of it there is.

    A caption or an alternative text is there if all its words are with the picture.
    """
    counts = Counter[str]()
    for title in group.pages:
        have = pages[title]
        want = Counter(group.words.get(title, ()))
        counts["words"] += (want & Counter(have["words"])).total()
        counts["of words"] += want.total()
        files = [Shown(name, tuple(c), tuple(a)) for name, c, a in have["files"]]
        for use in group.files.get(title, ()):
            own = [one for one in files if one.file == use.file]
            counts["pictures"] += bool(own)
            counts["of pictures"] += 1
            for kind in ("captions", "alts"):
                told = Counter(getattr(use, kind[:-1]))
                if told:
                    has = (Counter(getattr(one, kind[:-1])) for one in own)
                    counts[kind] += any(told <= one for one in has)
                    counts[f"of {kind}"] += 1
    kinds = ("words", "pictures", "captions", "alts")
    return {kind: (counts[kind], counts[f"of {kind}"]) for kind in kinds}


def report(groups: list[Group], readings: list[list[dict[str, Any]]]) -> str:
    """Return the table: a row a group, the readings of each share one after the other."""
    lines = ["| pages | number | words | pictures | captions | alternative texts |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    for place, group in enumerate(groups):
        found = [shares(group, reading[place]) for reading in readings]
        cells = [
            " → ".join(_share(*one[kind]) for one in found) + f" of {found[0][kind][1]:,}"
            for kind in found[0]
        ]
        lines.append(f"| {group.name} | {len(group.pages)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def _share(kept: int, whole: int) -> str:
    return f"{kept / whole:.1%}" if whole else "—"


def main(before: Path | None = None) -> None:
    """Read all pages, with two checkouts if there is another one, and write the table."""
    groups = list(test_wikis())
    if SNAPSHOTS.is_dir():
        templates = {group.wiki: group for group in groups}
        groups += [known_to_wit(), *real_pages(templates)]
    readings = [read(checkout, groups) for checkout in (before, ROOT) if checkout]
    two = "Each share before and after. " if before else ""
    end = machine(["mwparserfromhell", "pyarrow"])
    write("survivors", f"{TITLE}{report(groups, readings)}{two}{REFERENCE}{end}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        read_here(Path(sys.argv[2]))
    else:
        main(*map(Path, sys.argv[1:]))
