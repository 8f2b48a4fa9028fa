"""What local shards of WIT and dumps hold, judged by the head of each file."""

import bz2
import csv
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.errors import MissingColumn
from isotope.core.grid import JUDGED
from isotope.core.languages import is_spoken
from isotope.intake.tables import parquet_file
from isotope.parse.wit import split_of

# Of so many files of a kind so many bytes are read.
_FILES, _BYTES = 8, 1 << 20
# Tables with a row a line.
_BY_LINE = (".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".token")
_FIELDS = (
    *("page_title", "section_title", "hierarchical_section_title"),
    *("context_section_description", "context_page_description"),
)
_CAPTIONS = (
    *("caption_reference_description", "caption_alt_text_description"),
    "caption_attribution_description",
)
_NEEDED = ("language", "page_url", "image_url", *_FIELDS, *_CAPTIONS)
_PAGE = re.compile(r"<page>.*?</page>", re.DOTALL)
_HEADING = re.compile(r"^(?:<text[^>]*>)?==+[^=\n].*?==+\s*$", re.MULTILINE)
_ROW_LIMIT = 1 << 24


class Sample(NamedTuple):
    """Of WIT: compressed bytes a row, the share of rows in the language and what these have
    (`judged_a_row`: pictures of these, a row of any).

    Of a dump: bytes of XML a byte of bz2, bytes of XML a section, sections a page.
    """

    row_bytes: float
    in_language: float
    images_a_row: float
    judged_a_row: float
    texts_a_row: float
    pages_a_row: float
    text_words: float
    caption_words: float
    by_split: Mapping[str, float]
    xml_a_byte: float = 4.5
    section_xml: float = 1_800.0
    sections_a_page: float = 6.0


def of_files(
    wit: Sequence[Mapping[str, Any]], dump: Sequence[Mapping[str, Any]], language: str
) -> Sample | None:
    """Return a sample of local files; none where the shards of WIT, or the dumps, are not here.

    Raises:
        MissingColumn: a shard whose header lacks a column that the workflow reads.
    """
    shards, dumps = ([Path(f["url"]) for f in files] for files in (wit, dump))
    if not shards or not all(path.is_file() for path in shards):
        return None
    heads = [_head_of_wit(path) for path in _largest(shards)]
    rows = [row for _, each in heads for row in each]
    own = [row for row in rows if is_spoken(row["language"], language)]
    if not own:
        return None
    words = sum(len(row[name].split()) for row in own for name in _FIELDS) / len(own)
    captions = sum(len(row[name].split()) for row in own for name in _CAPTIONS) / len(own)
    found = Sample(
        sum(size for size, _ in heads) / len(rows),
        len(own) / len(rows),
        len({row["image_url"] for row in rows}) / len(rows),
        len({row["image_url"] for row in own}) / len(rows),
        len({tuple(row[name] for name in ("page_url", *_FIELDS)) for row in own}) / len(own),
        len({row["page_url"] for row in own}) / len(own),
        words,
        captions,
        _by_split(shards),
    )
    here = [path for path in dumps if path.is_file()]
    return found._replace(**_of_dumps(here)) if here else found


def rows_of(path: Path) -> int:
    """Return about how many rows a table on this disk has: a line a row, or as Parquet says.

    None (0) of a file that is not here, is packed, or is no table.

    Raises:
        CorruptFile: as `intake.tables.parquet_file`.
    """
    if not path.is_file():
        return 0
    if path.suffix == ".parquet":
        with parquet_file(path) as file:
            return file.metadata.num_rows
    if path.suffix not in _BY_LINE:
        return 0
    with path.open("rb") as file:
        head = file.read(_BYTES)
    return round(head.count(b"\n") * path.stat().st_size / max(1, len(head)))


def is_by_line(path: Path) -> bool:
    """Tell whether a table has a row a line, by its name."""
    return path.suffix in _BY_LINE


def _largest(paths: Sequence[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: path.stat().st_size)[-_FILES:]


def _by_split(shards: Sequence[Path]) -> dict[str, float]:
    sizes: dict[str, int] = dict.fromkeys(JUDGED, 0)
    for path in shards:
        sizes[split_of(path)] += path.stat().st_size
    return {split: n / max(1, sum(sizes.values())) for split, n in sizes.items()}


def _head_of_wit(path: Path) -> tuple[float, list[dict[str, str]]]:
    """Return the compressed bytes of the first rows, and the rows; none of a damaged file."""
    with path.open("rb") as file:
        packed = file.read(_BYTES)
    try:
        plain = zlib.decompressobj(wbits=31).decompress(packed) if path.suffix == ".gz" else packed
    except zlib.error:
        # Parsing will refuse it by name.
        return 0.0, []
    whole = len(packed) == path.stat().st_size
    text = (plain if whole else plain[: plain.rfind(b"\n") + 1]).decode("utf-8", "replace")
    csv.field_size_limit(_ROW_LIMIT)
    rows = [*csv.DictReader(io.StringIO(text), delimiter="\t", restval="")]
    missing = [n for n in _NEEDED if rows and n not in rows[0]]
    if missing:
        raise MissingColumn(path, f"no column {missing[0]}", "give a shard of WIT")
    # The last row may be cut in the middle of a quoted field.
    rows = rows if whole else rows[:-1]
    return float(len(packed)), [{n: row[n] or "" for n in _NEEDED} for row in rows]


def _of_dumps(dumps: Sequence[Path]) -> dict[str, float]:
    packed = plain = pages = sections = 0
    for path in _largest(dumps):
        size, text = _head_of_dump(path)
        packed, plain = packed + size, plain + len(text.encode())
        for page in _PAGE.findall(text):
            if "<ns>0</ns>" in page and "<redirect" not in page:
                pages += 1
                sections += 1 + len(_HEADING.findall(page))
    if not pages:
        return {}
    return {
        "xml_a_byte": plain / packed,
        "section_xml": plain / sections,
        "sections_a_page": sections / pages,
    }


def _head_of_dump(path: Path) -> tuple[int, str]:
    """Return how many bytes were read, and what they say, stream after stream."""
    with path.open("rb") as file:
        packed = file.read(_BYTES)
    if path.suffix != ".bz2":
        return len(packed), packed.decode("utf-8", "ignore")
    parts: list[bytes] = []
    rest = packed
    while rest:
        unzip = bz2.BZ2Decompressor()
        try:
            parts.append(unzip.decompress(rest))
        except OSError:
            break
        rest = unzip.unused_data
    return len(packed), b"".join(parts).decode("utf-8", "ignore")
