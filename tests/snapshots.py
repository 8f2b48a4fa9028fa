"""One encyclopedia in each format that isotope reads: MediaWiki's export, Enterprise's, Kiwix's.

`render` makes of simple wikitext what Parsoid would (https://www.mediawiki.org/wiki/Specs/HTML):
the markup of the embedded encyclopedia and of the tests' own pages, and no more than that.
"""

import html
import io
import json
import re
import tarfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import lxml.html
from libzim.writer import Creator, Hint, Item, StringProvider

from isotope.core.uploads import upload_url
from isotope.parse.xml_dump import decompress

NAMES = {1: "Talk", 6: "File", 10: "Template", 14: "Category"}
_LANGUAGE = re.compile(r"\[\[([a-z]{2}):([^|\]]*)\]\]\n?")
_FILE_LINK = r"\[\[(?:{names}):((?:[^\[\]]|\[\[[^\[\]]*\]\]|\[[^\[\]]*\])*)\]\]"
_NOTE = "\x02"
_CELL = re.compile(r'^[a-z-]+="[^"]*" \|')


@dataclass(frozen=True)
class Page:
    """A page as an export has it; `redirect` is the target's title or empty."""

    page_id: int
    namespace: int
    title: str
    text: str
    redirect: str = ""

    @property
    def revision(self) -> int:
        """The number of its revision."""
        return self.page_id + 500_000


@dataclass(frozen=True)
class Wiki:
    """A language edition: its code and the names of its namespaces."""

    language: str = "en"
    names: Mapping[int, str] = field(default_factory=lambda: NAMES)

    @property
    def url(self) -> str:
        """Where the wiki is."""
        return f"https://{self.language}.wikipedia.org"

    @property
    def database(self) -> str:
        """The name of its database."""
        return f"{self.language.replace('-', '_')}wiki"


ENGLISH = Wiki()


def pages_of(export: Path) -> list[Page]:
    """Read an export back as pages."""
    root = ET.fromstring(b"".join(decompress(export)))
    space = root.tag.partition("}")[0] + "}"
    return [
        Page(
            int(page.findtext(f"{space}id", "")),
            int(page.findtext(f"{space}ns", "")),
            page.findtext(f"{space}title", ""),
            page.findtext(f"{space}revision/{space}text") or "",
            told.get("title", "") if (told := page.find(f"{space}redirect")) is not None else "",
        )
        for page in root.iter(f"{space}page")
    ]


def write_export(pages: Sequence[Page], path: Path, wiki: Wiki = ENGLISH) -> Path:
    """Write MediaWiki's XML."""
    names = "".join(f'<namespace key="{k}">{n}</namespace>' for k, n in wiki.names.items())
    head = (
        f'<mediawiki xml:lang="{wiki.language}">\n<siteinfo><dbname>{wiki.database}</dbname>'
        f"<base>{wiki.url}/wiki/Main_Page</base>"
        f'<namespaces><namespace key="0" />{names}</namespaces></siteinfo>\n'
    )
    body = "".join(
        f"  <page>\n<title>{escape(p.title)}</title><ns>{p.namespace}</ns><id>{p.page_id}</id>"
        + (f"<redirect title={quoteattr(p.redirect)} />" if p.redirect else "")
        + f"<revision><id>{p.revision}</id><model>wikitext</model>"
        f'<text xml:space="preserve">{escape(p.text)}</text></revision></page>\n'
        for p in pages
    )
    path.write_text(f"{head}{body}</mediawiki>\n", "utf-8")
    return path


def records(pages: Sequence[Page], wiki: Wiki = ENGLISH) -> list[str]:
    """Return Enterprise's records: redirects are told by the page that they lead to."""
    return [
        json.dumps(_record(p, pages, wiki), ensure_ascii=False) for p in pages if not p.redirect
    ]


def _record(page: Page, pages: Sequence[Page], wiki: Wiki) -> dict[str, object]:
    url = f"{wiki.url}/wiki/"
    back = [p.title for p in pages if p.redirect == page.title]
    return {
        "name": page.title,
        "identifier": page.page_id,
        "date_modified": "2026-01-01T00:00:00Z",
        "version": {"identifier": page.revision, "comment": ""},
        "url": url + quote(page.title.replace(" ", "_")),
        "namespace": {"identifier": page.namespace},
        "in_language": {"identifier": wiki.language},
        "is_part_of": {"identifier": wiki.database, "url": wiki.url},
        "article_body": {"html": render(page, wiki), "wikitext": page.text},
        "redirects": [{"name": title, "url": url + quote(title)} for title in back],
    }


