"""A release is what others load: published columns, TREC files, Croissant, ir_datasets."""

import gzip
import hashlib
import io
import json
import logging
from collections import Counter
from pathlib import Path

import mlcroissant
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from ir_datasets.formats import JsonlDocs, JsonlQueries, TrecQrels
from ir_datasets.util import GzipExtract
from PIL import Image
from tests import releases

from isotope.core import runs, sql, store
from isotope.core.schemas import CAPTION_FIELDS, RUN, STRINGS
from isotope.parse.wit import parse_wit
from isotope.release import collection, manifest
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.schemas.score import SCORES, SIGNIFICANCE

PUBLISHED_TEXTS = [
    *("text_id", "page_url", "page_title", "section_title", "context_page_description"),
    *("context_section_description", "media", "hierachy", "category", "source_id"),
]
PUBLISHED_IMAGES = ["image_url", "image_id", "language", *CAPTION_FIELDS, "image"]
SHARE = "This file is licensed under the Creative Commons Attribution-Share Alike 3.0 licence."


class Local:
    """A file where ir_datasets expects a download."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def path(self, force: bool = True) -> str:
        return str(self._path)

    def stream(self):
        return self._path.open("rb")


def webp() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3), "red").save(out, "WEBP")
    return out.getvalue()


def image(n: int, split: str, *attributions: str) -> dict:
    k = len(attributions)
    lists = {name: [f"{name} {i}" for i in range(k)] for name in CAPTION_FIELDS[:2]}
    lists |= {"language": ["en"] * k, CAPTION_FIELDS[2]: list(attributions)}
    return {"image_id": f"i{n}", "image_url": f"http://h/{n}.png", "split": split, **lists}


def text(n: int, split: str) -> dict:
    return {
        "text_id": f"projected-0000000{n}-000",
        "page_id": n,
        "page_title": f"Page {n}",
        "section_title": "Näme",
        "hierarchy": "Sights / Näme",
        "category": ["c"],
        "split": split,
        "source_text_id": "s",
        "media": ["A b.jpg"],
    }


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """A release of two pairs, with one run."""
    root = tmp_path_factory.mktemp("release")
    collected, shard = root / "collected", root / "shard-00000.parquet"
    texts = [text(1, "train"), text(2, "test"), text(3, "other")]
    images = [image(1, "train", SHARE), image(2, "test", "CC0", "CC0"), image(3, "other", "")]
    pairs = [(1, "train"), (2, "test")]
    qrels = [
        {"text_id": f"projected-0000000{n}-000", "image_id": f"i{n}", "relevance": 1, "split": s}
        for n, s in pairs
    ]
    pixels = [
        {"image_id": f"i{n}", "image_url": "u", "width": 4, "height": 3, "webp": webp()}
        for n in (1, 2, 3)
    ]
    linking = TEXTS.append(pa.field("media", STRINGS))
    store.write_rows(texts, collected / "texts.parquet", linking)
    store.write_rows(images, collected / "images.parquet", IMAGES)
    store.write_rows(qrels, collected / "qrels.parquet", QRELS)
    store.write_rows(pixels, shard, PIXELS)
    run = root / "runs/small/test/t2m/bm25.parquet"
    hit = {"query_id": "projected-00000002-000", "doc_id": "i2", "rank": 1, "score": 0.1}
    store.write_rows([hit], run, RUN)
    for name in ("one", "two"):
        collection.build(
            collection="toy",
            language="en",
            systems={"bm25": {"kind": "bm25", "k1": 0.9}},
            **{t: collected / f"{t}.parquet" for t in ("texts", "images", "qrels")},
            runs=[run],
            pixels=[shard],
            manifests=[],
            captions="en",
            facts=releases.facts("toy"),
            release=root / name,
        )
    return root / "one"


def test_the_columns_are_the_published_ones(out):
    for split in ("train", "validation", "test", "other"):
        assert pq.read_schema(out / f"texts/{split}.parquet").names == PUBLISHED_TEXTS
        assert pq.read_schema(out / f"images/{split}.parquet").names == PUBLISHED_IMAGES
    assert pq.read_schema(out / "qrels/test.parquet").names == ["text_id", "Q0", "image_id", "rel"]


def test_a_row_is_the_collections(out):
    row = pl.read_parquet(out / "texts/test.parquet").row(0, named=True)
    assert (row["media"], row["hierachy"]) == (["A b.jpg"], ["Sights", "Näme"])
    picture = pl.read_parquet(out / "images/test.parquet").row(0, named=True)
    assert picture["image_id"] == "i2"
    shown = Image.open(io.BytesIO(picture["image"]))
    assert (shown.format, shown.size) == ("WEBP", (4, 3))


def test_the_same_input_gives_the_same_bytes(out):
    names = sorted(p.relative_to(out) for p in out.rglob("*") if p.is_file())
    assert len(names) > 15
    assert all((out / n).read_bytes() == (out.parent / "two" / n).read_bytes() for n in names)


@pytest.mark.filterwarnings("ignore")
def test_mlcroissant_validates_the_description_and_loads_every_table(out, caplog):
    with caplog.at_level(logging.WARNING):
        dataset = mlcroissant.Dataset(str(out / "croissant.json"))
    assert dataset.metadata.ctx.issues.errors == set()
    loaded = {t: list(dataset.records(t)) for t in ("texts", "images", "qrels", "attributions")}
    assert {t: len(rows) for t, rows in loaded.items()} == {
        "texts": 3,
        "images": 3,
        "qrels": 2,
        "attributions": 3,
    }
    assert loaded["images"][0]["images/image"].size == (4, 3)
    assert {r["qrels/image_id"] for r in loaded["qrels"]} == {b"i1", b"i2"}


def test_ir_datasets_own_classes_load_documents_topics_and_qrels(out):
    docs = list(JsonlDocs(GzipExtract(Local(out / "images.jsonl.gz"))).docs_iter())
    assert [d.doc_id for d in docs] == ["i1", "i2", "i3"]
    assert docs[0].text.startswith("caption_reference_description 0")
    topics = JsonlQueries(GzipExtract(Local(out / "topics/test/t2m.jsonl.gz")))
    queries = list(topics.queries_iter())
    assert [(q.query_id, q.text) for q in queries] == [
        # As in the authors' JSON lines, a hierarchy's names have spaces between them.
        ("projected-00000002-000", "Page 2 Näme Sights Näme")
    ]
    qrels = TrecQrels(Local(out / "qrels/test/t2m.qrels"), {1: "the section carries the image"})
    assert [(q.query_id, q.doc_id, q.relevance) for q in qrels.qrels_iter()] == [
        ("projected-00000002-000", "i2", 1)
    ]


def test_beside_a_run_stands_ir_metadata_and_the_run_reads_back(out):
    path = out / "runs/small/test/t2m/bm25.trec.gz"
    told = yaml.safe_load((path.parent / "bm25.ir-metadata.yaml").read_text("utf-8"))
    assert told["tag"] == "bm25"
    assert told["data"]["test collection"]["name"] == "toy"
    assert told["method"]["retrieval"][0]["params"]["k1"] == 0.9
    assert runs.read_trec_run(path).rows() == [("projected-00000002-000", "i2", 1, 0.1)]


def test_every_image_has_its_licence_and_an_unknown_one_is_said_to_be_unknown(out):
    rows = pl.read_parquet(out / "attributions.parquet").select("attribution", "licence").rows()
    assert rows == [(SHARE, "CC BY-SA 3.0"), ("CC0", "CC0"), ("unknown", "unknown")]
    assert "| unknown | 1 |" in (out / "README.md").read_text()


@pytest.mark.parametrize(
    ("caption", "licence"),
    [
        ("Creative Commons Attribution 2.0", "CC BY 2.0"),
        ("© X / Wikimedia Commons / CC-BY-SA-3.0,2.5,2.0,1.0", "CC BY-SA 3.0"),
        ("Attribution-ShareAlike 4.0 International (CC BY-SA 4.0)", "CC BY-SA 4.0"),
        ("Creative Commons Attribution-NonCommercial-NoDerivs 2.0 Generic", "CC BY-NC-ND 2.0"),
        ("cc by-nc-sa", "CC BY-NC-SA"),
        ("Creative Commons CC0 1.0 Universal Public Domain Dedication", "CC0"),
        ("Deutsch: Foto. {{PD-old-70}}", "public domain"),
        ("GNU Free Documentation License 1.2 or CC BY-SA 3.0", "CC BY-SA 3.0"),
        ("Fair use in The Nanny", "fair use"),
        ("English: A fair user of CC Bycroft", "unknown"),
        ("released into the public domain by its author", "public domain"),
        ("GFDL", "GFDL"),
        ("This is a non-free poster", "fair use"),
        ("English: A public house", "unknown"),
    ],
)
def test_a_licence_is_read_from_the_caption(tmp_path, caption, licence):
    images = tmp_path / "images.parquet"
    store.write_rows([image(1, "test", caption)], images, IMAGES)
    found = sql.query(sql.SQL / "release/attributions.sql", {"images": images}, {})
    assert found is not None
    assert found["licence"].to_list() == [licence]


@pytest.mark.parametrize(
    ("url", "page"),
    [
        (
            "wikipedia/commons/0/05/A%28b%29.jpg",
            "https://commons.wikimedia.org/wiki/File:A%28b%29.jpg",
        ),
        ("wikipedia/en/thumb/a/ab/X.png/220px-X.png", "https://en.wikipedia.org/wiki/File:X.png"),
        ("wiktionary/fr/9/9d/x.png", "https://fr.wiktionary.org/wiki/File:x.png"),
        ("wikipedia/meta/9/9d/X.png", "https://meta.wikimedia.org/wiki/File:X.png"),
        ("elsewhere/X.png", ""),
    ],
)
def test_the_page_of_a_file_is_found_from_its_address(tmp_path, url, page):
    images = tmp_path / "images.parquet"
    row = image(1, "test", "x") | {"image_url": f"https://upload.wikimedia.org/{url}"}
    store.write_rows([row], images, IMAGES)
    found = sql.query(sql.SQL / "release/attributions.sql", {"images": images}, {})
    assert found is not None
    assert found["file_page"].to_list() == [page]


def test_real_attributions_name_no_licence_but_every_file_has_its_page(shared, tmp_path):
    wit = sorted((shared / "snapshots/raycharles/wit").glob("*.gz"))
    parse_wit(wit, out=tmp_path / "wit.parquet", rejected=tmp_path / "rejected.parquet")
    rows = pl.read_parquet(tmp_path / "wit.parquet").select(
        image_id=pl.col("image_url"), image_url=pl.col("image_url"), told=CAPTION_FIELDS[2]
    )
    images = rows.group_by("image_id", "image_url").agg(pl.col("told").alias(CAPTION_FIELDS[2]))
    images.write_parquet(tmp_path / "images.parquet")
    query = sql.SQL / "release/attributions.sql"
    found = sql.query(query, {"images": tmp_path / "images.parquet"}, {})
    assert found is not None
    assert Counter(found["licence"]) == {"unknown": 96}
    assert (found["attribution"] != "unknown").all()
    assert found["file_page"].str.starts_with("https://commons.wikimedia.org/wiki/File:").all()
    assert found["file_page"].str.ends_with(".jpg").sum() > 80


def test_every_line_of_json_is_one_object(out):
    lines = gzip.decompress((out / "texts.jsonl.gz").read_bytes()).decode().splitlines()
    assert [sorted(json.loads(line)) for line in lines] == [["doc_id", "text"]] * 3


def test_the_manifest_has_size_and_digest_of_every_file(out):
    about = json.loads((out / "manifest.json").read_text("utf-8"))
    assert about["languages"] == {"texts": "en", "images": "en"}
    listed = {each["path"]: (each["bytes"], each["sha256"]) for each in about["files"]}
    files = [path for path in out.rglob("*") if path.is_file() and path.name != "manifest.json"]
    found = {
        path.relative_to(out).as_posix(): (
            path.stat().st_size,
            hashlib.sha256(path.read_bytes()).hexdigest(),
        )
        for path in files
    }
    assert listed == found
    assert [*listed] == sorted(listed)


def test_the_scores_of_the_runs_come_by_query_by_cell_and_by_pair(tmp_path):
    cell = {"collection": "toy", "setting": "small", "split": "test", "task": "t2m"}
    scores = [
        {**cell, "system": "bm25", "query_id": f"q{n}", "measure": "MAP", "value": value}
        for n, value in enumerate((0.25, 1.0, 0.0))
    ]
    pair = {**cell, "measure": "MAP", "system": "bm25", "other": "rrf", "t": None, "p": 0.5}
    places = tmp_path / "scores.parquet", tmp_path / "significance.parquet"
    store.write_rows(scores, places[0], SCORES)
    store.write_rows([{**pair, "difference": 0.1, "p_bonferroni": 1.0}], places[1], SIGNIFICANCE)
    manifest.write_scores(*places, tmp_path / "out")
    folder = tmp_path / "out/scores"
    assert pl.read_parquet(folder / "queries.parquet").equals(pl.read_parquet(places[0]))
    assert (folder / "means.csv").read_text().splitlines() == [
        "setting,split,task,system,measure,queries,value",
        "small,test,t2m,bm25,MAP,3,0.416667",
    ]
    assert (folder / "significance.csv").read_text().splitlines() == [
        "setting,split,task,measure,system,other,difference,t,p,p_bonferroni",
        "small,test,t2m,MAP,bm25,rrf,0.1,,0.5,1.0",
    ]
