"""A wiki read from a ZIM file, pictures included, is the one read from its XML and its uploads."""

import io
import json
from pathlib import Path

import polars as pl
import pytest
import yaml
from mwparserfromhtml.parse.const import NAMESPACES
from PIL import Image
from tests import snapshots
from tests.snapshots import Page, Wiki

from isotope.core.uploads import upload_url
from isotope_toy import snapshot as toy

pytestmark = pytest.mark.long
# The toy has a list beside every 80th page, and the first of them beside page 17.
PAGES, LISTS = 20, 1
TABLES = ("texts", "images", "qrels", "filters")
SOURCES = ("from-xml", "from-zim")
RUSSIAN = "in-russian"
BOTH = "in-both"
# A text says the first word of a line, the caption of its picture another form of it.
NOUNS = (
    *(("собака", "собаки"), ("кошка", "кошки"), ("корова", "коровы"), ("птица", "птицы")),
    *(("рыба", "рыбы"), ("книга", "книги"), ("машина", "машины"), ("школа", "школы")),
    *(("роза", "розы"), ("лампа", "лампы"), ("дорога", "дороги"), ("картина", "картины")),
)


def write_russian(path: Path) -> None:
    """A ZIM file of the Russian edition with an article and a picture a noun."""
    own = {number: name for name, number in NAMESPACES["ru"].items()}
    pages, images = list[Page](), dict[str, bytes]()
    for number, (word, caption) in enumerate(NOUNS):
        out = io.BytesIO()
        Image.new("RGB", (8, 8), (20 * number, 0, 0)).save(out, "PNG")
        images[f"{number}.png"] = out.getvalue()
        text = f"[[Файл:{number}.png|мини|{caption.title()}]]\nЖивёт {word}."
        pages.append(Page(number + 1, 0, f"Место {number}", text))
    wiki = Wiki("ru", {n: own[n] for n in (1, 6, 10, 14)})
    snapshots.write_zim(pages, path, wiki, images)


def params(upstream: Path) -> dict[str, object]:
    files = {
        "from-xml": {"dump": ["toywiki.xml"], "images": ["uploads.parquet"]},
        "from-zim": {"dump": ["wikipedia_en_toy_maxi_2023-01.zim"]},
        RUSSIAN: {"dump": ["wikipedia_ru_toy_maxi_2023-01.zim"]},
    }
    mode = {"mode": "exact-then-bm25", "k1": 0.9, "b": 0.4}
    halves = {"validation": 0.2, "test": 0.6}
    return {
        "build": [*SOURCES, RUSSIAN],
        "acquire": {
            name: {"files": {k: [str(upstream / f) for f in fs] for k, fs in parts.items()}}
            for name, parts in files.items()
        },
        "parse": {n: {"associations": "dump", "splits": halves} for n in [*SOURCES, RUSSIAN]},
        "crawl": {
            "from-xml": {"pictures": {"part": "images"}, "shards": 2},
            "from-zim": {"pictures": {"part": "dump"}, "shards": 2},
            RUSSIAN: {"pictures": {"part": "dump"}, "shards": 1},
        },
        "project": dict.fromkeys([*SOURCES, RUSSIAN], mode),
        "collect": {n: {"kind": "wikipedia", "source": n, "language": "en"} for n in SOURCES}
        | {RUSSIAN: {"kind": "wikipedia", "source": RUSSIAN, "language": "ru"}}
        | {BOTH: {"kind": "union", "of": ["from-xml", RUSSIAN]}},
        "search": {"systems": ["bm25"], "settings": ["small"], "splits": ["test"]},
        "score": {"measures": ["Success@1"]},
        "tabulate": {"system": "bm25", "facts": {}},
    }


@pytest.fixture(scope="module")
def collections(project, shell, tmp_path_factory) -> Path:
    """A project in which both were collected."""
    upstream, place = tmp_path_factory.mktemp("upstream"), project()
    toy.generate(upstream, pages=PAGES)
    pages = snapshots.pages_of(next((upstream / "dump").glob("*-multistream.xml.bz2")))
    images = {p.name.replace("_", " "): p.read_bytes() for p in upstream.glob("images/**/*.*g")}
    snapshots.write_export(pages, upstream / "toywiki.xml")
    zim = upstream / "wikipedia_en_toy_maxi_2023-01.zim"
    snapshots.write_zim(pages, zim, images=images, ids=True)
    urls = [upload_url(name) for name in images]
    table = pl.DataFrame({"image_url": urls, "image": list(images.values())})
    table.write_parquet(upstream / "uploads.parquet")
    (place / "overlay.yaml").write_text(yaml.safe_dump(params(upstream)))
    write_russian(upstream / "wikipedia_ru_toy_maxi_2023-01.zim")
    targets = [f"data/collect/{name}/texts.parquet" for name in SOURCES]
    targets.append("results/tables/from-xml/picture_words.csv")
    shell("snakemake", "--cores", "2", "--configfile", "overlay.yaml", "--", *targets, cwd=place)
    return place


@pytest.fixture(scope="module")
def with_russian(collections, shell) -> Path:
    """The project after the Russian edition, and both as one, were collected and scored."""
    targets = [f"results/score/{RUSSIAN}.parquet", f"results/tables/{BOTH}/intervals.parquet"]
    line = ("snakemake", "--cores", "2", "--configfile", "overlay.yaml", "--", *targets)
    shell(*line, cwd=collections)
    return collections


