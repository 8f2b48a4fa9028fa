"""The published AToMiC as a collection: its forms, and what a part of it becomes."""

import copy
import gzip
import io
import json
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from PIL import Image
from tests.crawls import crawl_of
from tests.pairs import of_atomic

from isotope.acquire.fetch import acquire
from isotope.core import sql, store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingColumn
from isotope.core.measures import score_cells
from isotope.core.schemas import FIVE_FIELDS, RUN
from isotope.core.schemas import PUBLISHED_IMAGES as IMAGES
from isotope.core.schemas import PUBLISHED_TEXTS as TEXTS
from isotope.crawl.pictures import crawl_pictures, list_pictures
from isotope.encode.shard import iter_texts
from isotope.index import bm25
from isotope.intake.relations import split_of
from isotope.params.acquire import DigestedSource
from isotope.params.crawl import Pictures
from isotope.params.pairs import Rows
from isotope.params.renamed import renamed
from isotope.params.resolve import filled
from isotope.parse.pairs import parse_pairs
from isotope.schemas.collect import IMAGES as COLLECTED
from isotope.schemas.release import PUBLISHED_QRELS as QRELS
from isotope.tabulate import tokens
from isotope.train.data import TrainingSource, write_rows

PARAMS = Path(__file__).parents[2] / "params"
SPLITS = ("train", "validation", "test")
URLS = {s: f"https://upload.wikimedia.org/wikipedia/commons/{s}.jpg" for s in SPLITS}
# The published ids are those of the addresses (RFC 4122, version 3).
PAIRS = {
    split: (f"projected-0000000{n}-000", str(uuid.uuid3(uuid.NAMESPACE_URL, URLS[split])))
    for n, split in enumerate(SPLITS, 1)
}
TREC = "{} Q0 {} 1\n"
# The column's name is misspelt in the published tables.
AUTHORS = (
    *("page_title", "section_title", "hierachy"),
    *("context_section_description", "context_page_description"),
)


def webp(n: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 3 + n), "red").save(out, "WEBP")
    return out.getvalue()


def text(split: str) -> dict[str, Any]:
    words = dict.fromkeys(("page_title", "section_title", "context_page_description"), split)
    ids = {"text_id": PAIRS[split][0], "page_url": "https://en.wikipedia.org/wiki/P"}
    lists = {"hierachy": ["P", split], "category": ["c"], "media": [PAIRS[split][1]]}
    return ids | words | lists | {"context_section_description": "words", "source_id": "s"}


def image(split: str) -> dict[str, Any]:
    ident = PAIRS[split][1]
    captions = {c: [f"{c} of {split}"] for c in IMAGES.names if c.startswith("caption_")}
    ids = {"image_url": URLS[split], "image_id": ident, "language": ["en"]}
    return captions | ids | {"image": webp(SPLITS.index(split))}


def table(rows: list[dict[str, Any]], schema: pa.Schema, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path)


def publish(root: Path, splits: tuple[str, ...] = SPLITS) -> Path:
    """Lay out a release with one pair a split, as Parquet."""
    for split in splits:
        table([text(split)], TEXTS, root / f"texts/{split}-00000-of-00001.parquet")
        table([image(split)], IMAGES, root / f"images/{split}-00000-of-00001.parquet")
        names = dict(zip(("text_id", "image_id"), PAIRS[split], strict=True))
        table([names | {"Q0": "Q0", "rel": 1}], QRELS, root / f"qrels/{split}.parquet")
    return root


def without_pixels(root: Path) -> None:
    for path in (root / "images").iterdir():
        rows = pq.read_table(path).drop_columns(["image"])
        pq.write_table(rows, path)


def acquired(root: Path, overlay: str = "atomic.yaml") -> tuple[Path, dict[str, Any]]:
    """Acquire a release by one of the project's own overlays."""
    told = yaml.safe_load((PARAMS / overlay).read_text())
    params = filled(told, {"root": str(root), "name": "again"})
    manifest = root.parent / "acquired/manifest.json"
    acquire(DigestedSource.of_spec(params["acquire"]["again"]), manifest, root.parent / "scratch")
    return manifest, params


