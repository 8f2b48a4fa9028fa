"""Means and their intervals over strata of queries, on rows small enough to count by hand."""

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import bootstrap

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.parse import INLINKS
from isotope.schemas.score import SCORES
from isotope.tabulate import strata
from isotope.tabulate.table import rows as asked

HOW = strata.Resampling(samples=200, seed=5, level=0.9)
N = 20


def lay_facts(folder: Path) -> dict[str, Path]:
    texts = [{"text_id": f"t{n:02}", "page_id": n, "split": "test"} for n in range(N)]
    images = [
        {
            "image_id": f"i{n:02}",
            "language": ["de", "en"],
            "caption_reference_description": ["Bild", "a picture" if n % 4 else ""],
        }
        for n in range(N)
    ]
    qrels = [
        {"text_id": f"t{n:02}", "image_id": f"i{n:02}", "relevance": 1}
        | {"split": "test" if n < 15 else "validation"}
        for n in range(N)
    ]
    store.write_rows(texts, folder / "texts.parquet", TEXTS)
    store.write_rows(images, folder / "images.parquet", IMAGES)
    store.write_rows(qrels, folder / "qrels.parquet", QRELS)
    views = "".join(f"{n},{n * 10}\n" for n in range(1, N))
    (folder / "views.csv").write_text(f"page_id,views\n{views}")
    (folder / "styles.csv").write_text(
        "image_id,style\n" + "".join(f"i{n:02},{'photo' if n % 2 else 'map'}\n" for n in range(N))
    )
    suffix = {"views": "csv", "styles": "csv"}
    names = ("texts", "images", "qrels", "views", "styles")
    return {n: folder / f"{n}.{suffix.get(n, 'parquet')}" for n in names}


def lay_scores(folder: Path) -> Path:
    rows = [
        {"collection": "c", "setting": "small", "split": split, "task": "t2m", "system": system}
        | {"query_id": f"t{n:02}", "measure": "MAP", "value": value(n)}
        for system, value in (("a", lambda n: n / N), ("b", lambda _: 0.5))
        for n in range(N)
        for split in ["test" if n < 15 else "validation"]
    ]
    store.write_rows(rows, folder / "scores.parquet", SCORES)
    return folder / "scores.parquet"


@pytest.fixture
def facts(tmp_path):
    return lay_facts(tmp_path)


@pytest.fixture
def scores(tmp_path):
    return lay_scores(tmp_path)


