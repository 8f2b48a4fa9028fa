"""Sections of a collection: which have a picture, what their page is, and what is refused."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from workflow.plugins.isotope_suggest.tests.encyclopedia import Encyclopedia, Page, Section, world

from isotope.core.errors import EmptyTable, MissingFile
from isotope_suggest.schemas import SECTION_ROLES
from isotope_suggest.sections import describe_sections, learn_pages

LEAD, PROSE = Section(), Section("History", 6, 3_000)
BIRTHS = Section("Births", 0, 2_000, list_items=30)
PICTURED = replace(PROSE, files=["tower.jpg"])
WORLD = world(60)


def described(
    folder: Path, pages: Sequence[Page], *, of_pages: int = 100, books: Encyclopedia | None = None
) -> pl.DataFrame:
    """Describe the sections of these pages, which a small world follows."""
    books = books or Encyclopedia(folder, {"en": [*pages, *WORLD]})
    describe_sections(**books.inputs(maximum_usage=of_pages))
    return pl.read_parquet(folder / "sections.parquet")


def on(rows: pl.DataFrame, page: int) -> pl.DataFrame:
    return rows.filter(pl.col("page_id") == 1000 + page)


def test_every_text_has_its_row_with_what_the_outline_has(tmp_path: Path):
    section = replace(PROSE, list_items=2, table_rows=3, references=4, links=5, level=3)
    rows = described(tmp_path, [Page("A", [LEAD, section])])
    assert pq.read_schema(tmp_path / "sections.parquet").equals(SECTION_ROLES)
    texts = pl.read_parquet(tmp_path / "texts.parquet")
    assert rows["text_id"].to_list() == sorted(texts["text_id"])
    row = on(rows, 0).row(1, named=True)
    counts = ("list_items", "table_rows", "references", "links", "level", "characters", "place")
    assert [row[name] for name in counts] == [2, 3, 4, 5, 3, 3_000, 1]
    assert (row["heading"], row["sections"], row["language"]) == ("History", 2, "en")
    assert rows["probability"].is_between(0, 1).all()


KINDS = {
    "judged": Page("A", [LEAD, replace(PROSE, judged="test", files=["a.jpg"]), PICTURED, PROSE]),
    "boxed": Page("B", [LEAD, PROSE], box="portrait.jpg"),
    "heard": Page("C", [replace(PROSE, files=[f]) for f in ("a.ogg", "b.webm", "c.pdf", "d.svg")]),
    "1931": Page("1931", [LEAD, BIRTHS, BIRTHS]),
    "1931年の映画": Page("1931年の映画", [LEAD, BIRTHS, BIRTHS]),
    "1984 (novel)": Page("1984 (novel)", [LEAD, PROSE, PROSE]),
    "Winners": Page("Winners", [LEAD, Section("Results", 1, 2_000, table_rows=30), BIRTHS]),
    "Mill": Page("Mill", [LEAD, PROSE, BIRTHS]),
}


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    return described(tmp_path_factory.mktemp("kinds"), [*KINDS.values()])


def column(kinds: pl.DataFrame, name: str, page: str) -> list[str]:
    return on(kinds, [*KINDS].index(page))[name].to_list()


def test_a_section_is_judged_or_illustrated_or_open(kinds: pl.DataFrame):
    assert column(kinds, "role", "judged") == ["open", "judged", "illustrated", "open"]
    assert column(kinds, "split", "judged") == ["other", "test", "other", "other"]


def test_the_picture_of_an_infobox_illustrates_the_lead(kinds: pl.DataFrame):
    assert column(kinds, "role", "boxed") == ["illustrated", "open"]


def test_what_is_no_picture_illustrates_nothing(kinds: pl.DataFrame):
    assert column(kinds, "role", "heard") == ["open", "open", "open", "illustrated"]


@pytest.mark.parametrize(
    ("page", "page_class"),
    [
        *(("1931", "year"), ("1931年の映画", "year"), ("1984 (novel)", "article")),
        *(("Winners", "list"), ("Mill", "article")),
    ],
)
def test_a_page_of_lists_is_a_list_and_with_a_year_for_a_title_a_year(
    kinds: pl.DataFrame, page: str, page_class: str
):
    assert {*column(kinds, "page_class", page)} == {page_class}


def test_a_file_on_more_pages_than_the_params_allow_illustrates_none_of_them(tmp_path: Path):
    pages = [Page(f"P{n}", [LEAD, replace(PROSE, files=["flag.svg"])]) for n in range(4)]
    pages.append(Page("Twice", [replace(PROSE, files=["once.jpg", "once.jpg"])]))
    (tmp_path / "few").mkdir()
    few = described(tmp_path / "few", pages, of_pages=3)
    assert [on(few, n)["role"].to_list() for n in (0, 3, 4)] == [
        *([["open"] * 2] * 2),
        ["illustrated"],
    ]
    many = described(tmp_path, pages, of_pages=4)
    assert on(many, 0)["role"].to_list() == ["open", "illustrated"]


def test_what_wit_saw_illustrates_the_section_that_its_text_is_projected_to(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": [Page("Mill", [LEAD, PROSE, PROSE]), *WORLD]})
    books.project("en", 1000, 2)
    rows = described(tmp_path, [], books=books)
    assert on(rows, 0)["role"].to_list() == ["open", "open", "illustrated"]


def test_what_wit_saw_in_one_edition_illustrates_no_section_of_another(tmp_path: Path):
    editions = {"en": [Page("Mill", [LEAD, PROSE]), *WORLD], "de": [Page("Mühle", [LEAD, PROSE])]}
    books = Encyclopedia(tmp_path, editions, union=True)
    books.project("de", 1000, 1)
    rows = described(tmp_path, [], books=books).filter(page_id=1000)
    assert rows.filter(role="illustrated")["text_id"].to_list() == ["de-projected-00001000-001"]


def test_pages_of_one_number_in_two_languages_are_two_pages(tmp_path: Path):
    editions = {"en": [Page("Mill", [LEAD, PICTURED]), *WORLD], "de": [Page("Mühle", [LEAD])]}
    books = Encyclopedia(tmp_path, editions, union=True)
    rows = described(tmp_path, [], books=books).filter(page_id=1000)
    assert rows.select("text_id", "role", "sections").rows() == [
        ("de-projected-00001000-000", "open", 1),
        ("en-projected-00001000-000", "open", 2),
        ("en-projected-00001000-001", "illustrated", 2),
    ]


def test_where_topics_are_predicted_the_likeliest_is_the_class_of_a_page(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": [Page("Mill", [LEAD]), Page("Cell", [LEAD]), *WORLD]})
    head = "wiki_db,qid,pid,num_outlinks,Culture.Visual_arts.Architecture,STEM.Biology,STEM.Physics"
    books.predict([head, "enwiki,Q1,1000,9,0.5,0.4,0.45", "dewiki,Q1,1001,9,0.1,0.9,0.2"])
    rows = described(tmp_path, [], books=books)
    assert on(rows, 0)["page_class"].to_list() == ["Culture"]
    # Another wiki's page of this number says nothing about this one.
    assert on(rows, 1)["page_class"].to_list() == ["article"]


def test_kinds_of_pages_that_want_no_picture_come_out_low_beside_prose(tmp_path: Path):
    births = Section("Births", 0, 3_000, list_items=60, links=60)
    senses = Section("", 1, 300, list_items=8, links=8)
    sources = Section("References", 0, 100, list_items=2, links=0)
    bland = replace(births, heading="Qux")
    long = Section("History", 10, 3_500, references=10, links=10)
    pages = [
        Page("1931", [LEAD, births, births, sources]),
        Page("Mercury", [senses]),
        Page("Members of the house", [LEAD, bland, bland, bland]),
        Page("Mill", [LEAD, long, long, sources]),
    ]
    books = Encyclopedia(tmp_path, {"en": [*pages, *world(150, seed=4)]})
    rows = described(tmp_path, [], books=books)
    year, senses_page, members, mill = (on(rows, n)["probability"].to_list() for n in range(4))
    assert max(*year[1:], *senses_page, *members[1:], mill[-1]) < 0.25
    assert min(mill[1:3]) > 0.6


def test_what_stands_on_a_page_of_validation_or_test_is_not_learned_from(tmp_path: Path):
    def illustrated(page: Page) -> Page:
        return replace(page, sections=[replace(s, files=["x.jpg"]) for s in page.sections])

    held_out = [illustrated(p) if _is_held_out(p) else p for p in WORLD]
    assert sum(map(_is_held_out, WORLD)) > 5
    models = list[bytes]()
    for name, pages in (("as is", WORLD), ("illustrated", held_out)):
        (tmp_path / name).mkdir()
        described(tmp_path / name, [], books=Encyclopedia(tmp_path / name, {"en": pages}))
        models.append((tmp_path / name / "ought.json").read_bytes())
    assert models[0] == models[1]


def _is_held_out(page: Page) -> bool:
    return any(section.judged in ("validation", "test") for section in page.sections)


def test_links_of_captions_which_no_text_has_tell_nothing(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": WORLD})
    describe_sections(**books.inputs())
    without = pl.read_parquet(tmp_path / "sections.parquet")
    outline, placed = tmp_path / "en-outlines.parquet", tmp_path / "en-placed.parquet"
    is_shown = pl.col("text_id").is_in(pl.read_parquet(placed)["text_id"].implode())
    captioned = pl.when(is_shown).then(pl.col("links").list.concat(pl.lit(["Of a caption"])))
    pl.read_parquet(outline).with_columns(links=captioned.otherwise("links")).write_parquet(outline)
    describe_sections(**books.inputs())
    rows = pl.read_parquet(tmp_path / "sections.parquet")
    assert rows["links"].sum() > without["links"].sum()
    assert rows["probability"].equals(without["probability"])


def test_two_runs_write_the_same_bytes(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": WORLD})
    written = list[list[bytes]]()
    for _ in range(2):
        describe_sections(**books.inputs())
        names = ("sections.parquet", "ought.json")
        written.append([(tmp_path / name).read_bytes() for name in names])
    assert written[0] == written[1]


def test_of_very_many_sections_whole_pages_are_learned_from(tmp_path: Path):
    traits = _traits(tmp_path)
    rows = pl.read_parquet(traits)
    _, apart = learn_pages(traits, most=rows.height // 2)
    learned = rows.filter(pl.col("text_id").is_in(apart["text_id"].implode()))
    assert rows.height / 3 < learned.height < rows.height * 2 / 3
    whole_pages = rows.filter(pl.col("page_id").is_in(learned["page_id"].unique().implode()))
    assert whole_pages["text_id"].equals(learned["text_id"])


def _traits(folder: Path) -> Path:
    """Return a table in the form of suggest/traits.sql: sections of pages of four."""
    rng, n = np.random.default_rng(2), 400
    characters = rng.integers(100, 4_000, n)
    page = np.arange(n) // 4
    rows = pl.DataFrame(
        {"text_id": [f"t{i:03d}" for i in range(n)], "page_id": page, "characters": characters}
    ).with_columns(
        role=pl.Series(np.where(characters + rng.normal(0, 900, n) > 2_000, "illustrated", "open")),
        draw=pl.Series(rng.random(100)[page]),
        fold=pl.Series(page % 5),
        page_split=pl.lit("train"),
        heading=pl.lit("History"),
        page_class=pl.lit("article"),
        has_infobox=pl.lit(False),
        page_infobox=pl.lit(False),
        page_lists=pl.lit(0.0),
        page_digits=pl.lit(0.0),
        **{name: pl.lit(2) for name in ("place", "level", "lines", "references", "named_links")},
        **{name: pl.lit(0) for name in ("list_items", "table_rows")},
        sections=pl.lit(4),
        page_characters=pl.lit(9_000),
    )
    rows.write_parquet(folder / "traits.parquet")
    return folder / "traits.parquet"


def test_a_snapshot_without_an_outline_is_named_and_nothing_is_written(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": WORLD})
    (tmp_path / "en-outlines.parquet").unlink()
    with pytest.raises(
        MissingFile, match=r"en-outlines\.parquet: no outline .*run the phase parse"
    ):
        describe_sections(**books.inputs())
    assert not [*tmp_path.glob("*sections*"), *tmp_path.glob("ought*")]


def test_texts_that_the_outlines_lack_are_counted_and_the_first_is_named(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": WORLD})
    outline = tmp_path / "en-outlines.parquet"
    pl.read_parquet(outline).slice(2).write_parquet(outline)
    with pytest.raises(EmptyTable, match=r"no row of 2 .* texts, the first projected-00001000-000"):
        describe_sections(**books.inputs())
    assert not [*tmp_path.glob("*sections*"), *tmp_path.glob("ought*")]


def test_an_encyclopedia_without_pictures_teaches_nothing_and_says_so(tmp_path: Path):
    books = Encyclopedia(tmp_path, {"en": [Page(f"P{n}", [LEAD, PROSE]) for n in range(20)]})
    with pytest.raises(EmptyTable, match=r"training pages: 0 of \d+ sections have a picture"):
        describe_sections(**books.inputs())
    assert not [*tmp_path.glob("*sections*"), *tmp_path.glob("ought*")]