def crawled(manifest: Path, params: Mapping[str, Any]) -> dict[str, Path]:
    """Take over the pictures as the crawl's rules do, in one shard."""
    spec = Pictures.of_plain(params["crawl"]["again"]["pictures"])
    folder = manifest.parent.parent / "crawl"
    out = {name: folder / f"{name}.parquet" for name in ("urls", "ledger", "pixels")}
    list_pictures(manifest, spec, 1, out["urls"])
    outputs = {k: out[k] for k in ("ledger", "pixels")}
    crawl_pictures(manifest, out["urls"], spec, crawl_of(), 0, outputs)
    return {k: out[k] for k in ("urls", "ledger")}


def collected(root: Path, overlay: str = "atomic.yaml") -> dict[str, pl.DataFrame]:
    """Acquire, crawl where the overlay does, and collect."""
    manifest, params = acquired(root, overlay)
    own = crawled(manifest, params) if "crawl" in params else {}
    return of_atomic(manifest, root.parent / "collected", own)


def pairs(made: Mapping[str, pl.DataFrame]) -> dict[str, tuple[str, str]]:
    rows = made["qrels"].select("split", "text_id", "image_id").rows()
    return {split: (text_id, image_id) for split, text_id, image_id in rows}


def test_a_published_release_is_a_collection(tmp_path):
    made = collected(publish(tmp_path / "root"))
    assert pairs(made) == PAIRS
    assert dict(made["texts"].select("text_id", "split").rows()) == {
        PAIRS[split][0]: split for split in SPLITS
    }
    sizes = made["images"].sort("height").select("split", "width", "height").rows()
    assert sizes == [("train", 4, 3), ("validation", 4, 4), ("test", 4, 5)]
    assert made["rejected"].is_empty()


def test_captions_stand_for_pictures_that_were_not_published(tmp_path):
    root = publish(tmp_path / "root")
    without_pixels(root)
    made = collected(root, "atomic-captions.yaml")
    assert pairs(made) == PAIRS
    assert made["images"]["sha256"].null_count() == 3
    captions = made["images"].filter(split="test")["caption_reference_description"].to_list()
    assert captions == [["caption_reference_description of test"]]


def test_a_table_without_pictures_is_named_before_anything_is_crawled(tmp_path):
    root = publish(tmp_path / "root")
    without_pixels(root)
    manifest, params = acquired(root)
    with pytest.raises(MissingColumn, match=r"test-00000.*no column of pictures.*atomic-captions"):
        crawled(manifest, params)
    assert not (tmp_path / "crawl/urls.parquet").exists()


def test_published_values_are_taken_as_they_are(tmp_path):
    """Nothing is trimmed, an empty text is no NULL, and no suffix tells what a picture is."""
    root = publish(tmp_path / "root")
    said = {"section_title": "", "context_page_description": "", "page_url": " p ", "source_id": ""}
    said |= {"context_section_description": "  two  words\n", "hierachy": ["A / B", "", " C"]}
    own = text("train") | said | {"category": [], "text_id": "other-x-1"}
    row = image("train") | {"language": ["de", "", "en"], "image_id": "not of the address"}
    row |= {"caption_reference_description": [" a ", "", ""]}
    table([text("train"), own], TEXTS, root / "texts/train-00000-of-00001.parquet")
    table([row], IMAGES, root / "images/train-00000-of-00001.parquet")
    judged = {"text_id": own["text_id"], "image_id": row["image_id"], "Q0": "Q0", "rel": 1}
    table([judged], QRELS, root / "qrels/train.parquet")
    made = collected(root, "atomic-captions.yaml")
    assert made["rejected"].is_empty()
    told = made["texts"].filter(text_id=own["text_id"]).row(0, named=True)
    names = ("source_text_id", "hierarchy", "page_id", "language", "split")
    assert [told[name] for name in names] == ["", "A / B /  /  C", None, "en", "train"]
    same = [name for name in TEXTS.names if name not in ("source_id", "hierachy")]
    assert {name: told[name] for name in same} == {name: own[name] for name in same}
    assert set(made["texts"]["page_id"]) == {None, 1, 2, 3}
    shown = made["images"].filter(image_id=row["image_id"]).row(0, named=True)
    same = [name for name in IMAGES.names if name != "image"]
    assert {name: shown[name] for name in same} == {name: row[name] for name in same}
    assert (shown["mime_type"], shown["width"], shown["sha256"]) == (None, None, None)
    assert made["images"].columns == COLLECTED.names


