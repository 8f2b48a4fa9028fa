"""How large a source is, from its params, the heads of local files, and what is published."""

import bz2
import csv
import gzip
import json
import random
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.params import files
from isotope.params.acquire import Source
from isotope.params.crawl import Crawl
from isotope.params.root import Params
from isotope_estimate import doctor
from isotope_estimate.estimate import Machine
from isotope_estimate.sizes import TABLE, Bag, Row, figure, of_splits, size_of, sizes, together

ROOT = Path(__file__).parents[4]
WIKI = "enwiki-20221101"
COLUMNS = (
    *("language", "page_url", "image_url", "page_title", "section_title"),
    *(
        "hierarchical_section_title",
        "caption_reference_description",
        "caption_alt_text_description",
    ),
    *("caption_attribution_description", "context_page_description"),
    "context_section_description",
)


def with_crawl(params: Params, **keys: Any) -> Params:
    """Return params with these keys in the crawls of all sources."""
    crawls = {name: crawl.model_copy(update=keys) for name, crawl in params.crawl.items()}
    return params.model_copy(update={"crawl": crawls})


def enwiki(**crawl: Any) -> Bag:
    params = files.load([ROOT / "params/enwiki.yaml"], root=ROOT)
    return sizes(with_crawl(params, **crawl))[WIKI]


def of_files(pictures: str | None = None, **listed: Any) -> Bag:
    crawl_keys = {"pictures": {"part": pictures}} if pictures else {"side_px": 256}
    crawl = Crawl.of_plain({"shards": 1, **crawl_keys})
    return size_of(Source.of_plain({"files": listed}), crawl, "en")


def test_each_row_says_where_it_is_from_or_what_would_measure_it():
    with TABLE.open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    for row in rows:
        assert row["basis"] in ("measured", "published", "assumed")
        assert row["unit"]
        assert row["source"]
        assert min(float(row[name] or 0) for name in Row._fields[1:-1]) >= 0
    named = [
        path for row in rows for path in re.findall(r"(?:benchmarks|docs)/[\w/.]*\w", row["source"])
    ]
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_figure_of_a_name_goes_before_the_usual_one():
    assert figure("weights", "vit-l-14") > figure("weights", "vit-b-32") == figure("weights")
    assert figure("weights", "vidore/colpali") > figure("weights", "colbert")


def test_at_full_size_the_counts_are_near_the_papers():
    """AToMiC, Table 1, all splits and the others: texts, images and qrels."""
    texts = 3_002_458 + 17_173 + 9_873 + 7_105_240
    images = 3_386_183 + 16_131 + 8_605 + 7_608_283
    counts = enwiki()
    assert images < counts["image"] < 1.2 * images, "some addresses are dead"
    assert counts["pair"] == pytest.approx(4_401_903 + 17_801 + 9_873, rel=0.05)
    assert counts["text"] == pytest.approx(texts, rel=0.05)
    assert of_splits(counts, "texts", ["validation"]) == pytest.approx(17_173, rel=0.05)
    assert of_splits(counts, "images", ["validation"]) == pytest.approx(16_131, rel=0.3)
    assert of_splits(counts, "images", ["train", "validation", "test", "other"]) == counts["image"]


def test_local_and_published_sizes_are_exact(tmp_path):
    (tmp_path / "wit_v1.train.all.tsv.gz").write_bytes(b"x" * 6800)
    dump = {"url": "https://h/pages.xml.bz2", "bytes": 1_000}
    counts = of_files(wit=[str(tmp_path / "wit*.gz")], dump=[dump])
    assert (counts["byte"], counts["file"], counts["byte of a server"]) == (7_800, 1, 1_000)
    assert counts["pair"] == pytest.approx(10 * 0.11781)


