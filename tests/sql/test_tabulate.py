"""The table queries, on rows small enough to count by hand and on the published collection."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.schemas.collect import FILTERS, IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import LEDGER
from isotope.schemas.project import PROJECTION
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.schemas.tabulate import INTERVALS
from isotope.tabulate import table as tabulate
from isotope.tabulate.table import lay_out, widen

SQL = sql.SQL / "tabulate"


def put(path: Path, rows: list[dict], schema) -> Path:
    store.write_rows(rows, path, schema)
    return path


@pytest.fixture
def significance(tmp_path):
    def write(*rows: tuple[str, str, float, float]) -> Path:
        cell = {"collection": "c", "setting": "small", "split": "test", "task": "t2m"}
        return put(
            tmp_path / "significance.parquet",
            [
                cell | {"measure": "MAP", "system": s, "other": o, "difference": d}
                | {"t": 1.0, "p": p, "p_bonferroni": p}
                for s, o, d, p in rows
            ],
            SIGNIFICANCE,
        )  # fmt: skip

    return write


@pytest.fixture
def scores(tmp_path):
    def write(values: dict[str, list[float]], **cell: str) -> Path:
        cell = {"collection": "c", "setting": "small", "split": "test", "task": "t2m"} | cell
        rows = [
            cell | {"system": system, "query_id": f"q{i}", "measure": "MAP", "value": value}
            for system, of_system in values.items()
            for i, value in enumerate(of_system)
        ]
        return put(tmp_path / f"scores-{'-'.join(cell.values())}.parquet", rows, SCORES)

    return write


def test_table_1_prints_the_published_numbers_of_atomic_validation(shared, tmp_path):
    """AToMiC, Table 1: 17,173 texts, 16,131 images, 17,801 qrels, 1.03 (±0.43), 1.10 (±0.43)."""
    file = shared / "collections/atomic/qrels.atomic.validation.t2i.trec.gz"
    with gzip.open(file, "rt") as lines:
        pairs = [line.split() for line in lines]
    qrels = [
        {"text_id": t, "image_id": i, "relevance": int(r), "split": "validation"}
        for t, _, i, r in pairs
    ]
    texts = [{"text_id": t, "split": "validation"} for t in {q["text_id"] for q in qrels}]
    images = [{"image_id": i, "split": "validation"} for i in {q["image_id"] for q in qrels}]
    relations = {
        "texts": put(tmp_path / "texts.parquet", texts, TEXTS),
        "images": put(tmp_path / "images.parquet", images, IMAGES),
        "qrels": put(tmp_path / "qrels.parquet", qrels, QRELS),
    }
    tabulate.tabulate(SQL / "tables/table1.sql", relations, {}, tmp_path / "table1")
    printed = (tmp_path / "table1.md").read_text().splitlines()
    assert printed[0] == "| split | texts | images | qrels | M/T | T/M |"
    assert printed[2] == "| validation | 17,173 | 16,131 | 17,801 | 1.037 ± 0.430 | 1.104 ± 0.426 |"


def test_table_1_counts_texts_that_nobody_points_to_and_leaves_their_ratio_blank(tmp_path):
    relations = {
        "texts": put(tmp_path / "t", [{"text_id": "a", "split": "other"}], TEXTS),
        "images": put(tmp_path / "i", [], IMAGES),
        "qrels": put(tmp_path / "q", [], QRELS),
    }
    rows = tabulate.rows(SQL / "tables/table1.sql", relations, {}).rows()
    assert rows == [("other", 1, 0, 0, None, None, None, None)]


def test_the_filter_account_keeps_the_order_in_which_filters_ran(tmp_path):
    rows = [
        {"step": step, "split": split, "before": 5, "dropped": 1, "after": 4}
        for step in ("one_split", "canonical", "alive")
        for split in ("test", "train")
    ]
    filters = put(tmp_path / "filters", rows, FILTERS)
    account = tabulate.rows(SQL / "tables/account.sql", {"filters": filters}, {})
    assert account["step"].unique(maintain_order=True).to_list() == [
        "alive", "canonical", "one_split",
    ]  # fmt: skip
    assert account["split"].to_list() == ["train", "test"] * 3


def test_the_steps_of_own_data_follow_each_other_in_the_filter_account(tmp_path):
    steps = [("read", 7, 7), ("no_text", 7, 6), ("bad_relevance", 6, 5), ("missing_picture", 5, 4)]
    rows = [
        {"step": s, "split": "train", "before": n, "dropped": n - left, "after": left}
        for s, n, left in sorted(steps)
    ]
    filters = put(tmp_path / "filters", rows, FILTERS)
    account = tabulate.rows(SQL / "tables/account.sql", {"filters": filters}, {})
    assert account["step"].to_list() == [step for step, *_ in steps]


def test_table_1_has_no_row_of_a_split_without_an_item(tmp_path):
    relations = {
        "texts": put(tmp_path / "t", [{"text_id": "a", "split": "test"}], TEXTS),
        "images": put(tmp_path / "i", [{"image_id": "b", "split": "test"}], IMAGES),
        "qrels": put(tmp_path / "q", [], QRELS),
    }
    rows = tabulate.rows(SQL / "tables/table1.sql", relations, {})
    assert rows["split"].to_list() == ["test"]


@pytest.mark.parametrize(("decades", "kinds"), [(("1990s", "2000s"), ["decade"]), ((), [])])
def test_a_kind_of_a_single_stratum_is_not_among_others(tmp_path, decades, kinds):
    """Where no kind has several strata, all stay, and the report leaves the table out."""
    cell = {"setting": "small", "task": "t2m", "split": "test", "measure": "MRR@10"}
    strata = [("caption", "absent"), ("caption", "macro"), ("decade", "macro")]
    strata += [("decade", decade) for decade in decades]
    rows = [
        {**cell, "kind": kind, "stratum": stratum, "system": "bm25"}
        | {"queries": 3, "value": 0.5, "low": 0.4, "high": 0.6}
        for kind, stratum in strata
    ]
    table = put(tmp_path / "intervals", rows, INTERVALS)
    params = {"setting": "small", "measure": "MRR@10", "split": "test"}
    found = tabulate.rows(SQL / "tables/strata.sql", {"intervals": table}, params)
    assert found["kind"].unique(maintain_order=True).to_list() == (kinds or ["caption", "decade"])


def test_the_crawl_account_adds_up_to_every_url(tmp_path):
    rows = [
        {"image_url": f"u{i}", "status": status, "attempts": n, "bytes": size}
        for i, (status, n, size) in enumerate(
            [("success", 1, 10), ("success", 2, 20), ("success", 1, 30), ("http_404", 3, None)]
        )
    ]
    ledger = put(tmp_path / "ledger", rows, LEDGER)
    account = tabulate.rows(SQL / "tables/crawl.sql", {"ledger": ledger}, {})
    assert account.rows() == [("success", 3, 0.75, 4, 60), ("http_404", 1, 0.25, 3, 0)]


def test_the_match_rate_counts_texts_that_found_no_section(tmp_path):
    rows = [
        {"source_text_id": "s1", "text_id": "t1", "method": "bm25", "score": 2.0},
        {"source_text_id": "s2", "text_id": "t2", "method": "bm25", "score": 4.0},
        {"source_text_id": "s3", "text_id": "t3", "method": "exact", "score": None},
        {"source_text_id": "s4", "text_id": None, "method": "bm25", "score": None},
    ]
    projection = put(tmp_path / "projection", rows, PROJECTION)
    rates = tabulate.rows(SQL / "tables/projection.sql", {"projection": projection}, {})
    assert rates.select("matched_by", "texts", "share", "score_median").rows() == [
        ("bm25", 2, 0.5, 3.0),
        ("exact", 1, 0.25, None),
        ("none", 1, 0.25, None),
    ]


@pytest.mark.parametrize("pair", [("a-sys", "b-sys", 0.3), ("b-sys", "a-sys", -0.3)])
def test_a_win_is_lettered_whichever_way_round_the_pair_was_tested(scores, significance, pair):
    relations = {
        "scores": scores({"a-sys": [0.5, 0.9], "b-sys": [0.2, 0.6]}),
        "significance": significance((*pair, 0.01)),
    }
    table = tabulate.rows(SQL / "tables/table3.sql", relations, {"alpha": 0.05})
    assert table.select("letter", "system", "heading", "value", "beats").rows() == [
        ("a", "a-sys", "t2m MAP", 0.7, "b"),
        ("b", "b-sys", "t2m MAP", 0.4, ""),
    ]


def test_a_difference_at_or_above_alpha_earns_no_letter(scores, significance):
    relations = {
        "scores": scores({"a": [0.5], "b": [0.2]}),
        "significance": significance(("a", "b", 0.3, 0.05)),
    }
    table = tabulate.rows(SQL / "tables/table3.sql", relations, {"alpha": 0.05})
    assert table["beats"].to_list() == ["", ""]


def test_letters_of_several_beaten_systems_stand_in_order_and_the_best_is_bold(
    scores, significance, tmp_path
):
    relations = {
        "scores": scores({"a": [0.2], "b": [0.3], "c": [0.9]}),
        "significance": significance(("c", "b", 0.6, 0.0), ("c", "a", 0.7, 0.0)),
    }
    tabulate.tabulate(SQL / "tables/table3.sql", relations, {"alpha": 0.05}, tmp_path / "table3")
    assert (
        "| small | test | c | c | **0.9000**<sup>ab</sup> |"
        in (tmp_path / "table3.md").read_text().splitlines()
    )
    assert (
        r"small & test & c & c & \textbf{0.9000}$^{ab}$ \\"
        in (tmp_path / "table3.tex").read_text().splitlines()
    )


def test_the_best_of_table_3_is_found_within_its_pool_not_across_pools(scores, significance):
    files = [
        scores({"a": [0.9], "b": [0.8]}),
        scores({"a": [0.1], "b": [0.2]}, setting="large"),
    ]
    relations = {"scores": files, "significance": significance()}
    table = lay_out(widen(tabulate.rows(SQL / "tables/table3.sql", relations, {"alpha": 0.05})))
    assert [row[-1].best for row in table.rows] == [True, False, False, True]


def test_sixty_systems_get_sixty_different_letters(scores, significance):
    relations = {
        "scores": scores({f"s{i:02}": [0.5] for i in range(60)}),
        "significance": significance(),
    }
    table = tabulate.rows(SQL / "tables/table3.sql", relations, {"alpha": 0.05})
    assert "".join(table["letter"].to_list()[:28]) == "abcdefghijklmnopqrstuvwxyzAB"
    assert table["letter"].n_unique() == 60


def test_the_corpus_grows_with_the_setting(scores, tmp_path):
    splits = ["train"] * 4 + ["validation"] * 2 + ["test"] * 3 + ["other"] * 10
    images = [{"image_id": f"i{n}", "split": s} for n, s in enumerate(splits)]
    texts = [{"text_id": f"t{n}", "split": s} for n, s in enumerate(splits[:9])]
    relations = {
        "scores": [scores({"a": [0.5]}, setting=s) for s in ("small", "base", "large")],
        "texts": put(tmp_path / "texts", texts, TEXTS),
        "images": put(tmp_path / "images", images, IMAGES),
    }
    sizes = tabulate.rows(
        SQL / "tables/corpus_size.sql", relations, {"split": "test", "measure": "MAP"}
    )
    assert sizes.select("setting", "documents").rows() == [
        ("small", 3), ("base", 9), ("large", 19),
    ]  # fmt: skip
    assert isinstance(sizes, pl.DataFrame)
