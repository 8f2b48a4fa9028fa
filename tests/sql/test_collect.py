"""The collection's queries on a handful of rows whose answer can be worked out by hand."""

from pathlib import Path

import polars as pl
import pytest
from tests.wikipedia import URL, association, section, written

from isotope.collect import build
from isotope.core import sql, store
from isotope.core.errors import BadParams, IntegrityError
from isotope.core.schemas import FIVE_FIELDS
from isotope.schemas.crawl import LEDGER, URLS

SECTIONS = [
    section(1, 0, "Introduction", "lead 1"),
    section(1, 1, "Plates", "same words"),
    section(1, 2, "Plates", "same words"),
    section(2, 0, "Introduction", "lead 2"),
    section(2, 1, "History", "history"),
    section(3, 0, "Introduction", "nobody comes here"),
    section(4, 0, "Introduction", "lead 4"),
    section(4, 1, "Later", "no picture"),
]
# What each row of WIT is about: the section it projects to, its image and split.
ROWS = [
    (0, "a", "train"),
    (1, "b", "train"),
    (2, "b", "train"),
    (2, "c", "train"),
    (3, "dead", "validation"),
    (4, "d", "validation"),
    (4, "e", "validation"),
    (6, "e", "test"),
    (6, "f", "test"),
    (None, "g", "test"),
]
FRENCH = {
    "caption_reference_description": "balle",
    "caption_alt_text_description": "une balle rouge",
    "caption_attribution_description": "Anne",
}


