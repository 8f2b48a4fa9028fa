"""OVEN's measures: published accuracies give the published harmonic means."""

from pathlib import Path

import polars as pl
import pytest

from isotope import sql, store, tables

# Seen, unseen and their mean of the entity set, then of the query set, and the mean of both means:
# the paper's Table 3, and the README of edchengg/oven_eval, which has two decimals.
PUBLISHED = {
    "CLIP": (5.4, 5.3, 5.4, 0.8, 1.4, 1.0, 1.7),
    "CLIP Fusion": (32.7, 4.3, 7.7, 33.4, 2.2, 4.2, 5.4),
    "CLIP2CLIP": (12.6, 10.1, 11.2, 4.1, 2.1, 2.8, 4.4),
    "PaLI-3B": (21.6, 6.6, 10.1, 33.2, 14.7, 20.4, 13.5),
    "PaLI-17B": (30.6, 12.4, 17.6, 44.2, 22.4, 29.8, 22.1),
    "BLIP-2": (8.55, 3.40, 4.87, 24.63, 17.68, 20.58, 7.87),
}
STRATA = [("entity", "seen"), ("entity", "unseen"), ("query", "seen"), ("query", "unseen")]
QUERIES = 2_000


@pytest.fixture(scope="module")
def accuracy(tmp_path_factory) -> dict[str, dict]:
    """The table, for systems that answer as many queries as was published, and nobody's human."""
    folder = tmp_path_factory.mktemp("oven")
    images = [
        {"image_id": f"{subset}-{seen}-{n:04d}", "subset": subset, "seen": seen}
        for subset, seen in STRATA
        for n in range(QUERIES)
    ]
    images += [{"image_id": f"h{n}", "subset": "human", "seen": None} for n in range(4)]
    pl.DataFrame(images).write_parquet(folder / "images.parquet")
    cell = {"collection": "c", "setting": "large", "split": "validation", "task": "m2t"}
    scores = [
        cell
        | {"system": system, "query_id": image["image_id"], "measure": "Success@1"}
        | {"value": float(int(str(image["image_id"])[-4:]) < QUERIES * right[at] / 100)}
        for system, right in PUBLISHED.items()
        for at, stratum in zip((0, 1, 3, 4), STRATA, strict=True)
        for image in images
        if (image["subset"], image["seen"]) == stratum
    ]
    scores += [
        cell
        | {"system": "CLIP", "query_id": f"h{n}", "measure": "Success@1", "value": float(n < 1)}
        for n in range(4)
    ]
    store.write_rows(scores, folder / "scores.parquet", tables.SCORES)
    relations = {name: folder / f"{name}.parquet" for name in ("images", "scores")}
    found = sql.query(sql.SQL / "tabulate/oven/accuracy.sql", relations, {})
    assert found is not None
    return {row["system"]: row for row in found.iter_rows(named=True)}


@pytest.mark.parametrize("system", PUBLISHED)
def test_published_accuracies_give_the_published_harmonic_means(accuracy, system):
    row, right = accuracy[system], PUBLISHED[system]
    tolerance = 0.03 if system == "BLIP-2" else 0.1
    for at, name in ((2, "entity_hm"), (5, "query_hm"), (6, "overall")):
        assert row[f"score_{name}"] == pytest.approx(right[at], abs=tolerance)


def test_the_human_set_stands_apart(accuracy):
    assert accuracy["CLIP"]["score_human"] == 25
    assert accuracy["PaLI-3B"]["score_human"] is None


def test_a_system_that_never_finds_unseen_entities_has_a_mean_of_zero(tmp_path: Path):
    rows = [("a", "entity", "seen", 1.0), ("b", "entity", "unseen", 0.0)]
    pl.DataFrame(rows, ["image_id", "subset", "seen", "value"], orient="row").drop(
        "value"
    ).write_parquet(tmp_path / "images.parquet")
    cell = {"collection": "c", "setting": "large", "split": "test", "task": "m2t", "system": "s"}
    scores = [cell | {"query_id": i, "measure": "Success@1", "value": v} for i, _, _, v in rows]
    store.write_rows(scores, tmp_path / "scores.parquet", tables.SCORES)
    relations = {name: tmp_path / f"{name}.parquet" for name in ("images", "scores")}
    found = sql.query(sql.SQL / "tabulate/oven/accuracy.sql", relations, {})
    assert found is not None
    columns = ["score_entity_hm", "score_query_hm", "score_overall", "score_all"]
    assert found.select(columns).row(0) == (0, None, None, 50)
