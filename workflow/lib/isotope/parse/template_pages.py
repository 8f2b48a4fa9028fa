"""The pass over a dump's templates: their pages and modules, and how often articles call each.

A dump has its Template: and Module: pages among its articles, in any place. So one pass collects
them, before articles are parsed with what they say. Shards write pieces; one job reads all pages
(`transclusion.reading`) and adds how often each is called.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree as ET

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.manifest import placed
from isotope.core.parallel import ordered_map
from isotope.core.progress import Progress, log
from isotope.core.schemas import schema
from isotope.core.store import Part, grouped
from isotope.parse import xml_dump
from isotope.parse.dump import export_tasks, is_export, tasks
from isotope.parse.site import MODULE, TEMPLATE, Site, normal_name, read_site
from isotope.parse.transclusion.known import UNKNOWN
from isotope.parse.transclusion.pages import TemplatePage, template_title
from isotope.parse.transclusion.reading import read_templates
from isotope.parse.xml_dump import Chunk, StreamSpan
from isotope.schemas.parse import CALLED_TEMPLATES

PAGES = schema(
    wiki=pa.string(),
    namespace=pa.int32(),
    title=pa.string(),
    redirect=pa.string(),
    text=pa.string(),
)
CALLS = schema(wiki=pa.string(), template=pa.string(), calls=pa.int64())
_PAGE, _PAGE_END = b"<page>", b"</page>"
_NAMESPACE = re.compile(rb"<ns>\s*(-?\d+)\s*</ns>")
_TITLE = re.compile(rb"<title>([^<]*)</title>")
# Titles and namespaces stand before the text: https://www.mediawiki.org/xml/export-0.11.xsd.
_HEAD_BYTES = 4096
# A call's name ends at its first argument, or at a comment, which is `&lt;` in XML.
_CALL = re.compile(rb"(?<!\{)\{\{([^{}|\n\[\]<>#]{1,255})")
_COMMENT = b"&lt;"
_ROWS = 1024
_MOST_COMMON = 5
_MISSING: Mapping[str, Any] = {
    **{"redirect_to": "", "shows": "", "pictures": [], "is_infobox": False},
    **{"prints": UNKNOWN, "known_by": "not in the dump"},
}


def collect_source(
    *, manifest: Path, template_pages: Path, calls: Path, part: Part, threads: int
) -> None:
    """Collect the templates of part (i, n) of the acquired part `dump`: see `collect`."""
    collect(placed(manifest, "dump"), template_pages, calls, threads, part)


def collect(
    files: Sequence[Path], template_pages: Path, calls: Path, workers: int, part: Part
) -> None:
    """Write PAGES and CALLS of part (i, n) of MediaWiki's exports; other files have no templates.

    Calls are those written in articles, in comments too; parser functions are none. The bytes of
    the outputs do not depend on `workers`.

    Raises:
        MissingFile, CorruptFile, TruncatedFile: as `xml_dump.batches` and `xml_dump.span_xml`.
    """
    called, progress = Counter[tuple[str, str]](), Progress("pages searched for templates")
    paths = [*filter(is_export, files)]
    cutters = [partial(export_tasks, path, _site(path)) for path in paths]
    with grouped(template_pages, PAGES) as rows:
        for table, counts, pages in ordered_map(
            collect_batch, tasks(paths, cutters, part), workers
        ):
            rows.add(table)
            called.update(counts)
            progress.add(pages)
    progress.finish()
    ordered = sorted(called.items(), key=lambda item: item[0])
    store.write_rows(
        [{"wiki": wiki, "template": name, "calls": n} for (wiki, name), n in ordered], calls, CALLS
    )


def _site(path: Path) -> Site:
    return read_site(path, xml_dump.decompress(path))


def collect_batch(
    task: tuple[Site, StreamSpan | Chunk],
) -> tuple[pa.Table, Counter[tuple[str, str]], int]:
    """Return PAGES, the calls by wiki and template, and the number of pages of one piece.

    A page that is no XML is left to the parser of articles, which rejects it with its reason.

    Raises:
        CorruptFile, TruncatedFile: the piece can't be unpacked.
    """
    site, batch = task
    xml = batch.xml if isinstance(batch, Chunk) else xml_dump.span_xml(batch)
    rows, names = list[dict[str, object]](), Counter[bytes]()
    pages = xml.split(_PAGE)[1:]
    for page in pages:
        namespace = _namespace(page[:_HEAD_BYTES], site)
        if namespace == 0:
            names.update(_CALL.findall(page))
        elif namespace in (TEMPLATE, MODULE):
            rows += _row(page, namespace, site)
    called = Counter[tuple[str, str]]()
    for raw, n in names.items():
        name = _called(_text(raw.partition(_COMMENT)[0]), site)
        if name:
            called[site.wiki, name] += n
    return pa.Table.from_pylist(rows, schema=PAGES), called, len(pages)


def _namespace(head: bytes, site: Site) -> int | None:
    number = _NAMESPACE.search(head)
    if number:
        return int(number[1])
    title = _TITLE.search(head)
    prefix, colon, _ = _text(title[1]).partition(":") if title else ("", "", "")
    if colon and prefix.lower() in site.prefixes:
        return TEMPLATE if prefix.lower() in site.namespaces.template else None
    return 0


def _row(page: bytes, namespace: int, site: Site) -> Iterator[dict[str, object]]:
    try:
        element = ET.fromstring(_PAGE + page[: page.rfind(_PAGE_END)] + _PAGE_END)
    except ET.ParseError:
        return
    redirect = element.find("redirect")
    to = "" if redirect is None else redirect.get("title", "")
    yield {
        "wiki": site.wiki,
        "namespace": namespace,
        "title": element.findtext("title", "").partition(":")[2],
        "redirect": to.partition("#")[0].partition(":")[2],
        "text": element.findtext("revision[last()]/text") or "",
    }


def _called(name: str, site: Site) -> str:
    prefix, colon, title = name.partition(":")
    is_prefixed = colon and normal_name(prefix) in site.namespaces.template
    return template_title(title if is_prefixed else name)


def _text(raw: bytes) -> str:
    return unescape(raw.decode("utf-8", "replace"))


def read_source(*, manifest: Path, table: Path, threads: int) -> None:
    """Collect and read the templates of the acquired part `dump`: see `read`."""
    files = placed(manifest, "dump")
    with store.scratch(table) as folder:
        pages, calls = folder / "pages.parquet", folder / "calls.parquet"
        collect(files, pages, calls, threads, store.UNDIVIDED)
        read(files, [pages], [calls], table)


def gather_source(
    *, manifest: Path, template_pages: Sequence[Path], calls: Sequence[Path], table: Path
) -> None:
    """Read what all parts collected of the acquired part `dump`: see `read`."""
    read(placed(manifest, "dump"), template_pages, calls, table)


def read(
    files: Sequence[Path], template_pages: Sequence[Path], calls: Sequence[Path], table: Path
) -> None:
    """Write schemas.CALLED_TEMPLATES: what each template of each wiki shows, and its calls.

    A template that articles call and the dump lacks has a row too.

    Raises:
        MissingFile, CorruptFile: as `read_site`.
    """
    sites = {site.wiki: site for site in map(_site, filter(is_export, files))}
    counts = pl.concat([pl.read_parquet(piece, glob=False) for piece in calls])
    with grouped(table, CALLED_TEMPLATES) as rows:
        for wiki, site in sorted(sites.items()):
            templates = with_calls(
                read_templates(_pages(template_pages, wiki), site),
                counts.filter(pl.col("wiki") == wiki),
            )
            rows.add(templates.to_arrow().cast(CALLED_TEMPLATES))
            for line in summary(templates):
                log.info("%s: %s", wiki, line)
    if not sites:
        log.info("no MediaWiki export among the files: their HTML shows what templates print")


def with_calls(templates: pa.Table, calls: pl.DataFrame) -> pl.DataFrame:
    """Add `uses` to the templates of a wiki, and a row for each that is called and not there.

    `calls` are rows of CALLS. A name with a colon that is no template's is a parser function.
    """
    counts = calls.group_by("wiki", "template").agg(pl.col("calls").sum().alias("uses"))
    table = cast(pl.DataFrame, pl.from_arrow(templates))
    missing = counts.join(table, on="template", how="anti").filter(
        ~pl.col("template").str.contains(":", literal=True)
    )
    empty = {name: pl.lit(default) for name, default in _MISSING.items()}
    with_uses = table.join(counts, on=["wiki", "template"], how="left", maintain_order="left")
    both = [
        with_uses,
        missing.with_columns(**empty).select(with_uses.columns).cast(cast(Any, with_uses.schema)),
    ]
    return pl.concat(both).with_columns(pl.col("uses").fill_null(0)).sort("template")


def _pages(pieces: Sequence[Path], wiki: str) -> Iterator[TemplatePage]:
    progress = Progress("templates read")
    for piece in pieces:
        with pq.ParquetFile(piece) as file:
            for batch in file.iter_batches(_ROWS, columns=PAGES.names):
                for row in batch.to_pylist():
                    if row.pop("wiki") == wiki:
                        yield TemplatePage(**row)
                        progress.add()
    progress.finish()


def summary(templates: pl.DataFrame) -> Iterator[str]:
    """Yield a line for each way in which templates are known: how many, their share of the calls.

    Of those that are unknown the most called ones are named.
    """
    total = max(int(templates["uses"].sum()), 1)
    how = pl.col("known_by").str.split(":").list.first()
    for (known_by,), rows in sorted(templates.group_by(how)):
        called = int(rows["uses"].sum())
        first = rows.filter(pl.col("prints") == UNKNOWN).top_k(_MOST_COMMON, by="uses")
        named = ", ".join(f"{name} ({n:,})" for name, n in first.select("template", "uses").rows())
        share = f"{len(rows):,} templates, {called / total:.1%} of {total:,} calls"
        yield f"{known_by}: {share}{'; ' + named if named else ''}"
