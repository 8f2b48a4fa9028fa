"""What a run prints at its end, from tables whose counts are known."""

import re

import polars as pl
import pytest
from tests import report_project

from isotope.core import store
from isotope.report.account import CATALOG, SITE, summary
from isotope.schemas.collect import FILTERS
from isotope.schemas.crawl import LEDGER
from isotope.schemas.parse import PAIRS
from isotope.schemas.project import PROJECTION

LOST = {"not_found": 9, "too_large": 7, "not_an_image": 7, "timeout": 3, "tls": 2, "refused": 1}


@pytest.fixture
def root(tmp_path):
    """A collection of a dozen pairs, a crawl that lost some pictures, two systems on two pools.

    The name of its folder looks like a pattern.
    """
    tmp_path /= "my project [v2]"
    report_project.lay_collection(tmp_path)
    report_project.lay_runs(tmp_path)
    statuses = [*(s for s, n in LOST.items() for _ in range(n)), *["success"] * 1_971]
    ledger = [
        {"image_url": str(n), "status": s, "attempts": 1, "fetched_at": report_project.FETCHED}
        for n, s in enumerate(statuses)
    ]
    store.write_rows(ledger, tmp_path / "data/crawl/src/ledger.parquet", LEDGER)
    found = [
        {"source_text_id": f"s{n}", "text_id": f"t{n}" if n else None, "method": "bm25"}
        for n in range(3)
    ]
    store.write_rows(found, tmp_path / "data/project/src/projection.parquet", PROJECTION)
    return tmp_path


def everything(root) -> list[str]:
    """The files of a run that has built all that is there."""
    every = [path for name in ("data", "results") for path in (root / name).rglob("*")]
    return [CATALOG, *(path.relative_to(root).as_posix() for path in every if path.is_file())]


def copied(root, name: str) -> list[str]:
    """Another collection with the tables of toy; return its files."""
    folder = root / f"data/collect/{name}"
    folder.mkdir()
    for path in (root / "data/collect/toy").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return [path.relative_to(root).as_posix() for path in folder.iterdir()]


def test_a_whole_run_has_what_was_built_what_was_set_aside_and_where_to_look(root):
    (root / SITE).parent.mkdir(parents=True)
    (root / SITE).touch()
    assert (
        summary(everything(root), root)
        == """\
Built:
  toy  12 texts, 12 images, 11 judgements; 2 systems on 2 pools
Kept and set aside:
                 split        read   kept  set aside
  src  pictures              2,000  1,971  29 (not found: 9, not an image: 7, too large: 7, \
timeout: 3, other reasons: 3)
  src  texts                     3      2  1 (no section found: 1)
  toy  pairs     train           9      6  3 (in several splits: 1, picture lost: 1, \
same as another: 1)
  toy  pairs     validation      9      6  3 (in several splits: 1, picture lost: 1, \
same as another: 1)
  toy  pairs     test            9      6  3 (in several splits: 1, picture lost: 1, \
same as another: 1)
Look at:
  results/report/index.html   the report, in a browser
  isotope report              the main scores
  isotope sql "FROM filters"  any of the tables that SHOW TABLES lists
"""
    )


HEAD = r"Kept and set aside:\n +split +read +kept +set aside\n"


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("data/crawl/src/ledger.parquet", HEAD + r"  src  pictures +2,000  1,971  29 \(.*\)\n"),
        ("data/project/src/projection.parquet", HEAD + r"  src  texts +3 +2  1 \(.*\)\n"),
        ("data/collect/toy/qrels.parquet", r"Built:\n  toy  12 texts.*; 2 systems on 2 pools\n"),
        ("results/search/toy/small/test/t2m/bm25.parquet", r"Built:\n  toy  12 texts.*\n"),
        ("data/acquire/src/manifest.json", ""),
    ],
)
def test_a_run_of_one_phase_has_that_phase(root, made, line):
    assert re.fullmatch(line, summary([made], root))


def test_a_collection_that_this_run_did_not_make_is_left_out(root):
    files = copied(root, "other")
    assert "  other " not in summary(["data/collect/toy/qrels.parquet"], root)
    assert "  other  12 texts, 12 images, 11 judgements; no runs\n" in summary(files, root)
    whole = summary([CATALOG, "results/report/toy/index.html"], root)
    assert "  toy  12 texts" in whole
    assert "  other " not in whole
    assert "Built" not in summary([CATALOG], root)


