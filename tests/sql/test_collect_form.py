"""The texts of a snapshot have the form of the published collection, field for field.

What is known of it: two texts and a picture that the authors' notebook prints (TREC-AToMiC/AToMiC,
notebooks/01_Basics_Browsing.ipynb, commit 5b295be3), whose pages are small here, of the same
outline and with the same files and categories; one sentence of their note on version v0.2.1 of the
texts; and AToMiC's Table 2, where the context of a page is empty in 19.21 % of the texts, which
leads are, and that of a section and the hierarchy never.
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.snapshots import Page, write_export
from tests.wikipedia import association

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect, collect_gather, collect_images, collect_texts
from isotope.core import lucene, sql, store
from isotope.core.schemas import FIVE_FIELDS
from isotope.encode.shard import iter_texts
from isotope.intake.relations import expand
from isotope.params.acquire import DigestedSource
from isotope.params.project import Project
from isotope.parse.dump import associate, parse_dump
from isotope.project import match
from isotope.release.collection import write_parquet
from isotope.schemas.collect import EXCHANGED, GATHERED, IMAGE_PIECES, READ_BY, TEXT_PIECES
from isotope.schemas.crawl import LEDGER, URLS
from isotope.schemas.parse import ASSOCIATIONS

PLANE, BUILDER = "Boeing EC-135", "John L. Anderson (shipbuilder)"
PORTRAIT = "https://upload.wikimedia.org/wikipedia/commons/0/00/Captain_John_L._Anderson.png"
MEDIA = [
    "Gen. Richard A. Ellis, Strategic Air Command, commander in chief, Boeing EC-135, "
    "Exercise Global Shield '79.jpg",
    "General view of looking glass aircraft in the project looking glass historic district. "
    "View to north. - Offutt Air Force Base, Looking Glass Airborne Command Post, "
    "Looking Glass Avenue HAER NE-9-A-5.tif",
    "EC-135 7.png",
]
CATEGORIES = [
    *("Boeing military aircraft", "Military communications", "Nuclear warfare"),
    *("Strategic Air Command", "Telemetry", "1960s United States experimental aircraft"),
    *("1960s United States military reconnaissance aircraft", "Quadjets"),
    *("Historic American Engineering Record in Nebraska", "Low-wing aircraft"),
    "Aircraft first flown in 1965",
]
CAPTIONS = {
    "caption_reference_description": "Captain John L. Anderson ca. 1928",
    "caption_alt_text_description": "",
    "caption_attribution_description": "English: Portrait of Captain John L. Anderson",
}
PAGES = [
    Page(
        8555460,
        0,
        PLANE,
        "{{Infobox aircraft|image=EC-135.jpg}}The EC-135N variant served as the tracking aircraft "
        "for the [[Apollo program]].\n"
        "==Missions==\n===Looking Glass===\nOne was [[Alert|always in the air]].\n"
        f"[[File:{MEDIA[0]}|thumb|A [[general]]]]\n[[Image:{MEDIA[1]}|thumb]]\n"
        f"[[File:{MEDIA[0]}|thumb|Again]]\n[[File:{MEDIA[2]}|thumb]]\n"
        "==Gallery==\n<gallery>\nFile:EC-135 on ground.jpg|On ground\n</gallery>\n"
        "==Variants==\nThere were many.\n" + "".join(f"[[Category:{c}]]\n" for c in CATEGORIES),
    ),
    Page(
        63384862,
        0,
        BUILDER,
        "{{Infobox person|image=Captain John L. Anderson.png}}'''Anderson''' built ships.\n"
        "[[Category:Steamboats of Lake Washington]]\n",
    ),
]
SPEC = Project(mode="exact-then-bm25")


def wit(row: int, title: str, section: str, url: str, words: str) -> dict[str, Any]:
    """A row of WIT, in WIT's form."""
    path = title if not section else f"{title} / {section}"
    return association(row, "", "test", page_title=title, image_url=url) | {
        "section_title": section.rpartition(" / ")[2],
        "hierarchical_section_title": path,
        "context_section_description": words,
    }