def test_a_crawled_picture_is_webp_whatever_its_address_says(tmp_path):
    made = collected(publish(tmp_path / "root"))
    assert set(made["images"]["mime_type"]) == {"image/webp"}
    assert {url.rpartition(".")[2] for url in made["images"]["image_url"]} == {"jpg"}


def test_a_list_with_grades_counts_before_others_and_then_the_greater(tmp_path):
    root = publish(tmp_path / "root", ("test",))
    ids = " 0 ".join(PAIRS["test"])
    for name, grades in (("a.test", (1,)), ("b.test", (1, 2)), ("c.test", (0,))):
        other = f"projected-00000009-000 0 {PAIRS['test'][1]} {grades[-1]}\n"
        (root / f"qrels/{name}.trec").write_text(f"{ids} {grades[0]}\n{other}")
    (root / "qrels/test.parquet").unlink()
    made = collected(root, "atomic-captions.yaml")
    # Two lists say 1, one of them with grades; the third says 0.
    assert made["qrels"]["relevance"].to_list() == [1]
    reasons = made["rejected"].group_by("reason").len().sort("reason").rows()
    assert reasons == [("judged_again", 1), ("unknown_text", 3)]


def test_the_kind_of_earlier_versions_is_the_form_and_a_line_names_it(root, capsys):
    """Kind `atomic` is read for one version more."""
    told = (root / "params/atomic.yaml").read_text()
    new = filled(yaml.safe_load(told), {"root": "r", "name": "n"})
    old = copy.deepcopy(new)
    old["collect"]["n"] = {"kind": "atomic", "source": "n"}
    renamed(old)
    assert old == new
    assert capsys.readouterr().err == (
        "params collect.n: `kind: atomic` is now `kind: pairs, form: atomic`\n"
    )


@pytest.mark.parametrize("key", ["data", "columns", "keep", "languages", "splits"])
def test_what_the_form_says_of_rows_is_not_said_beside_it(tmp_path, key):
    manifest, _ = acquired(publish(tmp_path / "root"))
    said = {"data": "x", "columns": {"text": "t"}, "keep": {"text": ["t"]}}
    said |= {"languages": {"t": "de"}, "splits": {"test": 0.5}}
    spec = Rows.of_spec({"form": "atomic", key: said[key]})
    out = {name: tmp_path / f"{name}.parquet" for name in ("pairs", "rejected")}
    with pytest.raises(BadParams, match=f"'{key}' beside the form atomic"):
        parse_pairs(manifest=manifest, spec=spec, parts=["judgements"], **out)


def test_one_split_alone_is_a_collection(tmp_path):
    made = collected(publish(tmp_path / "root", ("validation",)))
    assert pairs(made) == {"validation": PAIRS["validation"]}
    assert made["filters"].rows() == [("read", "validation", 1, 0, 1)]


def test_a_split_that_is_searched_and_not_judged_is_named_with_those_that_are(tmp_path):
    collected(publish(tmp_path / "root", ("validation",)))
    run = tmp_path / "small/test/t2m/random.parquet"
    store.write_rows([], run, RUN)
    with pytest.raises(EmptyTable, match=r"no judgement in split 'test'; set search.* validation"):
        list(score_cells([run], tmp_path / "collected/qrels.parquet", {}))


