"""Pages speak of a collection in words that fit its origin, and leave out what says nothing."""

import re
import shutil
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from lxml import html
from tests import report_project

from isotope.collect.kinds.pairs import Pairs
from isotope.collect.kinds.union import Union
from isotope.collect.kinds.wikipedia import Wikipedia
from isotope.core import sql, store
from isotope.core.schemas import CAPTION_FIELDS, FIVE_FIELDS
from isotope.params.collect import CollectionKind
from isotope.params.pairs import Columns
from isotope.report.collection import leader
from isotope.report.content import read_exhibits
from isotope.report.words import WORDS, telling
from isotope.schemas.collect import TEXTS
from isotope.schemas.tabulate import TOKENS
from isotope.tabulate.table import read_table, tabulate, write_table

OF_WIKIPEDIA = re.compile(
    "Wikipedia|isotope of AToMiC|[Ss]ections? of articles|image URL|its page"
    "|context section|page title|caption reference"
)
NUMBER_WORDS = {"setting": "small", "split": "test", "measure": "R@10", "level": "95%"}


def prose(page: Path) -> str:
    """What a page says, without styles, markup, and the titles of works that are cited."""
    text = re.sub(r"<(style|script|pre|cite).*?</\1>", "", page.read_text(), flags=re.DOTALL)
    return re.sub(r"<[^>]*>", " ", text)


@pytest.fixture(scope="module")
def own_site(report_root, tmp_path_factory) -> Path:
    """The site of a collection of one's own pictures and texts."""
    root = tmp_path_factory.mktemp("own") / "root"
    shutil.copytree(report_root, root)
    return report_project.build(root, origin="own")


def test_pages_of_own_data_say_nothing_of_wikipedia(own_site):
    pages = sorted((own_site / "toy").rglob("*.html"))
    assert {"index.html", "collection.html", "cite.html", "cases.html"} <= {p.name for p in pages}
    said = {page.name: OF_WIKIPEDIA.findall(prose(page)) for page in pages}
    assert {name: found for name, found in said.items() if found} == {}
    assert "A collection of your own pictures and texts" in prose(own_site / "toy/index.html")
    assert "What became of the pictures" in prose(own_site / "toy/collection.html")