@pytest.fixture
def local(tmp_path):
    """A shard of WIT and a dump: two rows in five are English; a page has three sections."""
    described = ("T", "S", "T", "a b", "", "c", "one two three")
    chance = random.Random(0)
    rows = [
        [language, f"https://{language}/{n}", f"https://u/{n}", *described, f"4 {chance.random()}"]
        for n in range(1_000)
        for language in ("en", "en", "de", "fr", "ru")
    ]
    text = "\n".join("\t".join(row) for row in [COLUMNS, *rows]) + "\n"
    (tmp_path / "wit_v1.train.all-0.tsv.gz").write_bytes(gzip.compress(text.encode()))
    page = "<page><ns>0</ns><text>lead\n== A ==\na\n== B ==\nb</text></page>"
    moved = "<page><ns>0</ns><redirect title='B' /><text>#REDIRECT</text></page>"
    pages = bz2.compress("\n".join([page, moved] * 2_000).encode())
    (tmp_path / "pages.xml.bz2").write_bytes(pages)
    return {"wit": [str(tmp_path / "wit*.gz")], "dump": [str(tmp_path / "pages.xml.bz2")]}


def test_local_files_are_counted_by_their_heads(local):
    part = of_files(**local)
    # Two rows in five are English; of pictures a row and texts a pair AToMiC's hold.
    counts = [part[unit] for unit in ("pair", "section", "image", "text")]
    assert counts == pytest.approx((2_000, 6_000, 0.31 * 5_000, 2.28795 * 2_000))


def test_a_row_of_another_wiki_counts_for_its_own_collection(local):
    source = Source.of_plain({"files": local})
    pairs_by_language = {
        language: size_of(source, None, language)["pair"] for language in ("en", "de", "xx")
    }
    assert pairs_by_language["en"] == pytest.approx(2 * pairs_by_language["de"])
    assert pairs_by_language["xx"] > 0, "of a language that the head lacks, as published"


def test_a_head_tells_of_a_file_that_is_many_times_as_long(local, monkeypatch):
    """Python 3.12 reads 128 KiB of a gzip file ahead, 3.11 8 KiB: of a head that is little."""
    complete = of_files(**local)
    monkeypatch.setattr("isotope_estimate.sizes._BYTES", 400_000)
    part = of_files(**local)
    for unit in ("pair", "byte of XML", "section"):
        assert part[unit] == pytest.approx(complete[unit], rel=0.3), unit


def test_a_file_of_many_members_is_read_as_one(local, tmp_path):
    complete = of_files(**local)
    for path, codec in ((next(tmp_path.glob("wit*.gz")), gzip), (tmp_path / "pages.xml.bz2", bz2)):
        text = codec.decompress(path.read_bytes())
        members = [text[start : start + 999] for start in range(0, len(text), 999)]
        path.write_bytes(b"".join(map(codec.compress, members)) + bytes(99))
    parts = of_files(**local)
    # Many members take more bytes, of which each row has its share.
    for unit in ("pair", "section", "byte of XML"):
        assert parts[unit] == pytest.approx(complete[unit]), unit


@pytest.mark.parametrize(
    "damaged",
    [b"\x1f\x8b damaged", gzip.compress(b"language\timage_url\n" * 99, mtime=0)[:-9], b""],
)
def test_a_damaged_shard_is_left_to_parsing(local, tmp_path, damaged):
    [shard] = tmp_path.glob("wit*.gz")
    shard.write_bytes(damaged)
    rows = len(damaged) / 680
    assert of_files(**local)["pair"] == pytest.approx(rows * 0.11781)


@pytest.mark.parametrize(
    ("settings", "kb"),
    [
        ({"side_px": 256}, 16),
        ({"side_px": 128}, 5.3),
        ({"side_px": 500}, 46.7),
        ({"side_px": None}, 264),
        ({"side_px": 16_000}, 264),
        ({"width": 500}, 16),
        ({"width": 500, "side_px": None}, 66.7),
        ({"width": 60}, 0.96),
    ],
)
def test_a_stored_picture_follows_its_side(settings, kb):
    """AToMiC's hub has 180 GB for 11 million pictures of 256 pixels: 16 kB each."""
    counts = enwiki(**settings)
    assert counts["byte stored"] / counts["image"] == pytest.approx(1000 * kb, rel=0.02)


@pytest.mark.parametrize(("side_px", "kb"), [(256, 41.7), (384, 80.6), (500, 122.2), (880, 301.6)])
def test_pictures_grow_with_their_side_as_the_photographs_of_ovens_gallery(side_px, kb):
    """The rows of docs/crawl.md."""
    row = re.search(r"\| OVEN's gallery.*", (ROOT / "docs/crawl.md").read_text())
    assert row
    assert f" {kb:.0f} |" in row[0]
    assert 41_700 * (side_px / 256) ** figure("picture.by_side") == pytest.approx(
        1000 * kb, rel=0.05
    )