def built(folder: Path) -> dict[str, Path]:
    """The tables of the source: parsed, with its own pictures as associations, and projected."""
    names = ("sections", "links", "outline", "rejected", "infoboxes", "pictures")
    files = {name: folder / f"{name}.parquet" for name in names}
    outputs: dict[str, Any] = {("out" if n == "sections" else n): p for n, p in files.items()}
    dump = write_export(PAGES, folder / "dump.xml")
    parse_dump([dump], **outputs, counts=folder / "counts.json", workers=1)
    known = folder / "wit.parquet"
    rows = [
        wit(1, BUILDER, "", PORTRAIT, "Anderson built ships.") | CAPTIONS,
        wit(2, PLANE, "Missions / Looking Glass", "https://h/a.jpg", "One was always in the air."),
        wit(3, PLANE, "Gallery", "https://h/b.jpg", ""),
    ]
    store.write_rows(rows, known, ASSOCIATIONS)
    made = {n: folder / f"{n}.parquet" for n in ("associations", "members", "projection")}
    own = {"associations": made["associations"], "rejected": folder / "left_out.parquet"}
    ratios = {"validation": 0.0, "test": 1.0}
    parsed = {n: files[n] for n in ("pictures", "sections")}
    associate(parsed, {"wit": [known], "wit_rejected": []}, [], ratios, own)
    match.project_source(**made, sections=files["sections"], spec=SPEC, language="en", threads=1)
    pictured = {"associations": made["associations"]}
    listed = folder / "urls.parquet"
    sql.query(sql.SQL / "crawl/urls.sql", pictured, {"shards": 1}, out=listed, schema=URLS)
    urls = pl.read_parquet(listed)["image_url"].sort()
    size = {"attempts": 1, "width": 8, "height": 9, "sha256": "0"}
    ledger = [{"image_url": u, "status": "success", **size} for u in urls]
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    return {**files, **made, **{n: folder / f"{n}.parquet" for n in ("urls", "ledger")}}


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> dict[str, Path]:
    return built(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def made(source, tmp_path_factory) -> Path:
    """The collection, a folder."""
    out = tmp_path_factory.mktemp("made")
    names = ("associations", "sections", "members", "projection", "urls", "ledger")
    collect(sql.SQL / "collect/wikipedia", {n: source[n] for n in names}, {"language": "en"}, out)
    return out


def text(made: Path, text_id: str) -> dict[str, Any]:
    rows = pl.read_parquet(made / "texts.parquet").filter(text_id=text_id)
    return rows.row(0, named=True)


def test_a_lead_is_called_introduction_and_has_no_context_of_the_page(made):
    lead = text(made, "projected-63384862-000")
    assert (lead["page_title"], lead["section_title"]) == (BUILDER, "Introduction")
    assert (lead["hierarchy"], lead["context_page_description"]) == ("Introduction", "")
    assert lead["context_section_description"] == "Anderson built ships."
    assert lead["media"] == []


def test_a_section_has_its_headings_the_lead_and_the_files_that_it_links_to(made):
    own = text(made, "projected-08555460-002")
    assert (own["section_title"], own["hierarchy"]) == ("Looking Glass", "Missions / Looking Glass")
    assert own["context_section_description"] == "One was always in the air."
    assert own["media"] == MEDIA


def test_the_words_of_links_stay_as_in_version_0_2_1_of_the_texts(made):
    """In v0.2 it reads "the tracking aircraft for the ."; the note has the sentence in both."""
    mended = "The EC-135N variant served as the tracking aircraft for the Apollo program."
    assert text(made, "projected-08555460-002")["context_page_description"] == mended


def test_addresses_and_categories_are_the_published_ones(made):
    plane, lead = (text(made, f"projected-{t}") for t in ("08555460-002", "63384862-000"))
    assert plane["page_url"] == "https://en.wikipedia.org/wiki/Boeing%20EC-135"
    assert lead["page_url"] == (
        "https://en.wikipedia.org/wiki/John%20L.%20Anderson%20%28shipbuilder%29"
    )
    assert plane["category"] == CATEGORIES
    assert lead["category"] == ["Steamboats of Lake Washington"]


def test_a_picture_has_the_published_id(made):
    found = pl.read_parquet(made / "images.parquet").filter(image_url=PORTRAIT)
    assert found["image_id"].to_list() == ["b9519d35-c787-381d-9ecd-a5dd4fb319c9"]


def test_sections_without_text_are_no_texts_leave_gaps_and_are_counted(source, made):
    texts = pl.read_parquet(made / "texts.parquet")
    plane = texts.filter(page_id=8555460)["text_id"].str.tail(3).to_list()
    assert plane == ["000", "002", "004"]
    assert (texts["context_section_description"] != "").all()
    rejected = pl.read_parquet(made / "rejected.parquet")
    assert rejected.select("reason", "detail", "raw").rows() == [
        ("no_text", "projected-08555460-001", f"{PLANE} / Missions"),
        ("no_text", "projected-08555460-003", f"{PLANE} / Gallery"),
    ]
    counts = pl.read_json(source["sections"].with_name("counts.json"))
    assert counts["sections_without_text"].to_list() == [2]


def test_what_is_about_a_section_without_text_has_no_text_and_is_judged_nowhere(source, made):
    """Neither WIT's row on the gallery nor the snapshot's own picture goes to another section."""
    projection = pl.read_parquet(source["projection"]).group_by("method").len()
    assert dict(projection.rows()) == {"exact": 5, "no_text": 2}
    judged = set(pl.read_parquet(made / "qrels.parquet")["text_id"])
    assert judged == {f"projected-{t}" for t in ("08555460-000", "08555460-002", "63384862-000")}
    images = pl.read_parquet(made / "images.parquet")
    gallery = images.filter(pl.col("image_url").str.contains("on_ground|b.jpg"))
    assert gallery.height == 3
    assert set(gallery["split"]) == {"other"}


def test_words_that_wit_has_of_a_section_now_without_text_are_searched_for(source, tmp_path):
    """Its text may stand in another section of today."""
    rows = [wit(1, PLANE, "Gallery", "https://h/b.jpg", "One was always in the air.")]
    given = {n: tmp_path / f"{n}.parquet" for n in ("associations", "members", "projection")}
    store.write_rows(rows, given["associations"], ASSOCIATIONS)
    match.project_source(**given, sections=source["sections"], spec=SPEC, language="en", threads=1)
    found = pl.read_parquet(given["projection"]).row(0, named=True)
    assert (found["method"], found["text_id"]) == ("bm25", "projected-08555460-002")


@pytest.mark.parametrize("engine", ["native", "lucene"])
def test_mode_bm25_finds_no_section_without_text(source, engine, tmp_path):
    """The title of the gallery is nowhere else, so its row would find it if it were indexed."""
    index = tmp_path / "index"
    match.index_sections(source["sections"], index, threads=1, engine=engine)
    spec = SPEC.model_copy(update={"mode": "bm25", "engine": engine})
    hits = match.best_sections([("q", "Gallery"), ("r", "Variants")], index, spec, threads=1)
    assert hits.select("query_id", "doc_id").rows() == [("r", "projected-08555460-004")]


def test_a_collection_in_parts_leaves_out_the_same_sections(source, made, tmp_path):
    pieces = {
        n: [tmp_path / f"{k}/{n}.parquet" for k in (0, 1)] for n in (*TEXT_PIECES, *IMAGE_PIECES)
    }
    for nth in (0, 1):
        own = {n: source[n] for n in READ_BY["texts"]}
        collect_texts(own, "en", (nth, 2), {n: pieces[n][nth] for n in TEXT_PIECES})
    for nth in (0, 1):
        own = {n: source[n] for n in READ_BY["images"]} | {n: pieces[n] for n in EXCHANGED}
        collect_images(own, (nth, 2), {n: pieces[n][nth] for n in IMAGE_PIECES})
    names = ("texts", "images", "qrels", "filters", "rejected")
    collect_gather({n: pieces[n] for n in GATHERED}, {n: tmp_path / f"{n}.parquet" for n in names})
    for name in names:
        assert (tmp_path / f"{name}.parquet").read_bytes() == (
            made / f"{name}.parquet"
        ).read_bytes()


@pytest.fixture(scope="module")
def released(made, tmp_path_factory) -> Path:
    """The Parquet files of a release."""
    out = tmp_path_factory.mktemp("released")
    tables = {name: made / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    write_parquet(tables, [], out)
    return out


# As the notebook prints them.
PUBLISHED_COLUMNS = [
    *("text_id", "page_url", "page_title", "section_title", "context_page_description"),
    *("context_section_description", "media", "hierachy", "category", "source_id"),
]


def texts_of(released: Path) -> pl.DataFrame:
    return pl.concat(pl.read_parquet(path) for path in sorted((released / "texts").iterdir()))


def test_a_release_has_the_published_lists(released):
    rows = {row["text_id"]: row for row in texts_of(released).iter_rows(named=True)}
    own, lead = (rows[f"projected-{t}"] for t in ("08555460-002", "63384862-000"))
    assert own["hierachy"] == ["Missions", "Looking Glass"]
    assert own["media"] == MEDIA
    assert (lead["hierachy"], lead["media"]) == (["Introduction"], [])
    assert list(own) == PUBLISHED_COLUMNS


def test_an_image_has_a_list_for_each_kind_of_caption_with_an_empty_text_for_none(released):
    images = pl.concat(pl.read_parquet(path) for path in sorted((released / "images").iterdir()))
    row = images.filter(image_url=PORTRAIT).row(0, named=True)
    assert row["image_id"] == "b9519d35-c787-381d-9ecd-a5dd4fb319c9"
    # WIT's row, and the infobox, which has no words here.
    assert {field: row[field] for field in CAPTIONS} == {
        field: [caption, ""] for field, caption in CAPTIONS.items()
    }
    assert row["language"] == ["en", "en"]


def of_release(
    released: Path, out: Path, rows: pl.DataFrame | None = None
) -> dict[str, pl.DataFrame]:
    """Rows of the form atomic, made of a release or of its texts as they were, by fields."""
    published = out / "published.parquet"
    (texts_of(released) if rows is None else rows).write_parquet(published)
    manifest = out / "acquired/manifest.json"
    files = {"published_texts": [str(published)]}
    acquire(DigestedSource.of_plain({"files": files}), manifest, out / "scratch")
    steps = sorted((sql.SQL / "parse/pairs/atomic").glob("*.sql"))
    tables = sql.run_chain(steps, expand(manifest, out), out)
    made = {name: pl.read_parquet(path) for name, path in tables.items()}
    fields = {"page_title": "title", "section_title": "section"}
    known = made["pairs"].drop("page_url").unnest("text_own")
    return made | {"known_texts": known.with_columns(context_section_description="text", **fields)}


def test_a_release_that_is_read_again_is_the_collection_column_by_column(made, released, tmp_path):
    again = of_release(released, tmp_path)["known_texts"].sort("text_id")
    columns = ["text_id", "page_title", "section_title", *FIVE_FIELDS[2:], "media"]
    first = pl.read_parquet(made / "texts.parquet").select(columns)
    assert again.select(columns).equals(first)


def earlier(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows as releases were before: the page's title first, its lead again, judged pictures."""
    is_lead = pl.col("text_id").str.ends_with("-000")
    titled = pl.concat_list("page_title", "hierachy")
    return rows.with_columns(
        hierachy=pl.when(is_lead).then(pl.concat_list("page_title")).otherwise(titled),
        context_page_description=pl.when(is_lead)
        .then("context_section_description")
        .otherwise("context_page_description"),
        media=pl.lit(["b9519d35"], pl.List(pl.String)),
    )


def test_a_release_of_the_earlier_form_is_brought_to_the_published_one(released, tmp_path):
    rows = texts_of(released)
    bare = rows.head(1).with_columns(
        text_id=pl.lit("projected-08555460-001"),
        hierachy=pl.lit(["Missions"], pl.List(pl.String)),
        context_section_description=pl.lit(""),
    )
    old = of_release(released, tmp_path, pl.concat([earlier(rows), earlier(bare)]))
    assert old["released"]["is_earlier"].to_list() == [True]
    columns = ["text_id", *FIVE_FIELDS]
    found = old["known_texts"].sort("text_id")
    now = of_release(released, tmp_path)["known_texts"].sort("text_id")
    assert found.select(columns).equals(now.select(columns))
    assert found["media"].list.len().sum() == 0


def test_nothing_that_is_read_of_a_text_has_the_names_of_its_files(made, tmp_path):
    """Neither queries nor documents nor what an encoder reads change with `media`."""
    texts = made / "texts.parquet"
    other = tmp_path / "texts.parquet"
    rows = pl.read_parquet(texts)
    rows.with_columns(media=pl.lit(["Poison.jpg"], pl.List(pl.String))).write_parquet(other)
    ids = rows["text_id"].sort()
    for read in (
        lambda path: lucene.contents("texts", path, language="en"),
        lambda path: pl.DataFrame({"text": list(iter_texts(path, ids, FIVE_FIELDS))}),
    ):
        assert read(texts).equals(read(other))
        assert not any("Glass.jpg" in cell for cell in read(texts).to_series(-1))