def write_enterprise(
    pages: Sequence[Page], path: Path, wiki: Wiki = ENGLISH, per_file: int = 30
) -> Path:
    """Write a snapshot of Enterprise, a few records a file of the archive."""
    lines = records(pages, wiki)
    some = [lines[at : at + per_file] for at in range(0, len(lines), per_file)]
    files = ["".join(f"{line}\n" for line in part).encode() for part in some]
    return write_tar(files, path, f"{wiki.language}wiki_namespace_0")


def write_tar(files: Sequence[bytes], path: Path, name: str = "enwiki_namespace_0") -> Path:
    """Write an archive of files of records."""
    with tarfile.open(path, "w:gz") as archive:
        for number, data in enumerate(files):
            member = tarfile.TarInfo(f"{name}_{number}.ndjson")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return path


class _Item(Item):
    def __init__(self, path: str, title: str, kind: str, content: bytes | str) -> None:
        super().__init__()
        self.told = (path, title, kind, content)

    def get_path(self) -> str:
        return self.told[0]

    def get_title(self) -> str:
        return self.told[1]

    def get_mimetype(self) -> str:
        return self.told[2]

    def get_contentprovider(self) -> StringProvider:
        return StringProvider(self.told[3])

    def get_hints(self) -> dict[Hint, int]:
        return {Hint.FRONT_ARTICLE: self.told[2] == "text/html"}


def write_zim(  # noqa: PLR0913
    pages: Sequence[Page],
    path: Path,
    wiki: Wiki = ENGLISH,
    images: Mapping[str, bytes] | None = None,
    *,
    ids: bool = False,
    told: Mapping[str, str] | None = None,
) -> Path:
    """Write a ZIM file as mwoffliner does; `told` are metadata, `ids` Parsoid's."""
    path.unlink(missing_ok=True)
    with Creator(path).config_indexing(False, "eng").config_verbose(False) as out:
        for page in pages:
            at = page.title.replace(" ", "_")
            if page.redirect:
                to = page.redirect.replace(" ", "_")
                out.add_redirection(at, page.title, to, {Hint.FRONT_ARTICLE: True})
            else:
                content = kiwix(page, wiki, ids=ids)
                out.add_item(_Item(at, page.title, "text/html", content))
        for name, data in (images or {}).items():
            kind = "image/png" if name.endswith(".png") else "image/jpeg"
            out.add_item(_Item(_asset(name), "", kind, data))
        known = {"Source": f"{wiki.language}.wikipedia.org", "Language": "mul"}
        for key, value in (known if told is None else told).items():
            out.add_metadata(key, value)
    return path


def _asset(name: str) -> str:
    return f"_assets_/{upload_url(name).split('/')[-2]}/{name.replace(' ', '_')}"


def kiwix(page: Page, wiki: Wiki, *, ids: bool) -> str:
    """Return a page as mwoffliner leaves it: frames of its own, and no more names of files."""
    root = lxml.html.document_fromstring(render(page, wiki))
    for figure in root.xpath("//figure"):
        thumb = lxml.html.fromstring(
            '<div class="thumb tright"><div class="thumbinner"><div class="thumbcaption"></div>'
            "</div></div>"
        )
        under = thumb[0][0]
        (caption,) = figure.xpath("./figcaption")
        under.text = caption.text
        under.extend(list(caption))
        thumb[0].insert(0, figure.xpath("./a")[0])
        thumb.tail = figure.tail
        figure.getparent().replace(figure, thumb)
    for image in root.xpath("//img[@resource]"):
        name = image.attrib.pop("resource").partition(":")[2]
        image.set("src", "./_assets_/" + _asset(html.unescape(name)).partition("/")[2])
    for link in root.xpath("//a[starts-with(@href, './')]"):
        link.set("href", link.get("href")[2:])
    body = "".join(str(lxml.html.tostring(e, encoding="unicode")) for e in root.find("body"))
    head = f'<meta property="mw:pageId" content="{page.page_id}">' if ids else ""
    foot = (
        f'<div style="clear:both">This article is issued from <a class="external text" '
        f'href="{wiki.url}/wiki/X?oldid={page.revision}">Wikipedia</a>.</div>'
    )
    return (
        f'<!doctype html><html><head><meta charset="UTF-8"><title>x</title>{head}</head><body>'
        f'<h1 id="firstHeading" class="firstHeading">{html.escape(page.title)}</h1>'
        f'<div id="mw-content-text">{body}</div>{foot}</body></html>'
    )


def render(page: Page, wiki: Wiki = ENGLISH) -> str:
    """Return a page as Parsoid renders it."""
    body = _Renderer(wiki).page(page.text) if page.text.strip() else ""
    return (
        '<!DOCTYPE html><html prefix="mw: http://mediawiki.org/rdf/" about="'
        f'{wiki.url}/wiki/Special:Redirect/revision/{page.revision}"><head><meta charset="utf-8"/>'
        f'<meta property="mw:pageId" content="{page.page_id}"/><title>{html.escape(page.title)}'
        f'</title></head><body class="mw-parser-output">{body}</body></html>'
    )


