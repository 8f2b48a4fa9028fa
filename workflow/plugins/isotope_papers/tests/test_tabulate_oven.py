"""OVEN's measures and tables: the paper's accuracies give its harmonic means (ICCV 2023)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.schemas.score import SCORES
from isotope.schemas.tabulate import ANSWERED_BY
from isotope_papers.resources import SQL

SETS = ("entity", "query", "human")
STRATA = [(subset, category) for subset in SETS for category in ("seen", "unseen")]
# Table 1 (validation): seen, unseen and their harmonic mean of the entity set, then of the query
# set, and the overall mean. BLIP-2 is of the README of edchengg/oven_eval, with two decimals.
TABLE_1 = {
    "CLIP": (5.4, 5.3, 5.4, 0.8, 1.4, 1.0, 1.7),
    "CLIP Fusion": (32.7, 4.3, 7.7, 33.4, 2.2, 4.2, 5.4),
    "CLIP2CLIP": (12.6, 10.1, 11.2, 4.1, 2.1, 2.8, 4.4),
    "PaLI-3B": (21.6, 6.6, 10.1, 33.2, 14.7, 20.4, 13.5),
    "PaLI-17B": (30.6, 12.4, 17.6, 44.2, 22.4, 29.8, 22.1),
    "BLIP-2": (8.55, 3.40, 4.87, 24.63, 17.68, 20.58, 7.87),
}
# Table 2 (test): seen and unseen of the entity set, of the query set, the overall mean, then seen,
# unseen and their mean of the human set, which is all that Human + Search has.
TABLE_2 = {
    "CLIP": (5.6, 4.9, 1.3, 2.0, 2.4, 4.6, 6.0, 5.2),
    "CLIP Fusion": (33.6, 4.8, 25.8, 1.4, 4.1, 18.0, 2.9, 5.0),
    "CLIP2CLIP": (12.6, 10.5, 3.8, 3.2, 5.3, 14.0, 11.1, 12.4),
    "PaLI-3B": (19.1, 6.0, 27.4, 12.0, 11.8, 30.5, 15.8, 20.8),
    "PaLI-17B": (28.3, 11.2, 36.2, 21.7, 20.2, 40.3, 26.0, 31.6),
    "Human+Search": (None, None, None, None, None, 76.1, 79.3, 77.7),
}
QUERIES = 2_000
CELL = {"collection": "c", "setting": "large", "task": "m2t", "measure": "Success@1"}


def accuracies() -> Iterator[tuple[str, str, str, str, float]]:
    """Split, system, subset, seen and the published percentage, of both tables."""
    for system, row in TABLE_1.items():
        cells = zip(STRATA[:4], (row[0], row[1], row[3], row[4]), strict=True)
        yield from (("validation", system, *stratum, value) for stratum, value in cells)
    for system, row in TABLE_2.items():
        cells = zip(STRATA, (*row[:4], *row[5:7]), strict=True)
        published = ((stratum, value) for stratum, value in cells if value is not None)
        yield from (("test", system, *stratum, value) for stratum, value in published)


def tabulated(folder: Path, images: pl.DataFrame, scores: pl.DataFrame) -> list[dict[str, Any]]:
    """The table; scores without a column `answered` are of systems that answer everything."""
    images.write_parquet(folder / "images.parquet")
    if "answered" not in scores.columns:
        scores = scores.with_columns(answered=True)
    answered = scores.filter("answered").select(ANSWERED_BY.names)
    store.write(answered.to_arrow(), folder / "answered.parquet", ANSWERED_BY)
    cell_scores = scores.with_columns(pl.lit(v).alias(k) for k, v in CELL.items())
    store.write(cell_scores.select(SCORES.names).to_arrow(), folder / "scores.parquet", SCORES)
    relations = {name: folder / f"{name}.parquet" for name in ("images", "scores", "answered")}
    table = sql.query(SQL / "tables/accuracy.sql", relations, {})
    assert table is not None
    return table.to_dicts()


@pytest.fixture(scope="module")
def accuracy(tmp_path_factory) -> dict[tuple[str, str], dict[str, Any]]:
    """The table, for systems that are right as often as was published, by split and system."""
    numbers = pl.DataFrame({"n": range(QUERIES)})
    parts = [
        numbers.select(
            pl.lit(split).alias("split"),
            pl.lit(system).alias("system"),
            pl.format(f"{split}-{subset}-{category}-{{}}", "n").alias("query_id"),
            (pl.col("n") < QUERIES * value / 100).cast(pl.Float64).alias("value"),
            pl.lit("large").alias("setting"),
        )
        for split, system, subset, category, value in accuracies()
    ]
    scores = pl.concat(parts)
    images = scores.select(image_id="query_id").unique()
    id_parts = pl.col("image_id").str.split("-")
    images = images.with_columns(subset=id_parts.list.get(1), seen=id_parts.list.get(2))
    rows = tabulated(tmp_path_factory.mktemp("oven"), images, scores)
    return {(row["split"], row["system"]): row for row in rows}


@pytest.mark.parametrize("system", TABLE_1)
def test_published_accuracies_give_the_published_harmonic_means(accuracy, system):
    row, right = accuracy["validation", system], TABLE_1[system]
    tolerance = 0.03 if system == "BLIP-2" else 0.1
    for at, name in ((2, "entity_hm"), (5, "query_hm"), (6, "overall")):
        assert row[f"score_{name}"] == pytest.approx(right[at], abs=tolerance)
    shares = [row[f"score_{subset}_{category}"] for subset, category in STRATA[:4]]
    assert shares == pytest.approx([right[at] for at in (0, 1, 3, 4)], abs=0.05)


@pytest.mark.parametrize("system", TABLE_2)
def test_the_human_set_has_seen_unseen_and_the_published_harmonic_mean(accuracy, system):
    row, right = accuracy["test", system], TABLE_2[system]
    shares = [row[f"score_{subset}_{category}"] for subset, category in STRATA[:4]]
    assert shares == [value and pytest.approx(value, abs=0.05) for value in right[:4]]
    assert row["score_human_seen"] == pytest.approx(right[5], abs=0.05)
    assert row["score_human_unseen"] == pytest.approx(right[6], abs=0.05)
    assert row["score_human_hm"] == pytest.approx(right[7], abs=0.1)
    overall = right[4] and pytest.approx(right[4], abs=0.1)
    assert row["score_overall"] == overall


def test_a_set_without_questions_has_no_accuracy(accuracy):
    assert accuracy["validation", "PaLI-3B"]["score_human_hm"] is None
    assert accuracy["test", "Human+Search"]["score_entity_seen"] is None


def test_unanswered_questions_are_wrong_in_one_row_and_left_out_in_the_other(tmp_path):
    """The official scorer goes through the predictions: edchengg/oven_eval, evaluate_oven."""
    # Subset, seen, whether it has an answer, whether that is right.
    asked = [
        ("entity", "seen", True, 1.0), ("entity", "seen", False, 0.0),
        ("entity", "unseen", True, 1.0), ("entity", "unseen", True, 0.0),
        ("query", "seen", True, 1.0), ("query", "unseen", False, 0.0),
        ("query", "unseen", True, 1.0), ("human", "seen", False, 0.0),
    ]  # fmt: skip
    columns = ["subset", "seen", "answered", "value"]
    rows = pl.DataFrame(asked, columns, orient="row").with_row_index("n")
    rows = rows.with_columns(query_id=pl.format("q{}", "n"), setting=pl.lit("large"))
    cell = {"split": pl.lit("validation"), "system": pl.lit("said")}
    all_answered = rows.with_columns(
        answered=True, split=pl.lit("validation"), system=pl.lit("all")
    )
    scores = pl.concat([rows.with_columns(**cell).select(all_answered.columns), all_answered])
    images = rows.select("subset", "seen", image_id="query_id")
    table = tabulated(tmp_path, images, scores)
    shown = [(r["system"], r["unanswered"], r["queries"]) for r in table]
    assert shown == [
        ("all", "count as wrong", 8),
        ("said", "count as wrong", 8),
        ("said", "left out", 5),
    ]
    columns = ["entity_seen", "entity_unseen", "query_seen", "query_unseen", "human_seen"]
    assert [[r[f"score_{c}"] for c in columns] for r in table[1:]] == [
        [50, 50, 100, 50, 0],
        [100, 50, 100, 100, None],
    ]
    assert table[2]["score_entity_hm"] == pytest.approx(2 / (1 / 100 + 1 / 50))


def test_a_system_that_never_finds_unseen_entities_has_a_mean_of_zero(tmp_path):
    asked = [("a", "seen", 1.0), ("b", "unseen", 0.0)]
    scores = pl.DataFrame(asked, ["query_id", "seen", "value"], orient="row").with_columns(
        setting=pl.lit("large"), split=pl.lit("test"), system=pl.lit("s")
    )
    images = scores.select("seen", image_id="query_id").with_columns(subset=pl.lit("entity"))
    (row,) = tabulated(tmp_path, images, scores)
    columns = ["score_entity_hm", "score_query_hm", "score_overall", "score_all"]
    assert [row[c] for c in columns] == [0, None, None, 50]


# Fig. 3 (right): unique queries, then entities and examples that are seen, those that are unseen,
# and all examples.
FIGURE_3 = {
    "validation": (3_124, 1_942, 63_366, 2_004, 66_124, 129_490),
    "human": (17_669, 2_487, 14_016, 2_174, 10_851, 24_867),
}
COUNTS = ["unique_queries", "seen_entities", "seen_examples", "unseen_entities", "unseen_examples"]


def examples(name: str, category: str, entities: int, count: int) -> pl.DataFrame:
    """As many examples of so many entities; the human set is sampled from the test split."""
    at = pl.int_range(pl.len())
    return pl.DataFrame({"n": range(count)}).select(
        image_id=pl.format(f"{name}-{category}-{{}}", "n"),
        text_id=pl.format(f"{category}-{{}}", at % entities),
        subset=pl.lit("human" if name == "human" else "entity"),
        split=pl.lit("test" if name == "human" else name),
        seen=pl.lit(category),
    )


def sets(folder: Path, asked: pl.DataFrame) -> dict[str, dict[str, Any]]:
    images = asked.drop("text_id").unique("image_id", maintain_order=True)
    images.write_parquet(folder / "images.parquet")
    pairs = asked.drop_nulls("text_id").select("text_id", "image_id", "split", relevance=1)
    pairs.write_parquet(folder / "qrels.parquet")
    relations = {name: folder / f"{name}.parquet" for name in ("images", "qrels")}
    table = sql.query(SQL / "tables/sets.sql", relations, {})
    assert table is not None
    return {row["examples_of"]: row for row in table.to_dicts()}


def test_the_published_examples_are_counted_as_in_figure_3(tmp_path):
    parts = []
    for name, (queries, *seen_counts, unseen_entities, unseen, _) in FIGURE_3.items():
        both = [
            examples(name, "seen", *seen_counts),
            examples(name, "unseen", unseen_entities, unseen),
        ]
        asked = pl.concat(both).with_columns(
            question=pl.format("Which {}?", pl.int_range(pl.len()) % queries)
        )
        parts.append(asked)
    table = sets(tmp_path, pl.concat(parts))
    assert list(table) == ["validation", "human"]
    for name, row in table.items():
        assert tuple(row[c] for c in [*COUNTS, "examples"]) == FIGURE_3[name]


def test_a_set_whose_answers_are_withheld_has_examples_and_no_entities(tmp_path):
    asked = pl.DataFrame(
        [
            ("a", "T1", "entity", "train", "seen", "What?"),
            ("b", "T1", "query", "train", "seen", "What?"),
            ("c", None, "entity", "test", "unseen", "What?"),
            ("d", None, "entity", "test", None, "Where?"),
        ],
        ["image_id", "text_id", "subset", "split", "seen", "question"],
        orient="row",
    )
    table = sets(tmp_path, asked)
    shown = {name: [row[c] for c in [*COUNTS, "examples"]] for name, row in table.items()}
    assert shown == {"train": [1, 1, 2, 0, 0, 2], "test": [2, None, 0, None, 1, 2]}


def test_the_knowledge_base_counts_entities_pictures_and_words_of_titles(tmp_path):
    rows = [("Q1", "Dassault Falcon 900", "p1"), ("Q2", "Ceviche", None)]
    texts = pl.DataFrame(rows, ["text_id", "page_title", "picture_id"], orient="row")
    texts.write_parquet(tmp_path / "texts.parquet")
    query = SQL / "tables/knowledge.sql"
    table = sql.query(query, {"texts": tmp_path / "texts.parquet"}, {})
    assert table is not None
    assert table.row(0) == (2, 1, 2, 2.0, 1.0)
