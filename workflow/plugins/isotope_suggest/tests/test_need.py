"""Ought a section to have a picture: what is learned, how sure it is, and how that is measured."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import log_loss, roc_auc_score
from workflow.plugins.isotope_suggest.tests.encyclopedia import Encyclopedia, Section, drawn, world

from isotope.core.errors import CorruptFile, EmptyTable, MissingColumn, MissingFile
from isotope_suggest import need
from isotope_suggest.measure import sections
from isotope_suggest.measure.sections import quality
from isotope_suggest.need import importances, learn
from isotope_suggest.sections import describe_sections

ROWS = 40


def rows_of(headings: list[str], characters: list[int], pictures: list[bool]) -> pl.DataFrame:
    """Sections in the columns that the model reads; every fifth page is a fold."""
    n = len(headings)
    numbers = {"place": 1, "sections": 5, "level": 2, "lines": 4, "list_items": 0, "table_rows": 0}
    numbers |= {"references": 1, "named_links": 3, "page_characters": 5_000}
    constant = {
        **numbers,
        "page_lists": 0.1,
        "page_digits": 0.0,
        "has_infobox": False,
        "page_infobox": False,
    }
    return pl.DataFrame(
        {
            "text_id": [f"t{i:03d}" for i in range(n)],
            "heading": headings,
            "characters": characters,
            "role": ["illustrated" if has_picture else "open" for has_picture in pictures],
            "fold": [i % need.FOLDS for i in range(n)],
            "page_class": ["article"] * n,
            **{name: [value] * n for name, value in constant.items()},
        }
    )


def long_ones_have_pictures(n: int = ROWS) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    characters = [int(c) for c in rng.integers(0, 4_000, n)]
    shown = [c + rng.normal(0, 300) > 2_000 for c in characters]
    return rows_of([f"Heading {i}" for i in range(n)], characters, shown)


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> pl.DataFrame:
    """Sections of a world whose chances are known, and the chances."""
    pages = world(200)
    books = Encyclopedia(tmp_path_factory.mktemp("world"), {"en": pages})
    describe_sections(**books.inputs())
    chances = {
        books.text_id("en", n, at): section.chance
        for n, page in enumerate(pages, 1000)
        for at, section in enumerate(page.sections)
    }
    rows = pl.read_parquet(books.folder / "sections.parquet")
    return rows.with_columns(chance=pl.col("text_id").replace_strict(chances))


def test_probabilities_on_unseen_pages_are_nearly_the_chances_that_made_the_pictures(described):
    unseen = described.filter(pl.col("page_id") % 10 == 7)
    off = (unseen["probability"] - unseen["chance"]).abs()
    assert unseen.height > 80
    assert off.mean() < 0.06
    has_picture = (unseen["role"] != "open").to_numpy()
    best = log_loss(has_picture, unseen["chance"].to_numpy())
    assert log_loss(has_picture, unseen["probability"].to_numpy()) < best + 0.02


def test_each_split_is_measured_and_all_beat_the_share_of_illustrated_sections(described):
    table = quality(described)
    assert table["split"].to_list() == ["train", "validation", "test"]
    assert table["sections"].sum() == described.height
    assert (table["log_loss"] < 0.75 * table["base_log_loss"]).all()
    assert (table["auc"] > 0.85).all()
    assert (table["ece"] < 0.08).all()


def test_lists_and_references_come_out_low_and_long_prose_high(described):
    by_kind = {name: described.filter(_has_heading(name)) for name in ("Works", "References")}
    assert all(rows["probability"].max() < 0.2 for rows in by_kind.values())
    assert described.filter(pl.col("characters") > 3_000)["probability"].min() > 0.5


def _has_heading(heading: str) -> pl.Expr:
    return pl.col("heading") == heading


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.1, 0.2, 0.5, 0.9])), min_size=1))
def test_area_and_loss_are_those_of_scikit_learn(pairs):
    shown, chances = np.array([p for p, _ in pairs]), np.array([c for _, c in pairs])
    area = sections._auc(pl.Series(chances), shown)
    if shown.all() or not shown.any():
        assert area is None
    else:
        assert area == pytest.approx(roc_auc_score(shown, chances))
    assert sections._log_loss(shown, chances) == pytest.approx(
        log_loss(shown, chances, labels=[False, True])
    )


def test_headings_that_say_nonsense_leave_lists_low(tmp_path: Path):
    pages = world(150, seed=1)
    books = Encyclopedia(tmp_path, {"en": pages})
    describe_sections(**books.inputs())
    model, rng = need.load(tmp_path / "ought.json"), np.random.default_rng(1)
    kinds = ["prose", "prose", "list", "list", "references"]
    sections = [drawn(rng, kind) for kind in kinds for _ in range(10)]
    rows = _traits_of(sections)
    nonsense = rows.with_columns(heading=pl.format("Qux{} zorb", pl.int_range(pl.len())))
    chances = model.probability(nonsense)
    assert chances[20:].max() < 0.25
    assert chances[:20].max() > 0.6
    # What the headings had said is little beside it.
    assert np.abs(chances - model.probability(rows)).max() < 0.25


def _traits_of(sections: Sequence[Section]) -> pl.DataFrame:
    """Each section in the middle of a page of ten."""
    named = ("heading", "level", "characters", "lines", "list_items", "table_rows", "references")
    page = {"place": 4, "sections": 10, "has_infobox": False, "page_infobox": False}
    page |= {"page_class": "article", "page_characters": 12_000}
    page |= {"page_lists": 0.2, "page_digits": 0.0}
    rows = [{n: getattr(s, n) for n in named} | {"named_links": s.links, **page} for s in sections]
    return pl.DataFrame(rows)


def test_a_word_of_few_headings_weighs_no_more_than_they_are():
    rows = long_ones_have_pictures(200)
    once = rows.with_columns(heading=pl.Series(["Rarity", "Oddity", "Oddity", *[""] * 197]))
    model, _ = learn(once)
    for word, n in (("Rarity", 1), ("Oddity", 2)):
        [bucket] = need._hashed(word)
        assert 0 < abs(model.headings[str(bucket)]) <= n * need.PENALTY


def test_a_page_has_no_say_in_its_own_probability():
    rows = long_ones_have_pictures(100)
    in_fold = rows["fold"] == 2
    turned = rows.with_columns(
        role=pl.when(in_fold).then(pl.lit("illustrated")).otherwise(pl.col("role"))
    )
    apart = [learn(table)[1][in_fold.to_numpy()] for table in (rows, turned)]
    # What is left is the calibration, one slope and shift for all: their order stays.
    assert (np.argsort(apart[0]) == np.argsort(apart[1])).all()


def test_sections_that_one_number_tells_apart_have_probabilities_short_of_certainty():
    rows = rows_of([""] * 40, [100] * 20 + [5_000] * 20, [False] * 20 + [True] * 20)
    _, chances = learn(rows)
    assert (chances[:20] < 0.2).all()
    assert (chances[20:] > 0.8).all()
    assert ((chances > 0) & (chances < 1)).all()


def test_a_feature_that_speaks_against_a_picture_has_a_negative_weight():
    model, _ = learn(long_ones_have_pictures(200))
    weights = dict(importances(model).iter_rows())
    assert weights["length"] > 0
    rows = long_ones_have_pictures(200)
    items = pl.Series([0 if role == "illustrated" else 9 for role in rows["role"]])
    listed, _ = learn(rows.with_columns(list_items=items))
    table = importances(listed)
    assert dict(table.iter_rows())["list items"] < 0
    assert table["weight"].abs().is_sorted(descending=True)


def test_what_the_features_add_makes_the_log_odds(tmp_path: Path):
    rows = long_ones_have_pictures()
    model, _ = learn(rows)
    added = model.bias + np.sum(list(model.parts(rows).values()), axis=0)
    assert model.log_odds(rows) == pytest.approx(added)
    calibrated = 1 / (1 + np.exp(-(model.slope * added + model.shift)))
    assert model.probability(rows) == pytest.approx(calibrated)


def test_a_model_comes_back_from_its_file_as_it_was(tmp_path: Path):
    rows = long_ones_have_pictures()
    model, _ = learn(rows)
    model.save(tmp_path / "ought.json")
    again = need.load(tmp_path / "ought.json")
    assert again == model
    assert (again.probability(rows) == model.probability(rows)).all()
    assert importances(tmp_path / "ought.json").equals(importances(model))


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"form": "another"}', '{"form": 1, "bias": 0}'])
def test_a_file_that_is_no_model_is_refused_by_name(tmp_path: Path, text: str):
    (tmp_path / "ought.json").write_text(text)
    with pytest.raises(CorruptFile, match=r"ought\.json: no model of sections"):
        need.load(tmp_path / "ought.json")


def test_a_model_of_another_form_is_refused(tmp_path: Path):
    model, _ = learn(long_ones_have_pictures())
    model.save(tmp_path / "ought.json")
    fields = json.loads((tmp_path / "ought.json").read_text())
    (tmp_path / "ought.json").write_text(json.dumps({**fields, "more": 1}))
    with pytest.raises(CorruptFile, match="run the phase suggest again"):
        need.load(tmp_path / "ought.json")


def test_an_absent_model_is_named(tmp_path: Path):
    with pytest.raises(MissingFile, match=r"ought\.json: no such file; run the phase suggest"):
        need.load(tmp_path / "ought.json")


def test_sections_without_a_column_are_refused_with_its_name():
    rows = long_ones_have_pictures()
    model, _ = learn(rows)
    with pytest.raises(MissingColumn, match=r"no columns \['named_links'\]"):
        model.probability(rows.drop("named_links"))


@pytest.mark.parametrize("shown", [True, False])
def test_pages_whose_sections_are_all_alike_teach_nothing(shown: bool):
    rows = rows_of([""] * 10, [100] * 10, [shown] * 10)
    with pytest.raises(EmptyTable, match=f"{8 * shown} of 8 sections have a picture"):
        learn(rows)


def test_words_of_a_heading_are_hashed_alone_and_in_pairs_whatever_their_digits():
    assert need._hashed("In 1931") == need._hashed("in 1984")
    assert need._hashed("early life") > need._hashed("life")
    assert len(need._hashed("Werke und Nachlass")) == 5
    assert need._hashed("歴史") != need._hashed("文化")
    assert need._hashed("") == set()


def test_the_same_sections_teach_the_same_model():
    rows = long_ones_have_pictures()
    first, second = learn(rows), learn(rows)
    assert first[0] == second[0]
    assert (first[1] == second[1]).all()