def test_judgements_of_splits_that_were_not_fetched_are_counted_and_kept_aside(tmp_path):
    root = publish(tmp_path / "root")
    for path in [*root.glob("texts/t*"), *root.glob("images/t*")]:
        path.unlink()
    made = collected(root)
    assert pairs(made) == {"validation": PAIRS["validation"]}
    assert made["filters"].select("step", "split", "dropped", "after").rows() == [
        ("read", "train", 0, 1),
        ("unknown_text", "train", 1, 0),
        ("read", "validation", 0, 1),
        ("read", "test", 0, 1),
        ("unknown_text", "test", 1, 0),
    ]
    assert made["rejected"].select("reason", "detail").sort("detail").rows() == [
        ("unknown_text", PAIRS["train"][0]),
        ("unknown_text", PAIRS["test"][0]),
    ]


def test_a_picture_that_is_null_costs_its_own_pairs_and_no_other(tmp_path):
    root = publish(tmp_path / "root")
    path = root / "images/test-00000-of-00001.parquet"
    table([image("test") | {"image": None}], IMAGES, path)
    made = collected(root)
    assert set(pairs(made)) == {"train", "validation"}
    ledger = pl.read_parquet(tmp_path / "crawl/ledger.parquet").filter(status="not_an_image")
    assert ledger["error"].to_list() == ["no bytes: the picture is NULL"]
    # The picture itself, and its judgement.
    found = made["rejected"].select("file", "reason", "detail").rows()
    assert found == [
        (name, "not_an_image", URLS["test"]) for name in ("images", "judgements/test.parquet")
    ]


def test_an_address_that_is_null_is_named_with_its_row(tmp_path):
    root = publish(tmp_path / "root")
    path = root / "images/test-00000-of-00001.parquet"
    table([image("test"), image("train") | {"image_url": None}], IMAGES, path)
    manifest, params = acquired(root)
    with pytest.raises(CorruptFile, match=r"test-00000.*row 2: image_url is NULL"):
        crawled(manifest, params)


@pytest.mark.parametrize("directions", [("t2i",), ("i2t",), ("t2i", "i2t")])
def test_trec_qrels_are_read_in_either_direction(directions, tmp_path):
    root = publish(tmp_path / "root")
    shutil.rmtree(root / "qrels")
    (root / "qrels").mkdir()
    for split, pair in PAIRS.items():
        for direction in directions:
            ids = pair if direction == "t2i" else pair[::-1]
            name = f"qrels.atomic.{split}.{direction}.trec.gz"
            (root / "qrels" / name).write_bytes(gzip.compress(TREC.format(*ids).encode()))
    assert pairs(collected(root)) == PAIRS


@pytest.mark.parametrize(
    ("name", "content", "error", "told"),
    [
        (
            "all.qrels",
            TREC.format(*PAIRS["test"]),
            BadParams,
            "all.qrels: .*the name does not tell",
        ),
        ("test.qrels", "one two\n", CorruptFile, r"test\.qrels:1.*query 0 document relevance"),
        ("dev.parquet", "x", CorruptFile, r"dev\.parquet: not a whole .parquet file"),
    ],
)
def test_judgements_that_can_not_be_read_are_named(name, content, error, told, tmp_path):
    root = publish(tmp_path / "root")
    (root / "qrels" / name).write_text(content)
    with pytest.raises(error, match=told):
        collected(root)
    assert not list((tmp_path / "collected").glob("*.parquet"))


def test_parquet_judgements_without_a_column_are_named(tmp_path):
    root = publish(tmp_path / "root")
    pl.DataFrame({"text_id": ["a"], "rel": [1]}).write_parquet(root / "qrels/test.parquet")
    with pytest.raises(MissingColumn, match=r"test\.parquet: no column image_id among text_id"):
        collected(root)


