"""How large a source will be, judged by its params before anything is fetched."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from isotope.cli import estimate_samples
from isotope.cli.estimate_samples import Sample
from isotope.core.grid import JOINT, JUDGED
from isotope.params.pairs import DATA
from isotope.params.resolve import expand_files

GIB = 2**30
# ASSUME the embedded encyclopedia keeps the proportions of its 400 pages: 3.9 sections, 1.55
# images, 1.65 associations, 1.5 judgements, 2.2 kB of XML and 10 kB of upstream files a page; of
# other sizes no measurement says.
_TOY = {"texts": 3.9, "images": 1.55, "associations": 1.65, "pairs": 1.5, "bytes": 10_000}
_TOY_XML, _TOY_ZIPPED = 2_200, 400
# ASSUME a text of the embedded encyclopedia has 60 words in its five fields and a caption 12; of
# Wikipedia 180 (a section has some 120) and 25; no paper says.
_TOY_WORDS, _WEB_WORDS = (60.0, 12.0), (180.0, 25.0)
# ASSUME a section takes 1,800 bytes of a dump's XML (enwiki: 90 GB, 50 M sections); no paper says.
_SECTION_XML = 1_800
# Of AToMiC's texts and images some are judged, and some ask or are asked in a split (Table 1).
_ATOMIC = {
    "texts": {"train": 3_002_458, "validation": 17_173, "test": 9_873, "other": 7_105_240},
    "images": {"train": 3_386_183, "validation": 16_131, "test": 8_605, "other": 7_608_283},
}
# Of a small collection a split has at least so many of each; ASSUME, no paper says.
_FEWEST = 100
# ASSUME bz2 makes a dump 4.5 times smaller (enwiki: 90 GB in 20 GB); no paper says.
_ZIPPED = 4.5
# AToMiC's judged pairs, all of English and of sections (Table 1), among WIT's 37.6 M rows (section
# 4.1), and its texts (Table 1) by pair. ASSUME other snapshots and other large languages are alike;
# no paper says.
_PAIRS = 4_401_903 + 17_801 + 9_873
_ONE_LANGUAGE = _PAIRS / 37_600_000
_TEXTS_A_PAIR = (3_002_458 + 17_173 + 9_873 + 7_105_240) / _PAIRS
# ASSUME 680 bytes a row (25 GB of tsv.gz) and 0.31 addresses of images a row, of which AToMiC found
# 0.29 alive (11.0 M, Table 1); the paper does not say how many it asked for.
_ROW_BYTES, _IMAGES_A_ROW = 680, 0.31
# ASSUME WIT's files have 2.5 GB (training) or 0.1 GB (others), a dump 20 GB, where the params do
# not say.
_UNTOLD = (("train.all", 2_500_000_000), ("wit_v1", 100_000_000), ("xml", 20_000_000_000))
# ASSUME a crawled picture is 16 kB of WebP at 256 px (on its hub AToMiC has 180 GB for 11 M) and
# 300 kB on its way here, or 4 kB and 4 kB when it is drawn here; the paper does not say.
_WEB_PICTURE, _DRAWN_PICTURE = (16_000, 300_000), (4_000, 4_000)
# ASSUME a thumbnail is two thirds as high as it is wide and takes a quarter of a byte a pixel on
# its way here (42 kB at 500 pixels), and never more than the original; no paper says.
_THUMBNAIL_HEIGHT, _THUMBNAIL_PIXEL = 2 / 3, 0.25
# ASSUME at another side it takes as much more as the photographs of OVEN's gallery do (42 kB at
# 256 px, 122 kB at 500, 302 kB at 880), and at its own size .88 of its JPEG, as COCO's do (.22 to
# 2.5 in four samples: docs/crawl.md); a thumbnail 1.6 times its JPEG of quality 87, as both do. No
# measurement of Wikipedia's pictures says.
_SIDE_PX, _BY_SIDE = 256, 1.6
_OF_ORIGINAL, _OF_THUMBNAIL = 0.88, 1.6


@dataclass(frozen=True)
class Size:
    """Rows and bytes of a source and of the collection made of it."""

    texts: int
    images: int
    associations: int
    pairs: int
    upstream: int
    dump: int
    xml: int
    files: int
    picture: int
    fetched_picture: int
    sections: int = 0
    wit_texts: int = 0
    text_words: float = _WEB_WORDS[0]
    caption_words: float = _WEB_WORDS[1]
    # The pictures of pairs, and of all judged items the share of each split; as in AToMiC if none.
    judged_images: int = 0
    by_split: Mapping[str, float] | None = None

    def of_side(self, side: str) -> int:
        """Return how many texts or images there are."""
        return self.texts if side == "texts" else self.images

    def words(self, side: str) -> float:
        """Return the words that BM25 reads of a text or an image."""
        return self.text_words if side == "texts" else self.caption_words

    def of_split(self, side: str, split: str) -> int:
        """Return the items of a side in a split, or in `other`."""
        whole, parts = self.of_side(side), _ATOMIC[side]
        if split == "other":
            return max(0, whole - sum(self.of_split(side, each) for each in JUDGED))
        if self.by_split:
            judged = self.wit_texts if side == "texts" else self.judged_images
            return min(whole, max(1, round(judged * self.by_split[split])))
        return min(whole, max(round(whole * parts[split] / sum(parts.values())), _FEWEST))

    def pool(self, side: str, splits: tuple[str, ...]) -> int:
        """Return the documents of a pool that some splits make; none is taken to be in several."""
        return sum(self.of_split(side, split) for split in splits if split not in JOINT)


def size(spec: Mapping[str, Any], pictures: str | None = None, language: str = "en") -> Size:
    """Estimate a source from its entry of `acquire`; local and published sizes are exact.

    Of local shards of WIT and dumps the first MiB is read (`estimate_samples`): what a row is, and
    which share is in `language`. `pictures` is the part whose files are pictures, of a data set
    that brought some along.

    Raises:
        MissingFile: a local pattern that matches nothing.
    """
    if "generate" in spec:
        pages = spec["generate"]["pages"]
        n = {name: round(each * pages) for name, each in _TOY.items()}
        rows = (n["texts"], n["images"], n["associations"], n["pairs"])
        dump = (_TOY_ZIPPED * pages, _TOY_XML * pages)
        more = (n["texts"], n["pairs"], *_TOY_WORDS)
        return Size(*rows, n["bytes"], *dump, 0, *_DRAWN_PICTURE, *more)
    listed = expand_files(spec["files"])
    sizes = {folder: sum(map(_bytes, files)) for folder, files in listed.items()}
    files = sum("://" in f["url"] for entries in listed.values() for f in entries)
    if "wit" not in listed:
        of = _published(sizes, len(listed.get(pictures or "", [])), pictures, files)
        return _of_rows(of, listed[DATA], pictures) if DATA in listed else of
    rows = sizes["wit"] // _ROW_BYTES
    zipped = sizes.get("dump", 0)
    xml = round(zipped * _ZIPPED)
    spoken = round(rows * _ONE_LANGUAGE) if rows > 1_000_000 else rows  # noqa: PLR2004
    images = round(rows * _IMAGES_A_ROW) if rows > 1_000_000 else rows  # noqa: PLR2004
    texts = round(spoken * _TEXTS_A_PAIR)
    counts = (texts, images, rows, spoken, sum(sizes.values()), zipped, xml, files)
    # A text of WIT shows 1.3 pictures: 3.4 M texts ask in AToMiC (section 4.2).
    asking = round(spoken / 1.3)
    whole = Size(*counts, *_WEB_PICTURE, xml // _SECTION_XML, asking)
    sample = estimate_samples.of_files(listed["wit"], listed.get("dump", []), language)
    return _sampled(whole, sample, sizes["wit"]) if sample else whole


def _sampled(of: Size, sample: Sample, zipped: int) -> Size:
    """Return the size of local files, by what a sample of them has."""
    rows = round(zipped / sample.row_bytes)
    spoken = rows * sample.in_language
    xml = round(of.dump * sample.xml_a_byte) if of.dump else 0
    sections = round(xml / sample.section_xml) if of.dump else of.sections
    pages = spoken * sample.pages_a_row
    texts = min(round(pages * sample.sections_a_page), sections) if of.dump else round(spoken)
    return replace(
        of,
        texts=texts,
        images=round(rows * sample.images_a_row),
        associations=rows,
        pairs=round(spoken),
        xml=xml,
        sections=sections,
        wit_texts=round(spoken * sample.texts_a_row),
        text_words=sample.text_words,
        caption_words=sample.caption_words * sample.in_language / sample.images_a_row,
        judged_images=round(rows * sample.judged_a_row),
        by_split=sample.by_split,
    )


def thumbnails(of: Size, width: int) -> Size:
    """Return the size of a source whose pictures are fetched as thumbnails, `width` in pixels."""
    each = round(width * width * _THUMBNAIL_HEIGHT * _THUMBNAIL_PIXEL)
    return replace(of, fetched_picture=min(of.fetched_picture, each))


def stored(of: Size, side_px: int | None, *, thumbnail: bool = False) -> Size:
    """Return the size of a source whose web pictures, 256 px so far, have another shorter side.

    None is their own size, that of an original or of a `thumbnail`.
    """
    own = of.fetched_picture * (_OF_THUMBNAIL if thumbnail else _OF_ORIGINAL)
    most = of.picture * (side_px / _SIDE_PX) ** _BY_SIDE if side_px else math.inf
    return replace(of, picture=round(min(own, most)))


def _published(sizes: Mapping[str, int], files: int, pictures: str | None, urls: int) -> Size:
    """Return the size of a data set that is no snapshot; a picture file is one picture, or many."""
    stored = sizes.get(pictures or "", 0)
    images = max(files, stored // _WEB_PICTURE[1])
    upstream = sum(sizes.values())
    texts = (upstream - stored) // _ROW_BYTES
    picture = stored // images if images else 0
    return Size(texts, images, texts, texts, upstream, 0, 0, urls, picture, 0)


def _of_rows(of: Size, data: Sequence[Mapping[str, Any]], pictures: str | None) -> Size:
    """Return the size of anybody's pictures and texts, by the rows of their tables.

    Data that can't be counted by lines has a text for each picture at least; rows that have the
    pictures themselves have one each. Lines that are not here are judged by their bytes.
    """
    rows = sum(estimate_samples.rows_of(Path(file["url"])) for file in data)
    if not rows and any(estimate_samples.is_by_line(Path(file["url"])) for file in data):
        return of
    texts = max(rows, of.images) or of.texts
    images = texts if pictures == DATA or not of.images else of.images
    return replace(of, texts=texts, images=images, associations=texts, pairs=texts)


def _bytes(file: Mapping[str, Any]) -> int:
    path = Path(file["url"])
    if "bytes" in file:
        return int(file["bytes"])
    if path.is_file():
        return path.stat().st_size
    return next((n for part, n in _UNTOLD if part in file["url"]), 0)