class _Renderer:
    def __init__(self, wiki: Wiki) -> None:
        self.wiki, self.notes, self.made = wiki, 0, 0
        files = "|".join({"File", "Image", wiki.names[6]})
        kinds = "|".join({"Category", wiki.names[14]})
        self.files = re.compile(_FILE_LINK.format(names=files))
        self.kinds = re.compile(rf"\[\[(?:{kinds}):([^|\]]*)(?:\|[^\]]*)?\]\]\n?")

    def page(self, text: str) -> str:
        """Render a page, its categories last."""
        text = re.sub("<!--.*?-->\n?", "", text, flags=re.DOTALL)
        kinds, languages = self.kinds.findall(text), _LANGUAGE.findall(text)
        blocks = list(self.blocks(_LANGUAGE.sub("", self.kinds.sub("", text))))
        prefix = self.wiki.names[14]
        links = (
            f'<link rel="mw:PageProp/Category" href="./{prefix}:{quote(k.replace(" ", "_"))}#x"/>'
            for k in kinds
        )
        others = (
            f'<link rel="mw:PageProp/Language" href="https://{code}.wikipedia.org/wiki/'
            f'{quote(title.replace(" ", "_"))}"/>'
            for code, title in languages
        )
        return "\n".join(
            ['<section data-mw-section-id="0">', *blocks, "</section>", *links, *others]
        )

    def blocks(self, text: str) -> Iterator[str]:
        """Yield the blocks of a page."""
        pattern = (
            r"^\{\{[^\n]*\}\}$|^\{\{.*?\n\}\}|^\{\|.*?\n\|\}|<gallery>.*?</gallery>"
            r"|(?:^[*#][^\n]*\n?)+|[^\n]*"
        )
        paragraph: list[str] = []
        for block in re.findall(pattern, text, re.DOTALL | re.MULTILINE):
            made = self.block(block.strip())
            if made is None:
                paragraph.append(self.inline(block))
                continue
            if paragraph:
                yield f"<p>{' '.join(paragraph)}</p>"
                paragraph = []
            yield made
        if paragraph:
            yield f"<p>{' '.join(paragraph)}</p>"

    def block(self, block: str) -> str | None:
        """Return what no paragraph is, or None."""
        heading = re.fullmatch(r"(=+)\s*(.*?)\s*\1", block)
        figure = self.files.fullmatch(block)
        for found, make in (
            (not block, lambda: ""),
            (heading, lambda: self.heading(*heading.groups() if heading else ())),
            (figure, lambda: self.figure(figure[1] if figure else "")),
            (block.startswith("{{"), lambda: self.template(block[2:-2])),
            (block.startswith("{|"), lambda: self.table(block)),
            (block.startswith("<gallery>"), lambda: self.gallery(block)),
            (block[:1] in ("*", "#"), lambda: self.items(block)),
        ):
            if found:
                return make()
        return None

    def heading(self, bars: str = "", title: str = "") -> str:
        level, text = len(bars), self.inline(title)
        edit = '<span class="mw-editsection">[edit]</span>'
        wrapped = f'<div class="mw-heading"><h{level} id="x">{text}</h{level}>{edit}</div>'
        return f'</section><section data-mw-section-id="1">{wrapped}'

    def figure(self, content: str) -> str:
        name, *words = re.split(r"\|(?![^\[]*\]\])", content)
        alt = next((w[4:] for w in words if w.startswith("alt=")), None)
        caption = next((w for w in reversed(words) if w != "thumb" and "=" not in w), "")
        size = re.fullmatch(r"(\d+)px", "|".join(words))
        if size:
            return f'<p><span typeof="mw:File">{self.image(name, alt, size[1])}</span></p>'
        shown = self.image(name, alt)
        return (
            f'<figure class="mw-default-size" typeof="mw:File/Thumb">{shown}'
            f"<figcaption>{self.inline(caption)}</figcaption></figure>"
        )

    def image(self, name: str, alt: str | None, width: str = "220") -> str:
        page = f"./{self.wiki.names[6]}:{quote(name.replace(' ', '_'))}"
        said = "" if alt is None else f' alt="{html.escape(alt)}"'
        upload = upload_url(name).replace("/commons/", "/commons/thumb/")
        thumb = f"{upload.removeprefix('https:')}/220px-{upload.rpartition('/')[2]}"
        return (
            f'<a href="{page}" class="mw-file-description"><img{said} resource="{page}" '
            f'src="{thumb}" width="{width}" height="150" class="mw-file-element"/></a>'
        )

    def template(self, content: str) -> str:
        name, *arguments = content.split("\n|") if "\n" in content else content.split("|")
        self.made += 1
        told = json.dumps({"parts": [{"template": {"target": {"wt": name.strip()}}}]})
        made = f'about="#mwt{self.made}" typeof="mw:Transclusion" data-mw={quoteattr(told)}'
        if name.startswith("Infobox"):
            return self.infobox(made, arguments)
        if name == "Reflist":
            return f'<div class="mw-references-wrap" {made}><ol><li>A book, 1990.</li></ol></div>'
        if name.startswith("Short"):
            return f'<div class="shortdescription nomobile" style="display:none" {made}>x</div>'
        return f'<table class="plainlinks" {made}><tr><td>This page is a list.</td></tr></table>'

    def infobox(self, made: str, arguments: list[str]) -> str:
        told = {k.strip(): v.strip() for k, _, v in (a.partition("=") for a in arguments)}
        rows = [f'<tr><th colspan="2">{self.inline(told["name"])}</th></tr>']
        if told.get("image"):
            shown = f'<span typeof="mw:File">{self.image(told["image"], None)}</span>'
            under = f'<div class="infobox-caption">{self.inline(told["caption"])}</div>'
            rows.append(f'<tr><td colspan="2" class="infobox-image">{shown}{under}</td></tr>')
        if told.get("flag"):
            shown = f'<span typeof="mw:File">{self.image(told["flag"], None)}</span>'
            rows.append(f'<tr><td colspan="2" class="infobox-image">{shown}</td></tr>')
        rows.append(f"<tr><th>Location</th><td>{self.inline(told['location'])}</td></tr>")
        return f'<table class="infobox vcard" {made}><tbody>{"".join(rows)}</tbody></table>'

    def gallery(self, block: str) -> str:
        boxes = ""
        for line in block.split("\n")[1:-1]:
            name, _, caption = line.partition("|")
            shown = self.image(name.partition(":")[2], None)
            boxes += (
                f'<li class="gallerybox"><div class="thumb"><span typeof="mw:File">{shown}</span>'
                f'</div><div class="gallerytext">{self.inline(caption)}</div></li>'
            )
        return (
            f'<ul class="gallery mw-gallery-traditional" typeof="mw:Extension/gallery">{boxes}</ul>'
        )

    def table(self, block: str) -> str:
        rows, caption = [list[str]()], ""
        for line in block.split("\n")[1:-1]:
            if line.startswith("|+"):
                caption = f"<caption>{self.inline(line[2:].strip())}</caption>"
            elif line.startswith("|-"):
                rows.append([])
            else:
                tag = "th" if line[0] == "!" else "td"
                cells = re.split(r"\|\||!!", line[1:])
                texts = (self.inline(_CELL.sub("", c.strip(), count=1).strip()) for c in cells)
                rows[-1] += [f"<{tag}>{text}</{tag}>" for text in texts]
        made = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows if row)
        return f'<table class="wikitable sortable">{caption}<tbody>{made}</tbody></table>'

    def items(self, block: str) -> str:
        made, depth = "", 0
        for line in block.split("\n"):
            stars = len(line) - len(line.lstrip("*#"))
            made += "<ul>" * (stars - depth) + "</ul>" * (depth - stars)
            made, depth = f"{made}<li>{self.inline(line[stars:].strip())}</li>", stars
        return made + "</ul>" * depth

    def inline(self, text: str) -> str:
        """Render links, emphasis and references within a line."""
        text = re.sub(r"<ref[^<>]*/>|<ref[^<>]*>.*?</ref>", _NOTE, text)
        text = html.escape(text, quote=False)
        text = re.sub(r"\[\[([^|\]]*)(?:\|([^\]]*))?\]\]", self._link, text)
        text = re.sub(r"\[(https?://\S+) ([^\]]*)\]", r'<a rel="mw:ExtLink" href="\1">\2</a>', text)
        text = re.sub("'''(.*?)'''", r"<b>\1</b>", text)
        text = re.sub("''(.*?)''", r"<i>\1</i>", text)
        note = '<sup class="mw-ref reference" typeof="mw:Extension/ref"><a href="#n">[1]</a></sup>'
        return text.replace(_NOTE, note)

    def _link(self, link: re.Match[str]) -> str:
        target, anchor = html.unescape(link[1]), link[2] or link[1]
        title, sharp, section = target.partition("#")
        href = f"./{quote(title.replace(' ', '_'))}{sharp}{quote(section)}"
        return f'<a rel="mw:WikiLink" href="{href}" title="{html.escape(title)}">{anchor}</a>'