def test_the_published_qrels_and_topics_give_the_published_numbers(shared, tmp_path):
    """AToMiC, Table 1, validation: 17,173 texts, 16,131 images, 17,801 qrels."""
    real = shared / "collections/atomic"
    files = {
        "judgements": sorted(str(p) for p in real.glob("qrels.*.trec.gz")),
        "image_topics": [str(real / "topics.atomic.validation.image-caption.jsonl.gz")],
        "text_topics": [str(tmp_path / "topics.jsonl")],
    }
    with gzip.open(real / "qrels.atomic.validation.t2i.trec.gz", "rt") as lines:
        ids = sorted({line.split()[0] for line in lines})
    (tmp_path / "topics.jsonl").write_text(
        "".join(f'{{"id": "{ident}", "title": "words"}}\n' for ident in ids) + "{broken\n"
    )
    manifest = tmp_path / "acquired/manifest.json"
    acquire(DigestedSource.of_plain({"files": files}), manifest, tmp_path / "scratch")
    of_atomic(manifest, tmp_path / "out")
    made = {t: tmp_path / f"out/{t}.parquet" for t in ("texts", "images", "qrels")}
    found = sql.query(sql.SQL / "tabulate/tables/table1.sql", made, {})
    assert found is not None
    told = found.filter(split="validation").row(0, named=True)
    assert (told["texts"], told["images"], told["qrels"]) == (17_173, 16_131, 17_801)
    captions = pl.read_parquet(made["images"]).filter(
        image_id="8ce0b1f0-8b08-3ed8-9719-c33b9608b122"
    )
    assert captions["caption_reference_description"][0][0].startswith("English: 2005 Holden")
    rejected = pl.read_parquet(tmp_path / "out/rejected.parquet")
    assert rejected.select("reason", "raw").rows() == [("bad_record", "{broken")]


def test_a_published_text_is_read_as_the_authors_encoder_reads_it(tmp_path):
    """TREC-AToMiC/AToMiC, examples/dense_retriever_baselines/encode.py: the five fields of the
    paper (section 5.1, footnote 14) joined by spaces, and so the names in the list `hierachy`.
    """
    row: dict[str, Any] = text("train") | {"hierachy": ["History", "Early years", "AC/DC"]}
    root = publish(tmp_path / "root")
    table([row], TEXTS, root / "texts/train-00000-of-00001.parquet")
    collected(root)
    texts, ids = tmp_path / "collected/texts.parquet", pl.Series([row["text_id"]])
    fields = [" ".join(row[f]) if f == "hierachy" else row[f] for f in AUTHORS]
    assert list(iter_texts(texts, ids, FIVE_FIELDS)) == [" ".join(fields)]
    contents = bm25.contents("texts", texts, language="en")
    assert contents.filter(id=row["text_id"])["contents"].item() == " ".join(fields)


def test_a_published_text_without_a_word_is_none_and_its_judgement_is_counted(tmp_path):
    root = publish(tmp_path / "root")
    wordless = {**text("train"), **dict.fromkeys(AUTHORS), "hierachy": [""]}
    table([wordless], TEXTS, root / "texts/train-00000-of-00001.parquet")
    made = collected(root)
    assert set(pairs(made)) == {"validation", "test"}
    assert PAIRS["train"][0] not in set(made["texts"]["text_id"])
    found = made["rejected"].select("reason", "detail").rows()
    assert sorted(found) == [("no_words", PAIRS["train"][0]), ("unknown_text", PAIRS["train"][0])]


def test_files_of_published_texts_travel_along(tmp_path):
    made = collected(publish(tmp_path / "root"))
    media = dict(made["texts"].select("text_id", "media").rows())
    assert media == {text_id: [image_id] for text_id, image_id in PAIRS.values()}


def test_a_training_and_table_2_read_a_hierarchy_as_the_encoder_does(tmp_path):
    collected(publish(tmp_path / "root"))
    folder = tmp_path / "collected"
    texts, images, qrels = (folder / f"{name}.parquet" for name in ("texts", "images", "qrels"))
    write_rows(TrainingSource(texts, images, qrels, [], "en"), "train", tmp_path / "rows")
    assert b'"train", "train", "P train", "words"' in (tmp_path / "rows").read_bytes()
    out = tmp_path / "tokens.parquet"
    tokens.count_tokens(texts, images, tokenizers={"clip": tokens.CLIP}, language="en", out=out)
    found = pl.read_parquet(out).filter(field="hierarchy")["tokens"]
    assert found.to_list() == tokens.counter(tokens.CLIP)([f"P {split}" for split in SPLITS])