def test_filters_of_things_of_their_own_stand_apart(root):
    steps = [("queries", 10, 8), ("entities", 100, 99)]
    rows = [
        {"step": s, "split": "test", "before": b, "dropped": b - a, "after": a} for s, b, a in steps
    ]
    store.write_rows(rows, root / "data/collect/toy/filters.parquet", FILTERS)
    told = summary(["data/collect/toy/filters.parquet"], root)
    lines = [" ".join(line.split()) for line in told.splitlines()[2:]]
    assert lines == [
        "toy entities test 100 99 1 (not usable: 1)",
        "toy queries test 10 8 2 (not usable: 2)",
    ]


def test_where_nothing_was_lost_nothing_is_said(root):
    row = {"step": "alive", "split": "test", "before": 9, "dropped": 0, "after": 9}
    store.write_rows([row], root / "data/collect/toy/filters.parquet", FILTERS)
    assert not summary(["data/collect/toy/filters.parquet"], root)


def test_steps_that_follow_each_other_are_read_once(root):
    chain = [("read", 63, 0, 63), ("bad_relevance", 63, 4, 59), ("repeated_pair", 59, 9, 50)]
    rows = [
        {"step": s, "split": "train", "before": b, "dropped": d, "after": a} for s, b, d, a in chain
    ]
    store.write_rows(rows, root / "data/collect/toy/filters.parquet", FILTERS)
    told = " ".join(summary(["data/collect/toy/filters.parquet"], root).split())
    assert "toy pairs train 63 50 13 (repeated pair: 9, bad relevance: 4)" in told


def test_of_a_folder_of_one_s_own_only_pictures_that_a_row_names_count(root):
    statuses = {"a/1.png": "success", "2.jpg": "not_an_image", "3.png": "success"}
    statuses |= {f"page-{n}.html": "not_an_image" for n in range(7)}
    ledger = [
        {"image_url": url, "status": s, "attempts": 1, "fetched_at": report_project.FETCHED}
        for url, s in statuses.items()
    ]
    store.write_rows(ledger, root / "data/crawl/mine/ledger.parquet", LEDGER)
    pairs = [{"file": "t.csv", "row": n, "nth": 0, "image_url": f"{n}.png"} for n in (1, 2)]
    store.write_rows(pairs, root / "data/parse/mine/pairs.parquet", PAIRS)
    told = " ".join(summary(["data/crawl/mine/ledger.parquet"], root).split())
    assert "mine pictures 3 1 2 (in no pair: 1, not an image: 1)" in told


def test_a_picture_with_the_name_of_another_folder_s_is_kept_only_if_the_collection_has_it(root):
    ledger = [
        {"image_url": url, "status": "success", "attempts": 1, "fetched_at": report_project.FETCHED}
        for url in ("a/1.png", "b/1.png")
    ]
    store.write_rows(ledger, root / "data/crawl/mine/ledger.parquet", LEDGER)
    pairs = [{"file": "t.csv", "row": 1, "nth": 0, "image_url": "a/1.png"}]
    store.write_rows(pairs, root / "data/parse/mine/pairs.parquet", PAIRS)
    copied(root, "mine")
    table = root / "data/collect/mine/images.parquet"
    images = pl.read_parquet(table, glob=False).head(1)
    images.with_columns(image_url=pl.lit("a/1.png")).write_parquet(table)
    told = " ".join(summary(["data/crawl/mine/ledger.parquet"], root).split())
    assert "mine pictures 2 1 1 (in no pair: 1)" in told


def test_of_many_collections_the_first_are_named_and_the_others_counted(root):
    files = [file for number in range(20) for file in copied(root, f"c{number:02}")]
    lines = summary([CATALOG, *files], root).splitlines()
    assert lines[12:14] == [
        "  c11  12 texts, 12 images, 11 judgements; no runs",
        "  …    and 8 more collections",
    ]
    assert sum(line.startswith("  c") and "pairs" in line for line in lines) == 12


def test_an_empty_project_has_no_summary(tmp_path):
    assert not summary([CATALOG.replace("results/", "data/")], tmp_path)