@pytest.fixture(scope="module")
def intervals(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("strata")
    out = folder / "intervals.parquet"
    own = lay_facts(folder)
    strata.intervals_table(lay_scores(folder), own, language="en", how=HOW, out=out)
    return out


@pytest.fixture(scope="module")
def found(intervals):
    return pl.read_parquet(intervals)


def one(found, **where):
    rows = found.filter(pl.col(k) == v for k, v in where.items())
    return rows.rows(named=True)


def test_views_may_be_told_by_title(facts):
    by_id = strata.members(facts, "en")
    texts = pl.read_parquet(facts["texts"]).with_columns(
        page_title=pl.format("Page {}", "page_id"), page_id=pl.lit(None, pl.Int64)
    )
    texts.write_parquet(facts["texts"])
    views = pl.read_csv(facts["views"])
    titled = views.select(page_title=pl.format("Page_{}", "page_id"), views="views")
    titled.write_csv(facts["views"])
    assert strata.members(facts, "en").equals(by_id)


def test_the_whole_cell_has_scipys_interval(found):
    (row,) = one(found, kind="all", split="test", system="a")
    values = np.arange(15) / N
    theirs = bootstrap(
        (values,), np.mean, n_resamples=200, method="percentile", confidence_level=0.9,
        rng=np.random.default_rng(5),
    ).confidence_interval  # fmt: skip
    assert (row["queries"], row["value"]) == (15, pytest.approx(values.mean()))
    assert (row["low"], row["high"]) == pytest.approx((theirs.low, theirs.high))


def test_deciles_rise_with_the_views_and_a_page_without_views_is_in_the_lowest(found, facts):
    members = strata.members(facts, "en").filter(
        pl.col("kind") == "popularity by views", pl.col("task") == "t2m", pl.col("split") == "test"
    )
    assert members.sort("query_id")["stratum"].to_list() == [
        *(
            [
                "01",
                "01",
                "02",
                "02",
                "03",
                "03",
                "04",
                "04",
                "05",
                "05",
                "06",
                "07",
                "08",
                "09",
                "10",
            ]
        )
    ]
    values = [r["value"] for r in one(found, kind="popularity by views", split="test", system="a")]
    assert values[:10] == sorted(values[:10])


def test_the_gap_is_head_less_tail_and_macro_weighs_strata_alike(found):
    own = one(found, kind="popularity by views", split="test", system="a")
    value = {r["stratum"]: r["value"] for r in own}
    assert value["head - tail"] == pytest.approx(14 / N - 0.5 / N)
    assert value["macro"] == pytest.approx(np.mean([value[f"{n:02}"] for n in range(1, 11)]))


def test_a_system_that_is_everywhere_the_same_has_no_gap_and_no_interval(found):
    (row,) = one(found, kind="popularity by views", split="test", system="b", stratum="head - tail")
    assert (row["value"], row["low"], row["high"]) == (0, None, None)


def test_a_caption_in_another_language_is_absent(found):
    queries = {
        r["stratum"]: r["queries"] for r in one(found, kind="caption", system="b", split="test")
    }
    assert queries == {"absent": 4, "present": 11, "macro": 15, "head - tail": 15}


def test_styles_are_strata_without_a_gap(found):
    strata_of = [r["stratum"] for r in one(found, kind="style", system="a", split="test")]
    assert strata_of == ["map", "photo", "macro"]


def test_splits_are_strata_of_their_union(found):
    rows = one(found, kind="split", system="a")
    assert {r["split"] for r in rows} == {"all"}
    assert {r["stratum"]: r["queries"] for r in rows} == {"test": 15, "validation": 5, "macro": 20}


def test_without_views_there_are_no_deciles(scores, facts, tmp_path):
    del facts["views"]
    strata.intervals_table(scores, facts, language="en", how=HOW, out=tmp_path / "x.parquet")
    kinds = set(pl.read_parquet(tmp_path / "x.parquet")["kind"])
    assert kinds == {"all", "caption", "style", "split"}


def test_links_make_the_same_deciles_as_views_that_are_as_many(facts):
    views = pl.read_csv(facts["views"]).rename({"views": "inlinks"})
    inlinks = facts["views"].with_name("inlinks.parquet")
    store.write(views.to_arrow(), inlinks, INLINKS)
    rows = strata.members({**facts, "inlinks": inlinks}, "en").partition_by("kind", as_dict=True)
    by_views, by_links = (rows[f"popularity by {what}",] for what in ("views", "in-links"))
    assert by_links.drop("kind").equals(by_views.drop("kind"))
    assert len(by_views) > N


def test_the_table_says_what_popularity_is_counted_from(scores, facts, tmp_path):
    store.write_rows([], tmp_path / "inlinks.parquet", INLINKS)
    del facts["views"]
    given = {**facts, "inlinks": tmp_path / "inlinks.parquet"}
    strata.intervals_table(scores, given, language="en", how=HOW, out=tmp_path / "x.parquet")
    query, cell = sql.SQL / "tabulate/tables/strata.sql", {"setting": "small", "split": "test"}
    found = asked(query, {"intervals": tmp_path / "x.parquet"}, {**cell, "measure": "MAP"})
    kinds = list(dict.fromkeys(found["kind"]))
    assert kinds == ["popularity by in-links", "caption", "style", "split"]


def test_the_same_seed_gives_the_same_bytes(scores, facts, intervals, tmp_path):
    strata.intervals_table(scores, facts, language="en", how=HOW, out=tmp_path / "again.parquet")
    assert (tmp_path / "again.parquet").read_bytes() == intervals.read_bytes()


def test_intervals_of_nothing_are_refused(facts, tmp_path):
    store.write_rows([], tmp_path / "none.parquet", SCORES)
    with pytest.raises(EmptyTable, match="no scores"):
        strata.intervals_table(
            tmp_path / "none.parquet", facts, language="en", how=HOW, out=tmp_path / "x.parquet"
        )


def test_a_gain_is_a_row_whose_interval_is_scipys_of_the_paired_differences(
    scores, facts, tmp_path
):
    out = tmp_path / "intervals.parquet"
    how = HOW._replace(gains=[["a", "b"], ["a", "absent"]])
    strata.intervals_table(scores, facts, language="en", how=how, out=out)
    found = pl.read_parquet(out)
    assert set(found["system"]) == {"a", "b", "a - b"}
    (row,) = one(found, kind="all", split="test", system="a - b")
    differences = np.arange(15) / N - 0.5
    theirs = bootstrap(
        (differences,), np.mean, n_resamples=200, method="percentile", confidence_level=0.9,
        rng=np.random.default_rng(5),
    ).confidence_interval  # fmt: skip
    assert row["value"] == pytest.approx(differences.mean())
    assert (row["low"], row["high"]) == pytest.approx((theirs.low, theirs.high))


def test_the_other_rows_do_not_change_when_a_gain_is_asked_for(found, scores, facts, tmp_path):
    out = tmp_path / "again.parquet"
    how = HOW._replace(gains=[["a", "b"]])
    strata.intervals_table(scores, facts, language="en", how=how, out=out)
    assert pl.read_parquet(out).filter(pl.col("system") != "a - b").equals(found)


def test_decades_are_those_of_the_pictures_and_only_where_pictures_have_dates(facts):
    assert "decade" not in strata.members(facts, "en")["kind"]
    dates = [dt.date(1899 + n, 12, 31) if n else None for n in range(N)]
    dated = pl.read_parquet(facts["images"]).with_columns(date=pl.Series(dates))
    dated.write_parquet(facts["images"])
    for task, letter in (("m2t", "i"), ("t2m", "t")):
        found = strata.members(facts, "en").filter(kind="decade", task=task).sort("query_id")
        assert found["query_id"].to_list() == [f"{letter}{n:02}" for n in range(1, N)]
        assert found["stratum"].to_list() == ["1900s"] * 10 + ["1910s"] * 9


def test_a_query_is_in_the_stratum_of_its_language_and_one_of_two_languages_in_its_own(
    facts, scores, tmp_path
):
    assert not strata.members(facts, "en").filter(kind="language").height
    spoken = ["en", "ru"] * (N // 2)
    texts = pl.read_parquet(facts["texts"]).with_columns(language=pl.Series(spoken))
    texts.write_parquet(facts["texts"])
    qrels = pl.read_parquet(facts["qrels"])
    # The image i00 has an English text already, and i01 a Russian one.
    more = qrels.head(2).with_columns(text_id=pl.Series(["t01", "t03"]))
    pl.concat([qrels, more]).write_parquet(facts["qrels"])
    members = strata.members(facts, "mul").filter(kind="language")
    of = {(task, q): stratum for _, task, _, q, stratum in members.rows()}
    assert [of["t2m", f"t{n:02}"] for n in range(N)] == spoken
    assert [of["m2t", f"i{n:02}"] for n in range(3)] == ["en+ru", "ru", "en"]
    out = tmp_path / "several.parquet"
    strata.intervals_table(scores, facts, language="mul", how=HOW, out=out)
    told = one(pl.read_parquet(out), kind="language", split="test", system="a")
    assert [(r["stratum"], r["queries"]) for r in told] == [("en", 8), ("ru", 7), ("macro", 15)]
    assert told[0]["value"] == pytest.approx(np.mean(np.arange(0, 15, 2)) / N)
    assert told[1]["value"] == pytest.approx(np.mean(np.arange(1, 15, 2)) / N)


def test_a_caption_in_any_language_is_present_where_several_are_spoken(facts):
    members = strata.members(facts, "mul").filter(kind="caption")
    assert set(members["stratum"]) == {"present"}


def test_the_head_has_more_than_5000_views_a_month_and_the_tail_less_than_2500(
    facts, scores, tmp_path
):
    """OVEN, section 6: "head entities (that have more than 5K monthly page views)", "tail-ish
    entities (that have less than 2.5K monthly views)"; it names nothing between."""
    told = {1: 2499.9, 2: 2500, 3: 5000, 4: 5000.1, 5: 2_000_000}
    lines = "".join(f"{n},{views}\n" for n, views in told.items())
    facts["views"].write_text(f"page_id,views\n{lines}")
    facts["monthly_views"] = facts.pop("views")
    members = strata.members(facts, "en").filter(kind="popularity by monthly views", task="m2t")
    of = dict(members.select("query_id", "stratum").rows())
    assert [of[f"i{n:02}"] for n in range(7)] == [
        *("tail", "tail", "between", "between", "head", "head", "tail")
    ]
    other = strata.members(facts, "en", strata.Thresholds(2000, 1000))
    own = other.filter(kind="popularity by monthly views", task="m2t", query_id="i01")
    assert own["stratum"].to_list() == ["head"]
    out = tmp_path / "monthly.parquet"
    strata.intervals_table(scores, facts, language="en", how=HOW, out=out)
    query, cell = sql.SQL / "tabulate/tables/strata.sql", {"setting": "small", "split": "test"}
    found = asked(query, {"intervals": out}, {**cell, "measure": "MAP"})
    shown = found.filter(kind="popularity by monthly views", system="a", task="t2m")
    assert shown["stratum"].to_list() == ["head", "between", "tail", "head - tail", "macro"]
    assert "popularity by views" not in found["kind"]
    value = dict(shown.select("stratum", "value").rows())
    assert value["head - tail"] == pytest.approx(value["head"] - value["tail"], abs=1e-6)