# TREC's AToMiC track of 2023: NIST's names, topics of any split, grades.
TRACK = {
    "t2i": ("trec2023.yaml", "TREC-2023-Text-to-Image.json", "text_id"),
    "i2t": ("trec2023-promotion.yaml", "TREC-2023-Image-to-Text.json", "image_id"),
}


def track(root: Path, task: str, topics: list[dict[str, Any]], qrels: list[str]) -> Path:
    """Lay out what NIST publishes of a task beside a release."""
    _, name, _ = TRACK[task]
    (root / "trec2023").mkdir()
    (root / "trec2023" / name).write_text(json.dumps(topics))
    (root / f"trec2023/qrels.2023.{task}").write_text("".join(qrels))
    return root


@pytest.mark.parametrize("task", TRACK)
def test_a_tracks_topics_ask_whatever_their_split_was(tmp_path, task):
    """Of TREC's 200 topics 19 are training texts and 180 in no split; all are queries of `test`."""
    overlay, _, key = TRACK[task]
    own, other = (0, 1) if task == "t2i" else (1, 0)
    pairs = [PAIRS[split] for split in SPLITS]
    qrels = [
        f"{asking[own]} 0 {found[other]} {grade}\n"
        for asking in pairs[:2]
        for grade, found in enumerate(pairs)
    ]
    whole = {split: text(split) if task == "t2i" else {key: PAIRS[split][1]} for split in SPLITS}
    asked = [{k: v for k, v in whole[split].items() if k != "media"} for split in SPLITS]
    root = track(publish(tmp_path / "root"), task, asked, qrels)
    made = collected(root, overlay)
    judged = made["qrels"]
    assert set(judged["split"]) == {"test"}
    assert set(judged[key]) == {pair[own] for pair in pairs[:2]}
    assert sorted(judged["relevance"]) == [0, 0, 1, 1, 2, 2]
    assert made["rejected"].select("reason", "detail").rows() == [("unjudged", pairs[2][own])]
    assert len(made["images"]) == 3


def test_a_topic_that_the_tables_lack_brings_its_own_words(tmp_path):
    """Image suggestion needs images and topics, not ten million texts."""
    root = publish(tmp_path / "root")
    shutil.rmtree(root / "texts")
    asked = text("validation") | {"hierachy": ["Parts", "Sails"], "page_title": "Boat"}
    del asked["media"]
    blank = {"text_id": "projected-00000009-000"}
    qrels = [f"{t} 0 {PAIRS['train'][1]} 1\n" for t in (asked["text_id"], blank["text_id"])]
    made = collected(track(root, "t2i", [asked, blank], qrels), "trec2023.yaml")
    row = made["texts"].row(0, named=True)
    assert len(made["texts"]) == 1
    assert (row["text_id"], row["page_title"], row["split"]) == (asked["text_id"], "Boat", "test")
    assert "Sails" in row["hierarchy"]
    assert made["rejected"].select("reason", "detail").rows() == [
        ("unknown_text", blank["text_id"])
    ]


def test_a_picture_that_the_tables_lack_asks_by_its_captions(tmp_path):
    root = publish(tmp_path / "root", ("train",))
    asked = {k: v for k, v in image("test").items() if k != "image"}
    qrels = [f"{asked['image_id']} 0 {PAIRS['train'][0]} 2\n"]
    made = collected(track(root, "i2t", [asked], qrels), "trec2023-promotion.yaml")
    row = made["images"].filter(image_id=asked["image_id"]).row(0, named=True)
    key = "caption_reference_description"
    assert (row[key], row["split"]) == (asked[key], "test")
    assert made["qrels"]["relevance"].to_list() == [2]


@pytest.mark.parametrize(
    ("name", "split"),
    [("qrels.2023.t2i", "test"), ("qrels.2023.i2t.gz", "test"), ("qrels.2023.dev.t2i", None)],
)
def test_a_tracks_judgements_are_of_the_test_split(tmp_path, name, split):
    path = tmp_path / "trec2023" / name
    if split is None:
        assert split_of(path) == "validation"
    else:
        assert split_of(path) == split
    with pytest.raises(BadParams, match="does not tell"):
        split_of(tmp_path / "trec2023/qrels.t2i")