@pytest.mark.parametrize("name", TABLES)
def test_a_zim_file_gives_the_collection_of_its_xml_and_images(name, collections):
    xml, zim = (collections / f"data/collect/{s}/{name}.parquet" for s in SOURCES)
    assert pl.read_parquet(xml).height
    assert xml.read_bytes() == zim.read_bytes()


def test_its_pictures_enter_the_crawls_shards_and_ledger_under_the_same_addresses(collections):
    ledgers = [
        pl.read_parquet(collections / f"data/crawl/{s}/ledger.parquet").drop("fetched_at")
        for s in SOURCES
    ]
    assert ledgers[0].equals(ledgers[1])
    associated = pl.read_parquet(collections / "data/parse/from-zim/associations.parquet")
    crawled = ledgers[1].filter(status="success")["image_url"]
    assert set(crawled) & set(associated["image_url"])
    assert len(crawled) > PAGES
    shards = sorted((collections / "data/crawl/from-zim").glob("shard-*.parquet"))
    assert pl.concat([pl.read_parquet(p) for p in shards]).height == len(crawled)


def test_both_count_the_same_pages(collections):
    told = [
        json.loads((collections / f"data/parse/{s}/sections.counts.json").read_text())
        for s in SOURCES
    ]
    assert told[0] == told[1]
    assert told[0]["articles"] == PAGES + LISTS


def test_a_table_counts_by_wiki_what_no_word_explains(collections):
    table = pl.read_csv(collections / "results/tables/from-xml/picture_words.csv")
    (row,) = table.to_dicts()
    pictures = pl.read_parquet(collections / "data/parse/from-xml/pictures.parquet")
    assert (row["wiki"], row["words"], row["unread_pictures"]) == ("enwiki", "enwiki", 0)
    assert row["pictures"] == pictures["origin"].is_in(["link", "gallery"]).sum()


def test_the_road_is_open_to_another_language(with_russian):
    """Every caption is a form of a word of its text, which only Russian's analyzer can tell."""
    texts = pl.read_parquet(with_russian / f"data/collect/{RUSSIAN}/texts.parquet")
    assert set(texts["language"]) == {"ru"}
    assert set(texts["section_title"]) == {"Введение"}
    assert set(texts["page_url"].str.head(30)) == {"https://ru.wikipedia.org/wiki/"}
    scores = pl.read_parquet(with_russian / f"results/score/{RUSSIAN}.parquet")
    assert scores.height > 4
    assert set(scores["task"]) == {"t2m", "m2t"}
    assert set(scores["value"]) == {1.0}


def test_two_editions_are_one_collection_that_is_scored_by_language(with_russian):
    folders = {n: with_russian / "data/collect" / n for n in ("from-xml", RUSSIAN, BOTH)}
    texts, images, qrels = (
        {n: pl.read_parquet(folder / f"{table}.parquet") for n, folder in folders.items()}
        for table in ("texts", "images", "qrels")
    )
    for table in (texts, images, qrels):
        assert table[BOTH].height == table["from-xml"].height + table[RUSSIAN].height > 0
    intervals = pl.read_parquet(with_russian / f"results/tables/{BOTH}/intervals.parquet")
    own = intervals.filter(kind="language", task="t2m")
    names = {"en": "from-xml", "ru": RUSSIAN}
    queries = {k: qrels[n].filter(split="test")["text_id"].n_unique() for k, n in names.items()}
    counts = dict(own.filter(split="test").select("stratum", "queries").rows())
    assert counts == {**queries, "macro": sum(queries.values())}
    value = dict(own.filter(split="test").select("stratum", "value").rows())
    # No caption has its text's very word in the Russian edition, and no stem joins them here.
    assert value["en"] > value["ru"] == 0


def test_a_later_collection_takes_vectors_and_indexes_from_the_earlier_one(collections, shell):
    later = {
        "models": {"hash": {"kind": "hash", "dim": 8}},
        "encode": {"after": {"from-zim": "from-xml"}},
        "search": {"settings": ["large"]},
    }
    (collections / "later.yaml").write_text(yaml.safe_dump(later))
    folders = [collections / f"data/encode/{name}/hash" for name in SOURCES]
    overlays = ("--configfile", "overlay.yaml", "later.yaml", "--")
    vectors = "data/encode/from-zim/hash/texts/shard-00000.npy"
    index = collections / "data/index/from-zim/large/bm25/all"
    wanted = (vectors, "data/index/from-zim/large/bm25")
    shell("snakemake", "--cores", "2", *overlays, *wanted, cwd=collections)
    told = (collections / "logs/encode_shard/from-zim/hash/00000.log").read_text()
    texts = pl.read_parquet(collections / "data/collect/from-zim/texts.parquet").height
    assert f"{texts} of {texts} vectors reused" in told
    for name in ("texts", "images"):
        for suffix in ("npy", "ids.parquet", "contents.parquet"):
            one, other = (f / name / f"shard-00000.{suffix}" for f in folders)
            assert one.read_bytes() == other.read_bytes()
    log = (collections / "logs/index_bm25/from-zim/bm25.log").read_text()
    for side in ("texts", "images"):
        assert f"{side} copied from data/index/from-xml/large/bm25/all/{side}" in log
        assert (index / side / "index.json").is_file()
