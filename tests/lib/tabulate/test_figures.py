"""The figures: the same bytes every time, nothing lost, readable without colour."""

import re

import pytest

from isotope.collect.tables import IMAGES, TEXTS
from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.score.tables import SCORES
from isotope.tabulate import figures

SQL = sql.SQL / "tabulate/tables/corpus_size.sql"
SPLITS = ["train"] * 30 + ["validation"] * 5 + ["test"] * 5 + ["other"] * 2
CHOSEN = {"split": "test", "measure": "MAP"}


@pytest.fixture
def relations(tmp_path):
    scores = [
        {"collection": "c", "setting": setting, "split": "test", "task": task, "system": system}
        | {"query_id": "q", "measure": "MAP", "value": 0.5}
        for setting in ("small", "base", "large")
        for task in ("t2m", "m2t")
        for system in ("bm25", "clip", "rrf", "wsum", "random", "vit", "siglip", "splade")
    ]
    texts = [{"text_id": str(n), "split": s} for n, s in enumerate(SPLITS)]
    images = [{"image_id": str(n), "split": s} for n, s in enumerate(SPLITS)]
    store.write_rows(scores, tmp_path / "scores.parquet", SCORES)
    store.write_rows(texts, tmp_path / "texts.parquet", TEXTS)
    store.write_rows(images, tmp_path / "images.parquet", IMAGES)
    return {n: tmp_path / f"{n}.parquet" for n in ("scores", "texts", "images")}


@pytest.fixture
def drawn(relations, tmp_path):
    figures.corpus_size(SQL, relations, CHOSEN, tmp_path / "corpus_size.svg")
    return (tmp_path / "corpus_size.svg").read_text()


def test_the_same_numbers_give_the_same_bytes(relations, drawn, tmp_path):
    figures.corpus_size(SQL, relations, CHOSEN, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == drawn


def test_every_system_and_both_tasks_are_named(drawn):
    for name in ("bm25", "siglip", "splade", "Image suggestion (T2M)", "Image promotion (M2T)"):
        assert f">{name}<" in drawn
    for size in ("5", "40", "42"):
        assert drawn.count(f">{size}<") == 2


def test_lines_differ_in_more_than_colour():
    styles = [s for s, _ in zip(figures.styles(), range(30), strict=False)]
    grey = {(s["marker"], str(s["linestyle"])) for s in styles}
    assert len(grey) == 30


def test_the_ink_is_that_of_the_page_around_it(drawn):
    assert "currentColor" in drawn
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawn.lower())) <= {c.lower() for c in figures.COLOURS}


def test_neighbouring_sizes_do_not_print_over_each_other(drawn):
    positions = {
        size: float(re.findall(rf'translate\([\d.]+ ([\d.]+)\)">{size}<', drawn)[0])
        for size in ("40", "42")
    }
    assert positions["42"] > positions["40"] + 10


def test_a_figure_of_nothing_is_refused(relations, tmp_path):
    with pytest.raises(EmptyTable, match="no scores"):
        figures.corpus_size(SQL, relations, CHOSEN | {"split": "train"}, tmp_path / "x.svg")
    assert not (tmp_path / "x.svg").exists()


def test_the_learning_curve_shows_loss_and_both_tasks(tmp_path):
    curve = tmp_path / "curve.csv"
    curve.write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n1,10,2.5,0.1,0.2\n2,20,1.5,0.3,0.4\n")
    figures.learning_curve(curve, tmp_path / "a.svg")
    figures.learning_curve(curve, tmp_path / "b.svg")
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text()
    for words in ("Training loss", "MRR@10 on validation", "Image promotion (M2T)"):
        assert words in text


def test_the_curve_of_early_stopping_shows_the_accuracy_of_each_group_that_has_pairs(tmp_path):
    """As the right half of Figure 4 of Hu et al. (OVEN, ICCV 2023)."""
    columns = "entity_seen,entity_unseen,query_seen,query_unseen,harmonic_mean"
    rows = "1,10,2.5,0.1,0.2,nan,nan,0.13\n1,20,1.5,0.3,0.4,nan,nan,0.34\n"
    (tmp_path / "accuracies.csv").write_text(f"epoch,step,loss,{columns}\n{rows}")
    figures.learning_curve(tmp_path / "accuracies.csv", tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    for words in ("Accuracy on validation, %", "entity seen", "entity unseen", "harmonic mean"):
        assert words in text
    assert "query seen" not in text


def test_a_curve_without_points_is_refused(tmp_path):
    (tmp_path / "curve.csv").write_text("epoch,step,loss,mrr10_t2m,mrr10_m2t\n")
    with pytest.raises(EmptyTable, match="no points"):
        figures.learning_curve(tmp_path / "curve.csv", tmp_path / "x.svg")