@pytest.fixture(scope="module")
def relations(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("source")
    rows = [association(n, image, split) for n, (_, image, split) in enumerate(ROWS)]
    rows.append(association(99, "a", "train", language="fr", **FRENCH))
    rows.append(association(100, "z", "train", language="fr"))
    ids = [SECTIONS[t]["text_id"] if t is not None else None for t, _, _ in ROWS]
    about = {n: (f"s{text}", ids[n]) for n, (text, _, _) in enumerate(ROWS)}
    return written(folder, SECTIONS, rows, about, dead={"dead"})


@pytest.fixture(scope="module")
def collected(relations, tmp_path_factory) -> dict[str, pl.DataFrame]:
    out = tmp_path_factory.mktemp("collection")
    build.collect(sql.SQL / "collect/wikipedia", relations, {"language": "en"}, out)
    return {name: pl.read_parquet(out / f"{name}.parquet") for name in build.SCHEMAS}


def pairs(collected) -> set[tuple[str, str, str]]:
    return set(collected["qrels"].select("text_id", "image_id", "split").rows())


def test_only_pairs_that_pass_all_three_filters_are_judged(collected):
    assert pairs(collected) == {
        ("projected-00000001-000", "a", "train"),
        ("projected-00000001-001", "b", "train"),
        ("projected-00000001-001", "c", "train"),
        ("projected-00000002-001", "d", "validation"),
        ("projected-00000004-000", "f", "test"),
    }


def test_what_every_filter_dropped_is_counted(collected):
    filters = collected["filters"]
    dropped = {(step, split): n for step, split, _, n, _ in filters.rows() if n}
    assert dropped == {
        ("projected", "test"): 1,
        ("alive", "validation"): 1,
        ("canonical", "train"): 1,
        ("one_split", "validation"): 1,
        ("one_split", "test"): 1,
    }
    assert (filters["before"] - filters["dropped"] == filters["after"]).all()


UPLOADS = "https://upload.wikimedia.org/wikipedia"


def test_a_picture_with_two_addresses_counts_once_and_the_wikis_own_one_is_shown(tmp_path):
    """A snapshot whose files nobody told tells both; whichever lives is the picture."""
    names = {"only-commons": "0/01/A.png", "only-local": "0/02/B.png", "both": "0/03/C.png"}
    urls = [f"{UPLOADS}/{where}/{name}" for name in names.values() for where in ("commons", "en")]
    rows = [association(n, url, "test") | {"image_url": url} for n, url in enumerate(urls)]
    about = {n: (f"s{n // 2}", SECTIONS[n // 2]["text_id"]) for n in range(len(urls))}
    (tmp_path / "source").mkdir()
    relations = written(tmp_path / "source", SECTIONS, rows, about)
    alive = [u for n, u in enumerate(urls) if n not in (1, 2)]
    ledger = [{"image_url": u, "status": "success"} for u in alive]
    store.write_rows(ledger, relations["ledger"], LEDGER)
    named = [{"image_id": f"i{n}", "image_url": u, "shard": 0} for n, u in enumerate(urls)]
    store.write_rows(named, relations["urls"], URLS)
    build.collect(sql.SQL / "collect/wikipedia", relations, {"language": "en"}, tmp_path)
    filters = pl.read_parquet(tmp_path / "filters.parquet")
    assert set(filters.select("before", "dropped", "after").rows()) == {(3, 0, 3)}
    judged = pl.read_parquet(tmp_path / "qrels.parquet").join(
        pl.read_parquet(tmp_path / "images.parquet"), on="image_id"
    )
    assert set(judged["image_url"]) == {urls[0], urls[3], urls[5]}


def test_siblings_of_a_matched_section_come_along_and_strangers_do_not(collected):
    places = ("1-000", "1-001", "2-000", "2-001", "4-000", "4-001")
    told = sorted(collected["texts"]["text_id"].to_list())
    assert told == [f"projected-0000000{place}" for place in places]


def test_texts_with_the_same_words_share_one_id(collected):
    plates = collected["texts"].filter(pl.col("section_title") == "Plates")
    assert plates["text_id"].to_list() == ["projected-00000001-001"]


def test_what_nobody_is_judged_on_is_other(collected):
    texts = dict(collected["texts"].select("text_id", "split").rows())
    images = dict(collected["images"].select("image_id", "split").rows())
    assert texts["projected-00000002-000"] == "other"
    assert (images["e"], images["z"], images["g"]) == ("other", "other", "other")
    assert "d" in images


def test_a_dead_image_is_in_no_table(collected):
    assert URL.format("dead") not in collected["images"]["image_url"].to_list()


def test_captions_of_all_languages_stay_in_step(collected):
    image = collected["images"].filter(pl.col("image_id") == "a").row(0, named=True)
    assert image["language"] == ["en", "fr"]
    assert {field: image[field] for field in FRENCH} == {f: ["", w] for f, w in FRENCH.items()}


def test_the_size_of_an_image_is_that_of_its_original_however_small_it_is_stored(
    tmp_path, relations
):
    sizes = {"width": 3_000, "height": 2_000, "stored_width": 384, "stored_height": 256}
    ledger = pl.read_parquet(relations["ledger"]).to_dicts()
    (tmp_path / "own").mkdir()
    own = {**relations, "ledger": tmp_path / "own/ledger.parquet"}
    store.write_rows([row | sizes for row in ledger], own["ledger"], LEDGER)
    build.collect(sql.SQL / "collect/wikipedia", own, {"language": "en"}, tmp_path)
    images = pl.read_parquet(tmp_path / "images.parquet")
    assert set(images.select("width", "height").rows()) == {(3_000, 2_000)}


def test_an_unknown_kind_lists_the_known_ones(tmp_path, relations):
    with pytest.raises(BadParams, match=r"unknown kind 'wikipedai'.*wikipedia"):
        build.collect(sql.SQL / "collect/wikipedai", relations, {}, tmp_path)


def test_a_broken_promise_leaves_the_old_tables_alone(tmp_path, relations, monkeypatch):
    (tmp_path / "texts.parquet").write_text("the old table")

    def broken(_, *, shared):
        raise IntegrityError("every text appears once", "not so", "see the query")

    monkeypatch.setattr(build, "run_checks", broken)
    with pytest.raises(IntegrityError):
        build.collect(sql.SQL / "collect/wikipedia", relations, {"language": "en"}, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["texts.parquet"]
    assert (tmp_path / "texts.parquet").read_text() == "the old table"


def spoiled(folder: Path, collected, **changes) -> dict[str, Path]:
    for name in ("texts", "images", "qrels"):
        frame = changes.get(name, lambda df: df)(collected[name])
        frame.write_parquet(folder / f"{name}.parquet")
    return {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}


def twice(df):
    return pl.concat([df, df.head(1)])


SPOILS = [
    ("every_item_appears_once", {"texts": twice}),
    ("every_item_appears_once", {"images": twice}),
    ("every_pair_is_judged_once", {"qrels": twice}),
    ("every_judgement_names_known_items", {"texts": lambda df: df.tail(-1)}),
    ("every_judgement_names_known_items", {"images": lambda df: df.tail(-1)}),
    (
        "every_judged_item_is_in_the_split_of_its_judgement",
        {"texts": lambda df: df.with_columns(split=pl.lit("test"))},
    ),
    (
        "every_judged_item_is_in_the_split_of_its_judgement",
        {"images": lambda df: df.with_columns(split=pl.lit("other"))},
    ),
    ("every_split_has_a_known_name", {"texts": lambda df: df.with_columns(split=pl.lit("dev"))}),
    (
        "every_text_has_words",
        {"texts": lambda df: df.with_columns(pl.lit("").alias(field) for field in FIVE_FIELDS)},
    ),
    ("some_pair_survives", {"qrels": lambda df: df.clear()}),
]


@pytest.mark.parametrize(("claim", "changes"), SPOILS)
def test_every_check_holds_and_can_fail(tmp_path, collected, claim, changes):
    check = sql.SQL / "check" / f"{claim}.sql"
    (tmp_path / "good").mkdir()
    sql.check(check, spoiled(tmp_path / "good", collected), {})
    with pytest.raises(IntegrityError, match=claim.replace("_", " ")):
        sql.check(check, spoiled(tmp_path, collected, **changes), {})


def test_no_check_is_left_out():
    assert {path.stem for path in (sql.SQL / "check").glob("*.sql")} == {n for n, _ in SPOILS}
