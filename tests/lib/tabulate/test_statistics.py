"""Topics, objects, styles and subsets: counted, drawn and written."""

import re
from pathlib import Path
from typing import Any

import pytest

from isotope.core import sql, store
from isotope.core.errors import EmptyTable, MissingFile
from isotope.schemas.acquire import OBJECTS
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.tabulate import SUBSETS
from isotope.tabulate import figures, table
from isotope.tabulate.exhibits import described, recipe, write_exhibit
from isotope_toy import snapshot

SQL = sql.SQL / "tabulate"


@pytest.fixture
def relations(tmp_path):
    texts = [
        {"text_id": f"{n}", "page_id": n // 2, "language": "en", "split": "test"} for n in range(8)
    ]
    images = [{"image_id": f"i{n}", "image_url": f"u{n}", "split": "test"} for n in range(4)]
    boxes = [("u0", "cat"), ("u0", "cat"), ("u0", "dog"), ("u1", "cat"), ("u9", "cat")]
    objects = [{"image_url": url, "synset": name} for url, name in boxes]
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    store.write_rows(objects, tmp_path / "objects.parquet", OBJECTS)
    (tmp_path / "topics.csv").write_text(
        "wiki_db\tqid\tpid\tnum_outlinks\tSTEM.STEM*\tCulture.Media.Media*\n"
        "enwiki\tQ1\t0\t9\t0.501\t0.9\n"
        "enwiki\tQ2\t1\t9\t0.500\t0.7\n"
        "dewiki\tQ3\t2\t9\t0.999\t0.9\n"
        "enwiki\tQ4\t3\t9\t0.100\t0.8\n"
        "enwiki\tQ5\t77\t9\t0.999\t0.9\n"
    )
    (tmp_path / "styles.csv").write_text("image_id,style\ni0,photo\ni1,photo\ni2,map\ni3,logo\n")
    suffix = {"topics": "csv", "styles": "csv"}
    names = ("texts", "images", "objects", "topics", "styles")
    return {n: tmp_path / f"{n}.{suffix.get(n, 'parquet')}" for n in names}


def rows(name, relations, reads, **params):
    chosen = {r: relations[r] for r in reads}
    return table.rows(SQL / f"tables/{name}.sql", chosen, params).rows()


def test_a_page_counts_for_each_topic_surely_predicted_in_its_own_wiki(relations):
    found = rows("categories", relations, ("texts", "topics"), probability=0.5, tail=0.0)
    assert found == [("Media", 3, 3, 0.6), ("STEM", 1, 1, 0.2), ("none", 1, 1, 0.2)]


def test_categories_below_the_threshold_are_others_and_a_page_counts_once_there(relations):
    found = rows("categories", relations, ("texts", "topics"), probability=0.05, tail=0.9)
    assert [row[:3] for row in found] == [("others", 6, 3), ("none", 1, 1)]
    assert [share for *_, share in found] == pytest.approx([6 / 7, 1 / 7], abs=1e-6)


# Some of the 64 topics of Wikimedia's predictions, and the names that AToMiC's section 4.2 gives to
# the three largest categories of Fig. 2: "regions (30.2%), Sports (12.3%), and STEM (10.1%)".
CATEGORIES = {
    "Regions": [
        *("Geography.Regions.Africa.Eastern_Africa", "Geography.Regions.Americas.North_America"),
        *("Geography.Regions.Asia.Asia*", "Geography.Regions.Europe.Europe*"),
        "Geography.Regions.Oceania",
    ],
    "STEM": ["STEM.Biology", "STEM.Libraries_&_Information", "STEM.STEM*"],
    "Sports": ["Culture.Sports"],
    "Geographical": ["Geography.Geographical"],
    "Visual arts": ["Culture.Visual_arts.Visual_arts*"],
    "Women": ["Culture.Biography.Women"],
}


def test_regions_and_stem_are_one_category_each_as_in_fig_2(relations):
    topics = [topic for of in CATEGORIES.values() for topic in of]
    head = "\t".join(["wiki_db", "qid", "pid", "num_outlinks", *topics])
    sure = "\t".join("0.9" for _ in topics)
    relations["topics"].write_text(f"{head}\nenwiki\tQ1\t0\t9\t{sure}\n")
    found = rows("categories", relations, ("texts", "topics"), probability=0.5, tail=0.0)
    assert {label: pages for label, _, pages, _ in found} == dict.fromkeys(CATEGORIES, 1) | {
        "none": 3
    }
    assert sum(share for *_, share in found) == pytest.approx(1, abs=1e-5)


def test_the_tails_of_the_figures_are_the_papers():
    """Section 4.2: "less than 2.5% as others" (Fig. 2); 4.3: "less than 1% as others" (Fig. 3)."""
    figures = [described()[name] for name in ("categories", "styles")]
    assert [figure.constants["tail"] for figure in figures] == [0.025, 0.01]
    assert ["2.5%" in figures[0].caption, "1%" in figures[1].caption] == [True, True]


def test_a_part_of_just_the_threshold_stays(relations):
    """Both are "less than", so 2.5 % itself is no tail."""
    found = rows("categories", relations, ("texts", "topics"), probability=0.5, tail=0.2)
    assert [label for label, *_ in found] == ["Media", "STEM", "none"]


def test_objects_count_by_instance_and_by_image_of_the_collection_alone(relations):
    found = rows("objects", relations, ("images", "objects"), tail=0.3)
    assert found == [("cat", 3, 2, 0.75), ("others", 1, 1, 0.25)]


def test_images_without_objects_count_as_none_and_the_last_bar_is_open(relations):
    found = rows("object_counts", relations, ("images", "objects"), most=3)
    assert found == [
        ("instances", "0", 2, 0.5), ("instances", "1", 1, 0.25), ("instances", "3+", 1, 0.25),
        ("classes", "0", 2, 0.5), ("classes", "1", 1, 0.25), ("classes", "2", 1, 0.25),
    ]  # fmt: skip


def test_rare_styles_are_others(relations):
    found = rows("styles", relations, ("images", "styles"), tail=0.3)
    assert found == [("photo", 2, 0.5), ("others", 2, 0.5)]


def tabulate_facts(name, relations, *, folder):
    """Write the exhibit of a fact to a folder, as its entry says."""
    made = recipe(name, {k: str(v) for k, v in relations.items()}, {})
    write_exhibit(made, folder / name, folder / f"{name}.svg")


@pytest.mark.parametrize("name", ["categories", "objects", "object_counts", "styles"])
def test_every_fact_has_its_tables_and_a_figure_with_the_same_bytes_each_time(
    name, relations, tmp_path
):
    drawn = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        tabulate_facts(name, relations, folder=folder)
        assert all((folder / f"{name}.{s}").stat().st_size for s in ("csv", "md", "tex"))
        drawn.append((folder / f"{name}.svg").read_text())
    assert drawn[0] == drawn[1]
    assert "currentColor" in drawn[0]
    shares = (tmp_path / "a" / f"{name}.md").read_text()
    for share in re.findall(r"\d+\.\d%", shares):
        assert f"{share}<" in drawn[0]


def test_a_fact_that_says_nothing_of_the_collection_is_refused_before_any_table(
    relations, tmp_path
):
    (tmp_path / "styles.csv").write_text("image_id,style\nz,photo\n")
    with pytest.raises(EmptyTable, match="nothing to draw"):
        tabulate_facts("styles", relations, folder=tmp_path)
    assert not (tmp_path / "styles.md").exists()


def test_a_fact_that_is_not_there_is_named(relations, tmp_path):
    relations["styles"] = Path("gone.csv")
    with pytest.raises(MissingFile, match=r"gone\.csv"):
        tabulate_facts("styles", relations, folder=tmp_path)


def test_subsets_are_drawn_where_they_are_exact_and_the_others_named(tmp_path):
    cell = {"setting": "large", "split": "test", "system": "clip", "measure": "MAP", "queries": 3}
    points: list[dict[str, Any]] = [
        cell | {"task": task, "documents": n, "value": 0.5, "exact": exact}
        for task in ("t2m", "m2t")
        for n, exact in ((30, 0.288), (60, 1.0), (90, 1.0))
    ]
    points += [p | {"system": "bm25", "exact": p["exact"] - 0.2} for p in points]
    store.write_rows(points, tmp_path / "subsets.parquet", SUBSETS)
    given, chosen = {"subsets": tmp_path / "subsets.parquet"}, {"split": "test", "measure": "MAP"}
    figures.subsets(SQL / "tables/subsets_drawn.sql", given, chosen, tmp_path / "s.svg")
    drawn = (tmp_path / "s.svg").read_text()
    assert drawn.count(">60<") == drawn.count(">90<") == 2
    assert drawn.count(">30<") == drawn.count(">not drawn: exact for 28 %<") == 2
    query = SQL / "tables/subsets_drawn.sql"
    told = figures.read_points(query, given, chosen | {"systems": ["clip", "bm25"]})
    assert told.filter(task="t2m").select("system", "documents", "value").rows() == [
        ("clip", 30, None),
        ("clip", 60, 0.5),
        ("clip", 90, 0.5),
    ]


def test_subsets_without_an_exact_point_say_what_to_do(tmp_path):
    store.write_rows([], tmp_path / "subsets.parquet", SUBSETS)
    given, chosen = {"subsets": tmp_path / "subsets.parquet"}, {"split": "test", "measure": "MAP"}
    figures.subsets(SQL / "tables/subsets_drawn.sql", given, chosen, tmp_path / "s.svg")
    assert "raise search.depth" in (tmp_path / "s.svg").read_text()


def test_the_toy_knows_topics_and_views_of_each_of_its_articles(tmp_path):
    snapshot.write_topics(tmp_path, 30, 0)
    snapshot.write_views(tmp_path, 30, 0)
    pages = [line.split(",")[2] for line in (tmp_path / "topics.csv").read_text().splitlines()[1:]]
    viewed = [line.split(",")[0] for line in (tmp_path / "views.csv").read_text().splitlines()[1:]]
    assert pages == viewed == [str(1000 + 10 * n) for n in range(30)]
    snapshot.generate(tmp_path / "toy", pages=30, draw=False)
    for name in ("topics.csv", "views.csv"):
        assert (tmp_path / "toy" / name).read_bytes() == (tmp_path / name).read_bytes()
