"""The temporal model: what it learns of years, and that it never judges what it has learned."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.models import model_of

from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingColumn, MissingFile
from isotope.core.vectors import load_vectors
from isotope.encode import metadata as encode_dates
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles
from isotope.models import dates as date_model
from isotope.models.dates import NO_FOLD, Choice, Grid
from isotope.params.sections import ModelKind
from isotope.schemas.collect import IMAGES, OPTIONAL, QRELS, TEXTS
from isotope.train import frozen
from isotope.train.frozen import dated, train_dates

OLD, NEW = "ye olde steam carriage", "the new automobile and its radio"
IDS = pl.Series([f"t{n:02d}" for n in range(40)])
WORDS = [f"{OLD if n % 2 else NEW} {n}" for n in range(40)]
YEARS = pl.Series([1860 + n // 4 if n % 2 else 1915 + n // 4 for n in range(40)])


@pytest.fixture(scope="module")
def model() -> date_model.DatesModel:
    """Forty texts, old words in the eighteen-sixties and new ones around 1920."""
    return date_model.fit(IDS, WORDS, YEARS)


@pytest.fixture
def collected(tmp_path) -> dict:
    """The same as a collection, with a dated picture for each, one more to judge, one undated."""
    texts = [
        {"text_id": i, "context_section_description": w, "split": "train"}
        for i, w in zip(IDS, WORDS, strict=True)
    ]
    texts.append({"text_id": "v", "context_section_description": OLD, "split": "validation"})
    images = [
        {"image_id": f"i{n:02d}", "image_url": f"https://x.org/{n}", "split": "train"}
        | {"date": dt.date(year, 5, 31)}
        for n, year in enumerate(YEARS)
    ]
    images += [
        {"image_id": "v", "image_url": "https://x.org/v", "split": "validation", "date": None},
        {"image_id": "w", "image_url": "https://x.org/w", "split": "validation"}
        | {"date": dt.date(1700, 1, 1)},
    ]
    qrels = [
        {"text_id": i, "image_id": f"i{n:02d}", "relevance": 1, "split": "train"}
        for n, i in enumerate(IDS)
    ]
    paths = {name: tmp_path / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    schema = IMAGES.append(OPTIONAL.field("date"))
    store.write_rows(texts, paths["texts"], TEXTS)
    store.write_rows(images, paths["images"], schema)
    store.write_rows(qrels, paths["qrels"], QRELS)
    return paths


def test_words_tell_their_years(model):
    old, new = model.encode_texts([OLD, NEW], [NO_FOLD, NO_FOLD]) ** 2
    half = model.dim // 2
    assert old[:half].sum() > 0.9
    assert new[half:].sum() > 0.9


@given(st.lists(st.text(max_size=30), min_size=1, max_size=5))
def test_every_text_is_a_distribution_over_years_as_a_vector_of_length_one(texts):
    model = date_model.fit(IDS, WORDS, YEARS, Grid([8], [100]))
    vectors = model.encode_texts(texts, [NO_FOLD] * len(texts))
    assert vectors.shape == (len(texts), model.dim)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)
    assert (vectors >= 0).all()


def test_a_text_without_known_words_is_as_old_as_the_training_texts(model):
    [told] = model.encode_texts(["ξψω"], [NO_FOLD])
    [nothing] = model.encode_years(pl.Series([None], dtype=pl.Int64))
    assert told == pytest.approx(nothing, abs=1e-6)


def test_the_prior_is_the_training_years_smoothed_by_a_normal_kernel():
    counts = date_model.count(
        date_model.ngrams(["a", "b"], (1, 1)), np.array([1900, 1904]), np.zeros(2, int), 1
    )
    made = date_model.table(counts, Choice(2.0, 1.0, 1.0))
    years = np.arange(1900, 1905)
    expected = norm.pdf(years, 1900, 2) + norm.pdf(years, 1904, 2)
    assert np.exp(made.prior) == pytest.approx(expected / expected.sum())


def test_the_ratios_are_shares_of_ngrams_over_their_share_in_all_years():
    rows = date_model.ngrams(["a a", "b"], (1, 1))
    counts = date_model.count(rows, np.array([1900, 1950]), np.zeros(2, int), 1)
    made = date_model.table(counts, Choice(1.0, 0.5, 1.0))
    # Each text has its letter and the space around it; fifty years apart, kernels do not meet.
    letter = np.log((1 + 0.5 * 0.25) / (2 + 0.5) / 0.25)
    absent = np.log(0.5 * 0.25 / (2 + 0.5) / 0.25)
    space = np.log((1 + 0.5 * 0.5) / (2 + 0.5) / 0.5)
    found = sorted(made.ratios[:, 0])
    assert found == pytest.approx(sorted([letter, absent, space]))


def test_a_fold_left_out_is_as_if_it_had_never_been_there():
    folds = np.array([date_model.fold_of(i, 5) for i in IDS])
    years = YEARS.to_numpy()
    rows, choice = date_model.ngrams(WORDS, (2, 4)), Choice(8, 100, 0.2)
    whole = date_model.count(rows, years, folds, 5)
    others = np.flatnonzero(folds != 3)
    alone = date_model.count(rows[others], years[others], folds[others], 5)
    left, never = date_model.table(whole, choice, without=3), date_model.table(alone, choice)
    first = alone.first_year - whole.first_year
    here = slice(first, first + alone.years)
    assert (left.features == never.features).all()
    assert left.ratios[:, here] == pytest.approx(never.ratios)


def test_no_training_text_is_judged_by_what_it_taught():
    """One word in one text, texts in every year: a model that had seen it would know its year."""
    words = ["steam carriage"] * 20 + ["zyzzyva"] + ["steam carriage"] * 19
    years = pl.Series(range(1860, 1900))
    recipe = Grid([2], [1], [1])
    model = date_model.fit(IDS, words, years, recipe)
    fold = date_model.fold_of(IDS[20], date_model.FOLDS)
    seen, unseen = model.encode_texts([words[20], words[20]], [NO_FOLD, fold]) ** 2
    assert seen.argmax() == 20
    assert seen[20] > 2 * unseen[20]


def test_the_choice_is_the_one_that_tells_held_out_texts_most(model):
    folds = np.array([date_model.fold_of(i, 5) for i in IDS])
    rows, years = date_model.ngrams(WORDS, (2, 4)), YEARS.to_numpy()
    told = [
        date_model.gains(model.counts, rows, years, folds, choice).mean()
        for choice in date_model.choices()
    ]
    chosen = date_model.gains(model.counts, rows, years, folds, model.choice).mean()
    assert chosen == max(told) > 0.5


def test_a_picture_is_its_year_and_years_outside_are_the_nearest(model):
    block = model.encode_years(pl.Series([1860, 1700, 2000]))
    assert block.argmax(axis=1).tolist() == [0, 0, model.dim - 1]
    assert (block.sum(axis=1) == 1).all()


def test_dates_times_and_years_are_columns_of_years_and_words_are_not():
    table = pl.DataFrame(
        {"d": [dt.date(1907, 5, 31), None], "y": [1907, None], "s": ["1907", None]}
    )
    assert date_model.years_of(table, "d", "x").to_list() == [1907, None]
    assert date_model.years_of(table, "y", "x").to_list() == [1907, None]
    with pytest.raises(BadParams, match="type String"):
        date_model.years_of(table, "s", "x")
    with pytest.raises(MissingColumn, match="no column 'date'"):
        date_model.years_of(table, "date", "x")


def test_a_model_comes_back_from_disk_as_it_was(model, tmp_path):
    date_model.save_dates(model, tmp_path / "m.safetensors")
    again = date_model.load_dates(tmp_path / "m.safetensors")
    assert (again.encode_texts([OLD], [2]) == model.encode_texts([OLD], [2])).all()
    date_model.save_dates(again, tmp_path / "n.safetensors")
    assert (tmp_path / "m.safetensors").read_bytes() == (tmp_path / "n.safetensors").read_bytes()


def test_no_model_and_another_kind_of_model_are_named(tmp_path):
    with pytest.raises(MissingFile, match="run the train phase"):
        date_model.load_dates(tmp_path / "m.safetensors")
    (tmp_path / "m.safetensors").write_bytes(b"\0" * 64)
    with pytest.raises(CorruptFile, match="not a temporal model"):
        date_model.load_dates(tmp_path / "m.safetensors")


def test_too_few_training_texts_are_named():
    with pytest.raises(EmptyTable, match="2 dated training texts"):
        date_model.fit(IDS[:2], WORDS[:2], YEARS[:2])


def test_a_text_is_dated_by_the_picture_that_it_belongs_to(collected):
    found = dated(collected["images"], collected["qrels"], "date").sort("text_id")
    assert found["text_id"].to_list() == IDS.to_list()
    assert found["year"].to_list() == YEARS.to_list()


def test_both_sides_of_a_collection_are_encoded_in_shards(collected, tmp_path):
    weights = tmp_path / "model.safetensors"
    fields = ["context_section_description"]
    train_dates(**collected, model=model_of({"kind": "dates", "fields": fields}), weights=weights)
    model = date_model.load_dates(weights)
    made: dict[str, list] = {"texts": [], "images": []}
    for n in (0, 1):
        for side, paths in made.items():
            paths.append(ShardFiles(tmp_path / f"{side}-{n}.vectors", tmp_path / f"{side}-{n}.ids"))
        encoding = Encoding(ModelKind(), weights, 1, shard=n, shards=2)
        encode_dates.encode_dated_texts(collected["texts"], fields, encoding, made["texts"][-1])
        encode_dates.encode_dated_images(collected["images"], "date", encoding, made["images"][-1])
    sides = {
        side: load_vectors([p.vectors for p in paths], [p.ids for p in paths])
        for side, paths in made.items()
    }
    assert sides["texts"].ids.to_list() == [*IDS, "v"]
    block = np.concatenate(sides["texts"].blocks)
    folds = [*(date_model.fold_of(i, 5) for i in IDS), NO_FOLD]
    assert block == pytest.approx(model.encode_texts([*WORDS, OLD], folds), abs=1e-6)
    images = dict(zip(sides["images"].ids, np.concatenate(sides["images"].blocks), strict=True))
    assert images["w"].argmax() == 0
    assert images["v"] == pytest.approx(model.encode_years(pl.Series([None], dtype=pl.Int64))[0])


def test_at_most_so_many_texts_are_learned_from_whatever_their_order(
    collected, tmp_path, monkeypatch
):
    monkeypatch.setattr(frozen, "_DATED_TEXTS", 20)
    paths = [tmp_path / f"{n}.safetensors" for n in (1, 2)]
    model = model_of({"kind": "dates", "fields": ["context_section_description"]})
    train_dates(**collected, model=model, weights=paths[0])
    shuffled = pl.read_parquet(collected["qrels"]).reverse()
    shuffled.write_parquet(collected["qrels"])
    train_dates(**collected, model=model, weights=paths[1])
    assert date_model.load_dates(paths[0]).counts.texts.sum() == 20
    assert paths[0].read_bytes() == paths[1].read_bytes()
