"""Means between the ends of their intervals, drawn by stratum and by pool."""

import re
from itertools import product
from pathlib import Path

import polars as pl
import pytest
from tests.drawings import touching

from isotope.core import sql, store
from isotope.schemas.tabulate import INTERVALS
from isotope.tabulate.whiskers import pools, strata

SYSTEMS = [f"system-{n}" for n in range(8)]
PARAMS = {"measure": "MAP", "systems": SYSTEMS, "looks": {s: n for n, s in enumerate(SYSTEMS)}}
POOL = {"setting": "small", "split": "test"}
TABLES = sql.SQL / "tabulate/tables"
STRATA = [
    ("caption", "absent"),
    ("caption", "present"),
    ("popularity by views", "01"),
    ("popularity by views", "02"),
]


@pytest.fixture(scope="module")
def intervals(tmp_path_factory) -> Path:
    kinds = [("all", "all"), *STRATA]
    rows = [
        {"setting": setting, "split": "test", "task": task, "measure": measure, "system": system}
        | {"kind": kind, "stratum": stratum, "queries": 9, "value": 0.5, "low": 0.4, "high": 0.7}
        for setting, task, measure, system, (kind, stratum) in product(
            ("small", "large"), ("t2m", "m2t"), ("MAP", "R@10"), SYSTEMS, kinds
        )
    ]
    path = tmp_path_factory.mktemp("intervals") / "intervals.parquet"
    store.write_rows(rows, path, INTERVALS)
    return path


def words(svg: Path) -> list[str]:
    return re.findall(r"<text [^>]*>([^<]+)</text>", svg.read_text())


def test_every_system_has_a_panel_for_each_task_with_its_strata_in_words(intervals, tmp_path):
    out = tmp_path / "strata.svg"
    strata(TABLES / "strata.sql", {"intervals": intervals}, {**PARAMS, **POOL}, out)
    found = words(out)
    assert [found.count(system) for system in SYSTEMS] == [2] * 8
    # Eight panels stand in two lines, each of which names its rows once.
    assert [found.count(w) for w in ("popularity by views", "decile 1 (9)", "absent (9)")] == [
        4
    ] * 3
    assert found.index("popularity by views") < found.index("decile 1 (9)") < found.index("caption")
    assert [found.count(t) for t in ("Image suggestion (T2M)", "Image promotion (M2T)")] == [2, 2]
    assert found[-1] == "MAP"


def test_every_pool_has_a_panel_for_each_task_with_all_systems(intervals, tmp_path):
    for name in ("one", "two"):
        out = tmp_path / f"{name}.svg"
        pools(TABLES / "intervals.sql", {"intervals": intervals}, PARAMS, out)
    found = words(tmp_path / "one.svg")
    assert [found.count(w) for w in ("small · test", "large · test", *SYSTEMS)] == [2] * 10
    assert found.index("system-0") < found.index("system-7")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()


def test_where_nothing_is_to_be_drawn_the_figure_says_so(intervals, tmp_path):
    files = {"intervals": intervals}
    strata(TABLES / "strata.sql", files, {**PARAMS, **POOL, "split": "no"}, tmp_path / "s.svg")
    assert words(tmp_path / "s.svg") == ["no query is in a stratum"]
    pools(TABLES / "intervals.sql", files, {**PARAMS, "measure": "MRR"}, tmp_path / "p.svg")
    assert words(tmp_path / "p.svg") == ["no system was measured by MRR"]


@pytest.mark.parametrize("systems", [1, 8])
def test_words_do_not_touch_in_a_browser(systems, intervals, tmp_path, chromium):
    held = pl.read_parquet(intervals).filter(pl.col("system").is_in(SYSTEMS[:systems]))
    held.write_parquet(tmp_path / "some.parquet")
    pools(
        TABLES / "intervals.sql",
        {"intervals": tmp_path / "some.parquet"},
        PARAMS,
        tmp_path / "a.svg",
    )
    page = chromium.open((tmp_path / "a.svg").as_uri())
    assert touching(page) == [[]]
    page.close()
