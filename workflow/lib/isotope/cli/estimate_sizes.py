"""How large a source will be, judged by its params before anything is fetched.

Files on this disk are counted, and the heads of WIT's shards and of dumps read; what is published
has its published size. `estimate_figures.csv` is the one table of what is measured, published and
assumed, and of what would measure it.
"""

import bz2
import csv
import io
import math
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from isotope.core.errors import MissingColumn
from isotope.core.grid import JUDGED, SIDES
from isotope.core.languages import is_spoken
from isotope.core.patterns import Stated, expand
from isotope.intake.tables import parquet_file
from isotope.params.acquire import Source
from isotope.params.crawl import Crawl
from isotope.params.links import sources
from isotope.params.pairs import DATA
from isotope.params.root import Params

GIB = 2**30
FIGURES = Path(__file__).with_name("estimate_figures.csv")
Files = Sequence[Stated]
# Of so many files of a kind so many bytes are read, unpacked, in pieces of so many packed ones.
_FILES, _BYTES, _PIECE = 8, 1 << 22, 1 << 12
_UNPACK = {".gz": lambda: zlib.decompressobj(31), ".bz2": bz2.BZ2Decompressor}
_BY_LINE = (".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".token")
_TEXT = (
    *("page_url", "page_title", "section_title", "hierarchical_section_title"),
    *("context_section_description", "context_page_description"),
)
_CAPTION = tuple(f"caption_{of}_description" for of in ("reference", "alt_text", "attribution"))
_PAGE = re.compile(r"<page>.*?</page>", re.DOTALL)
_HEADING = re.compile(r"^(?:<text[^>]*>)?==+[^=\n].*?==+\s*$", re.MULTILINE)
# Of a size, what is a mean and no sum.
_MEANS = ("picture", "fetched", "words")


@dataclass(frozen=True)
class Size:
    """Rows and bytes of a source and of the collection made of it.

    `rows` are WIT's or a table's, `pairs` those in the collection's language, `asking` its texts
    that look for their section; `picture` and `fetched` are the bytes of a picture as it is stored
    and on its way here, 0 where none is requested; `words` those of a text and of a caption.
    """

    texts: float
    images: float
    rows: float
    pairs: float
    upstream: float
    files: int
    picture: float
    fetched: float
    words: Mapping[str, float]
    asking: float = 0
    xml: float = 0
    sections: float = 0

    def __add__(self, other: "Size") -> "Size":
        """Return both sources together; words and bytes of a picture are those of the first."""
        names = [field.name for field in fields(self) if field.name not in _MEANS]
        return replace(self, **{name: getattr(self, name) + getattr(other, name) for name in names})

    def of_splits(self, side: str, splits: Sequence[str]) -> float:
        """Return the items of a side in some splits, `other` among them, as AToMiC has them."""
        whole: float = getattr(self, side)
        parts = {split: figure(f"split.{side}.{split}") for split in (*JUDGED, "other")}
        share, least = whole / sum(parts.values()), figure("split.fewest")
        held = {split: min(whole, max(share * n, least)) for split, n in parts.items()}
        held["other"] = max(0, whole - sum(held[split] for split in JUDGED))
        return sum(held.get(split, 0) for split in splits)


@cache
def figures() -> Mapping[str, Mapping[str, str]]:
    """Return the rows of `estimate_figures.csv` by their names: value, unit, basis and source."""
    with FIGURES.open(newline="", encoding="utf-8") as file:
        return {row["figure"]: row for row in csv.DictReader(file)}


def figure(name: str, of: str = "") -> float:
    """Return the value of a figure, of the first `name.PART` whose part the name `of` contains."""
    start = f"{name}."
    parts = (n for n in figures() if n.startswith(start) and n.removeprefix(start) in of)
    return float(figures()[next(parts, name)]["value"])


def sizes(params: Params) -> dict[str, Size]:
    """Return the size of each source of the collections that are built, unions' members alike.

    Raises:
        As `size_of`.
    """
    spoken = {
        s: params.collect[name].language for name in params.build for s in sources(params, name)
    }
    return {s: size_of(params.acquire[s], params.crawl.get(s), spoken[s]) for s in spoken}


def size_of(source: Source, crawl: Crawl | None, language: str) -> Size:
    """Return the size of a source, of whose texts those in a language are collected.

    Raises:
        MissingFile: a local pattern that matches nothing.
        MissingColumn: a shard of WIT whose header lacks a column that the workflow reads.
    """
    if source.generate:
        return _toy(source.generate.pages)
    listed = files_of(source)
    if "wit" in listed:
        return _with_side(_snapshot(listed, language), crawl)
    return _published(listed, crawl.pictures.part if crawl and crawl.pictures else "")


def files_of(source: Source) -> dict[str, list[Stated]]:
    """Return the files of each part of a source, those of local patterns one by one.

    Raises:
        MissingFile: a local pattern that matches nothing.
    """
    stated = source.stated().items()
    return {
        part: [each.stated for file in files for each in expand(file)] for part, files in stated
    }


def _toy(pages: int) -> Size:
    names = ("texts", "images", "rows", "pairs", "bytes", "xml")
    texts, images, rows, pairs, upstream, xml = (figure(f"toy.{name}") * pages for name in names)
    words, drawn = {side: figure(f"toy.words.{side}") for side in SIDES}, figure("toy.picture")
    return Size(texts, images, rows, pairs, upstream, 0, drawn, drawn, words, pairs, xml, texts)


def _snapshot(listed: Mapping[str, Files], language: str) -> Size:
    """Return the size of WIT's shards and of a dump, by the heads of those that are here."""
    shards, dumps = listed["wit"], listed.get("dump", [])
    of = {name: figure(name) for name in figures() if name.startswith(("wit.", "dump.", "words."))}
    wit, dump = _of_wit([*_heads(shards)], language), _of_dumps([*_heads(dumps)])
    of |= wit | dump
    if wit and dump:
        of["wit.texts_a_pair"] = wit["pages_a_pair"] * dump["sections_a_page"]
    rows = sum(map(bytes_of, shards)) / of["wit.row_bytes"]
    pairs, xml = rows * of["wit.in_language"], sum(map(bytes_of, dumps)) * of["dump.xml_a_byte"]
    sections = xml / of["dump.section_bytes"]
    texts = min(pairs * of["wit.texts_a_pair"], sections) if dumps else pairs
    stored = figure("picture.stored"), figure("picture.fetched")
    words = {side: of[f"words.{side}"] for side in SIDES}
    whole = (texts, rows * of["wit.images_a_row"], rows, pairs, *_upstream(listed), *stored, words)
    return Size(*whole, pairs * of["wit.texts_a_row"], xml, sections or texts)


def _of_wit(heads: Sequence[tuple[int, str]], language: str) -> dict[str, float]:
    """Return the figures of WIT that the heads of shards show; none where the language has no row.

    Raises:
        MissingColumn: a shard whose header lacks a column that the workflow reads.
    """
    csv.field_size_limit(1 << 24)
    tables = [csv.DictReader(io.StringIO(text), delimiter="\t", restval="") for _, text in heads]
    rows = [row for table in tables for row in table]
    needed = ("language", "image_url", *_TEXT, *_CAPTION)
    if missing := [name for row in rows[:1] for name in needed if name not in row]:
        raise MissingColumn("a shard of WIT", f"no column {missing[0]}", "give a shard of WIT")
    own = [row for row in rows if is_spoken(row["language"], language)]
    if not own:
        return {}
    texts = {tuple(row[name] for name in _TEXT) for row in own}
    words, captions = (
        sum(len((row[name] or "").split()) for row in own for name in columns)
        for columns in (_TEXT[1:], _CAPTION)
    )
    images = len({row["image_url"] for row in rows})
    return {
        "wit.row_bytes": sum(size for size, _ in heads) / len(rows),
        "wit.in_language": len(own) / len(rows),
        "wit.images_a_row": images / len(rows),
        "wit.texts_a_row": len(texts) / len(own),
        "pages_a_pair": len({row["page_url"] for row in own}) / len(own),
        "words.texts": words / len(own),
        "words.images": captions / images,
    }


def _of_dumps(heads: Sequence[tuple[int, str]]) -> dict[str, float]:
    """Return the figures of dumps that their heads show; none without an article."""
    plain = sum(len(text.encode()) for _, text in heads)
    pages = [page for _, text in heads for page in _PAGE.findall(text) if "<redirect" not in page]
    articles = [1 + len(_HEADING.findall(page)) for page in pages if "<ns>0</ns>" in page]
    if not articles:
        return {}
    return {
        "dump.xml_a_byte": plain / sum(size for size, _ in heads),
        "dump.section_bytes": plain / sum(articles),
        "sections_a_page": sum(articles) / len(articles),
    }


def _heads(files: Files) -> Iterator[tuple[int, str]]:
    """Yield the packed bytes and the whole lines of the heads of local files, the largest ones.

    None unless all are here; none of a damaged file, which parsing will refuse by name.
    """
    paths = [Path(file.url) for file in files]
    if not all(path.is_file() for path in paths):
        return
    for path in sorted(paths, key=lambda path: path.stat().st_size)[-_FILES:]:
        try:
            packed, head = _head(path)
        except (OSError, EOFError, zlib.error):
            continue
        lines = head if packed == path.stat().st_size else head[: head.rfind(b"\n") + 1]
        yield packed, lines.decode("utf-8", "replace")


def _head(path: Path) -> tuple[int, bytes]:
    """Return how many bytes of a file were unpacked, and what they are unpacked.

    Counted are those that `zlib` or `bz2` was given: the readers of `gzip` and `bz2` read ahead.
    """
    new, head = _UNPACK.get(path.suffix), bytearray()
    unpack = new and new()
    with path.open("rb") as file:
        while len(head) < _BYTES and (piece := file.read(_PIECE)):
            while unpack and new and piece:
                unpack = new() if unpack.eof else unpack
                head += unpack.decompress(piece)
                piece = unpack.unused_data.lstrip(b"\0")
            head += piece
        if unpack and not (unpack.eof or len(head) >= _BYTES):
            raise EOFError
        return file.tell(), bytes(head)


def _with_side(of: Size, crawl: Crawl | None) -> Size:
    """Return the size with pictures fetched by the crawl's `width` and stored by its `side_px`."""
    width, side = (crawl.width, crawl.side_px) if crawl else (None, None)
    pixels = (width or 0) ** 2 * figure("picture.height")
    fetched = min(of.fetched, pixels * figure("picture.thumbnail_pixel") or math.inf)
    own = fetched * figure("picture.webp", "thumbnail" if fetched < of.fetched else "")
    most = of.picture * (side / 256) ** figure("picture.by_side") if side else math.inf
    return replace(of, fetched=fetched, picture=min(own, most))


def _published(listed: Mapping[str, Files], pictures: str) -> Size:
    """Return the size of a data set that is no snapshot: a picture file is one picture, or many.

    Anybody's pictures and texts are counted by the rows of their tables: a text has a picture at
    least, and rows that have the pictures themselves one each.
    """
    files, data = listed.get(pictures, []), [Path(f.url) for f in listed.get(DATA, [])]
    stored, upstream = sum(map(bytes_of, files)), _upstream(listed)
    images = max(len(files), stored // figure("picture.fetched"))
    texts, rows = (upstream[0] - stored) / figure("wit.row_bytes"), sum(map(rows_of, data))
    if data and (rows or not any(path.suffix in _BY_LINE for path in data)):
        texts = max(rows, images) or texts
        images = texts if pictures == DATA or not images else images
    words = {side: figure(f"words.{side}") for side in SIDES}
    picture = stored / images if images else 0
    return Size(texts, images, texts, texts, *upstream, picture, 0, words, sections=texts)


def rows_of(path: Path) -> int:
    """Return about how many rows a table has: a line a row, or as Parquet says.

    None (0) of a file that is not here, is packed, or is no table.

    Raises:
        CorruptFile: as `intake.tables.parquet_file`.
    """
    if path.suffix == ".parquet" and path.is_file():
        with parquet_file(path) as file:
            return file.metadata.num_rows
    if path.suffix not in _BY_LINE or not path.is_file():
        return 0
    with path.open("rb") as file:
        head = file.read(_BYTES)
    return round(head.count(b"\n") * path.stat().st_size / max(1, len(head)))


def _upstream(listed: Mapping[str, Files]) -> tuple[float, int]:
    every = [file for files in listed.values() for file in files]
    return sum(map(bytes_of, every)), sum("://" in file.url for file in every)


def bytes_of(file: Stated) -> float:
    """Return the bytes of a file of `acquire`: as the params say, on this disk, or as published."""
    path = Path(file.url)
    if file.bytes is not None:
        return file.bytes
    return path.stat().st_size if path.is_file() else figure("file", file.url)