def test_thumbnails_are_fetched_with_fewer_bytes_and_never_more_than_originals():
    originals = enwiki()
    small = enwiki(width=500)
    assert small["image"] == originals["image"]
    assert small["byte fetched"] < originals["byte fetched"] / 5
    assert enwiki(width=3840)["byte fetched"] == originals["byte fetched"]


def test_a_drawn_picture_takes_what_it_takes_at_any_side():
    toy = files.load([], root=ROOT)
    assert sizes(toy) == sizes(with_crawl(toy, side_px=None))


def test_a_data_set_that_brings_its_pictures_makes_no_request(tmp_path):
    for name, count in (("a.jsonl", 680_000), ("1.jpg", 5_000), ("2.jpg", 7_000)):
        (tmp_path / name).write_bytes(b"x" * count)
    counts = of_files("images", data=[f"{tmp_path}/a.jsonl"], images=[f"{tmp_path}/*.jpg"])
    assert (counts["text"], counts["image"], counts["byte stored"], counts["file"]) == (
        1_000,
        2,
        12_000,
        0,
    )
    assert (counts["request"], counts["byte fetched"]) == (0, 0)


def test_two_sources_together_have_the_rows_of_both():
    counts = enwiki()
    both = together(counts, counts | {"text": counts["text"] + 1})
    assert (both["text"], both["image"]) == (2 * counts["text"] + 1, 2 * counts["image"])
    assert together(counts)["no such unit"] == 0


# Anybody's pictures and texts.


def pairs(folder: Path, **entry: object) -> Params:
    """Return the params of a collection `mine` without models."""
    merged = {"kind": "pairs", "columns": {"image": "file", "text": "text"}, **entry}
    overlay = {"build": ["mine"], "collect": {"mine": merged}, "search": {"systems": ["bm25"]}}
    (folder / "mine.yaml").write_text(json.dumps({**overlay, "tabulate": {"system": "bm25"}}))
    return files.load([folder / "mine.yaml"], root=ROOT)


def captions(folder: Path, rows: int) -> Path:
    """Write a CSV file of so many captions."""
    lines = [f"{n % 50:03d}.jpg,A caption of this picture {n} ." for n in range(rows)]
    (folder / "captions.csv").write_text("\n".join(["file,text", *lines]) + "\n")
    return folder / "captions.csv"


def test_texts_are_the_rows_of_a_table_and_pictures_the_files_of_a_folder(tmp_path):
    (tmp_path / "pictures").mkdir()
    for n in range(50):
        (tmp_path / f"pictures/{n:03d}.jpg").write_bytes(bytes(1000))
    experiment = pairs(
        tmp_path, data=str(captions(tmp_path, 300)), pictures=str(tmp_path / "pictures")
    )
    counts = sizes(experiment)["mine"]
    assert counts["text"] == pytest.approx(300, rel=0.02)
    assert counts["image"] == 50


def test_rows_of_parquet_are_counted_and_without_pictures_each_has_one(tmp_path):
    pl.DataFrame({"file": ["a", "b"], "text": ["A .", "B ."]}).write_parquet(tmp_path / "a.parquet")
    counts = sizes(pairs(tmp_path, data=str(tmp_path / "a.parquet")))["mine"]
    assert (counts["text"], counts["image"]) == (2, 2)


def test_the_doctor_finds_a_table_that_is_not_there(tmp_path):
    machine = Machine(cores=2, gpu=False)
    absent = pairs(tmp_path, data=str(tmp_path / "gone.csv"), pictures="none")
    states = {f.subject: (f.state, f.detail) for f in doctor.findings(absent, machine)}
    assert states["source mine"][0] == "missing"
    assert "gone.csv" in states["source mine"][1]
    experiment = pairs(tmp_path, data=str(captions(tmp_path, 10)), pictures="none")
    states = {f.subject: f.state for f in doctor.findings(experiment, machine)}
    assert states["source mine"] == "ok"