def test_a_case_of_a_text_without_a_title_is_called_by_its_words(report_root, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(report_root, root)
    texts = root / "data/collect/toy/texts.parquet"
    bare = pl.read_parquet(texts).with_columns(
        page_title=pl.lit(None, pl.String), section_title=pl.lit(None, pl.String)
    )
    store.write(bare.to_arrow().cast(TEXTS), texts, TEXTS)
    site = report_project.build(root, origin="own") / "toy"
    page = (site / "cases.html").read_text()
    words = " ".join(bare["context_section_description"].drop_nulls())
    links = dict(re.findall(r'<h3><a href="cases/(.*?)\.html">(.*?)</a>', page))
    of_texts = {name: said for name, said in links.items() if name.startswith("t2m")}
    assert of_texts
    for name, said in of_texts.items():
        assert unescape(said).rstrip("…").strip() in words
        assert said.split()[0] in prose(site / f"cases/{name}.html")
    assert not [said for said in links.values() if not said.strip()]


def test_where_random_is_first_no_system_is_said_to_lead(report_root, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(report_root, root)
    table = root / "results/tables/toy/table3"
    scores = read_table(table.with_suffix(".arrow"))
    best = leader(scores, "small", "test").system
    write_table(scores.with_columns(pl.col("system").replace(best, "random")), table)
    site = report_project.build(root, origin="own")
    said = "no system is ahead of chance"
    assert said in prose(site / "toy/index.html")
    assert said in prose(site / "index.html")
    assert said not in prose(site / "toy/collection.html")


def test_systems_that_are_called_like_numbers_lead_and_stand_in_tables_by_their_names(
    report_root, tmp_path
):
    root = tmp_path / "root"
    shutil.copytree(report_root, root)
    table = root / "results/tables/toy/table3"
    called = dict(zip(report_project.SYSTEMS, ("2023", "1e5", "007"), strict=True))
    scores = read_table(table.with_suffix(".arrow")).with_columns(pl.col("system").replace(called))
    write_table(scores, table)
    site = report_project.build(root, origin="own")
    page = html.parse(site / "toy/systems.html")
    names = page.xpath('//section[@id="table3"]//tbody//th[@scope="row"]')
    assert {name.text_content() for name in names} == {*called.values()}
    best = leader(scores, "small", "test").system
    assert all(f" {best} " in prose(site / name) for name in ("toy/index.html", "index.html"))


def test_pages_of_a_snapshot_say_what_its_texts_are(report_site):
    index, cite = (prose(report_site / f"toy/{name}.html") for name in ("index", "cite"))
    assert "An isotope of AToMiC" in index
    assert "Texts are sections of articles" in index
    assert "Texts of Wikipedia are under" in cite


def test_a_split_without_texts_and_pictures_has_no_strip(report_root, tmp_path):
    root = tmp_path / "root"
    shutil.copytree(report_root, root)
    table = root / "results/tables/toy/table1"
    sizes = read_table(table.with_suffix(".arrow"))
    empty = pl.when(pl.col("split") != "train").then(pl.col("texts", "images", "qrels"))
    write_table(sizes.with_columns(empty.otherwise(0)), table)
    index = (report_project.build(root, origin="own") / "toy/index.html").read_text()
    strips = re.findall(r'<div class="strip".*?</ul>', index, re.DOTALL)
    assert len(strips) == 2
    for strip in strips:
        assert "train" not in strip
        assert strip.count("<i ") == strip.count("<li>") > 0


def test_what_came_along_is_counted_in_pictures_and_has_no_urls_and_no_attempts(
    report_root, tmp_path
):
    root = tmp_path / "root"
    shutil.copytree(report_root, root)
    tables = root / "results/tables/toy"
    for table in tables.glob("crawl.*"):
        table.unlink()
    query = sql.SQL / "tabulate/tables/picture_files.sql"
    ledger = {"ledger": root / "data/crawl/src/ledger.parquet"}
    tabulate(query, ledger, {}, tables / "picture_files")
    page = prose(report_project.build(root, origin="own") / "toy/collection.html")
    assert "Pictures that came with the data, by what came of reading them" in page
    assert not re.findall(r"URLs?\b|attempts", page + (tables / "picture_files.md").read_text())


def test_of_files_that_came_along_those_count_that_are_pictures_or_are_called_so(tmp_path):
    statuses = {"1.png": "success", "2.PNG": "not_an_image", "3": "not_an_image", "4.svg": "svg"}
    statuses |= {f"page-{n}.html": "not_an_image" for n in range(7)}
    ledger = {
        "image_url": [*statuses],
        "status": [*statuses.values()],
        "bytes": [1] * len(statuses),
    }
    pl.DataFrame(ledger).write_parquet(tmp_path / "ledger.parquet")
    query = sql.SQL / "tabulate/tables/picture_files.sql"
    tabulate(query, {"ledger": tmp_path / "ledger.parquet"}, {}, tmp_path / "picture_files")
    table = pl.read_csv(tmp_path / "picture_files.csv")
    assert dict(table.select("status", "pictures").iter_rows()) == {
        **{"not_an_image": 2, "success": 1, "svg": 1}
    }
    assert table["share"].sum() == pytest.approx(1)


def test_the_fields_of_own_data_have_the_names_of_its_columns():
    roles = {*Columns.model_fields}
    assert {*WORDS["own"].fields.values()} <= roles
    assert {*WORDS["own"].fields} < {*FIVE_FIELDS, *CAPTION_FIELDS}


def test_every_kind_of_collection_has_words():
    kinds = {"wikipedia": Wikipedia, "union": Union, "pairs": Pairs}
    entries = [
        ({"kind": "wikipedia", "source": "s"}, "wikipedia"),
        ({"kind": "union", "of": ["a", "b"]}, "wikipedia"),
        ({"kind": "pairs", "data": "d"}, "own"),
        ({"kind": "pairs", "source": "s", "form": "coco"}, "published"),
        ({"kind": "pairs", "source": "s", "form": "atomic"}, "wikipedia"),
    ]
    for entry, origin in entries:
        assert kinds[str(entry["kind"])].of_spec(entry).origin == origin
        assert origin in WORDS
    assert CollectionKind.origin in WORDS
    for words in WORDS.values():
        assert {*words.tasks()} == {"t2m", "m2t"}


def exhibits(folder: Path, **tables: pl.DataFrame):
    for name, table in tables.items():
        write_table(table, folder / name)
    drawing = folder / "corpus_size.svg"
    drawing.write_text('<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    return read_exhibits(folder.iterdir(), NUMBER_WORDS)


def test_curves_of_one_point_and_single_strata_are_left_out(tmp_path):
    row = {"task": "t2m", "system": "bm25", "documents": 24, "value": 0.5}
    one = {"task": "t2m", "kind": "caption", "stratum": "present", "system": "bm25", "value": 0.5}
    macro = {**one, "stratum": "macro"}
    alone = exhibits(tmp_path, subsets=pl.DataFrame([row]), strata=pl.DataFrame([one, macro]))
    assert {*telling(alone, 1)} == set()
    assert {*telling(alone, 2)} == {"corpus_size"}
    # A pool has as many pictures as one task searches, and as many texts as the other.
    both = exhibits(tmp_path, subsets=pl.DataFrame([row, {**row, "task": "m2t", "documents": 72}]))
    assert "subsets" not in telling(both, 1)
    several = exhibits(
        tmp_path,
        subsets=pl.DataFrame([row, {**row, "documents": 12}]),
        strata=pl.DataFrame([one, {**one, "stratum": "absent"}, macro]),
    )
    assert {*telling(several, 1)} == {"subsets", "strata"}


def test_table_2_has_no_field_that_is_always_empty(tmp_path):
    rows = [
        {"side": "texts", "id": f"t{n}", "field": field, "tokenizer": "clip", "tokens": tokens}
        for field, tokens in (("page_title", None), ("context_section_description", 3))
        for n in range(2)
    ]
    pl.DataFrame(rows, schema_overrides={"tokens": pl.Int32}).write_parquet(tmp_path / "t.parquet")
    query = sql.SQL / "tabulate/tables/table2.sql"
    names = WORDS["own"].fields
    for own, field in (({}, "context_section_description"), (names, "text")):
        params = {"field_names": [*own], "field_words": [*own.values()]}
        tabulate(query, {"tokens": tmp_path / "t.parquet"}, params, tmp_path / "table2")
        assert pl.read_csv(tmp_path / "table2.csv")["field"].to_list() == [field]
    assert {"field", "tokens"} <= {*TOKENS.names}
