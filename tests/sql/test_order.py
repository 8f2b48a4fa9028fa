"""Tables and figures have the systems in the order of `search.systems`."""

import re
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.core import sql, store
from isotope.schemas.collect import IMAGES, TEXTS
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.schemas.tabulate import INTERVALS, SUBSETS, TEMPORAL, TOPS
from isotope.tabulate import figures
from isotope.tabulate import figures as bars
from isotope.tabulate import table as tabulate
from isotope.tabulate.exhibits import ExhibitRecipe, described, query, write_exhibit

SQL = sql.SQL / "tabulate"
ORDER = ["wsum", "bm25", "random"]
NAMES = ["aaa", "bm25", "random", "wsum"]  # aaa is an external run that the params do not name
EXPECTED = [*ORDER, "aaa"]
CELL = {"collection": "toy", "setting": "small", "split": "test", "task": "t2m", "measure": "MAP"}
SHOWN: dict[str, Any] = {"setting": "small", "split": "test", "measure": "MAP", "alpha": 0.05}


def rows(extra: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each of NAMES and of `extra`."""
    return [CELL | {"system": name} | more for name, more in product(NAMES, extra)]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """Every table that has a column `system`."""
    folder = tmp_path_factory.mktemp("order")
    values = [{"query_id": f"q{n}", "value": n / 4} for n in range(4)]
    means = [
        {"kind": kind, "stratum": "all", "queries": 4, "value": 0.5} for kind in ("all", "a b")
    ]
    written: dict[str, tuple[list[dict[str, Any]], Any]] = {
        "scores": (rows(values), SCORES),
        "graded": (rows(values), SCORES),
        "significance": ([], SIGNIFICANCE),
        "intervals": (rows(means), INTERVALS),
        "subsets": (
            rows([{"documents": n, "value": 0.5, "exact": 1.0} for n in (10, 20)]),
            SUBSETS,
        ),
        "tops": (rows([{"query_id": "q", "doc_id": "d"}]), TOPS),
        "temporal": (
            rows([{"stratum": "all", "queries": 4, "relative_drop": 0.1}]),
            TEMPORAL,
        ),
        "texts": ([{"text_id": "t", "split": "test"}], TEXTS),
        "images": ([{"image_id": f"i{n}", "split": "test"} for n in range(9)], IMAGES),
    }
    for name, (own, schema) in written.items():
        kept = [{k: v for k, v in row.items() if k in schema.names} for row in own]
        store.write_rows(kept, folder / f"{name}.parquet", schema)
    recall = pl.DataFrame(
        rows([{"documents": 9, "bytes": 1, "flat_bytes": 1, "queries": 4, "k": 10}])
    )
    recall.with_columns(recall=pl.lit(0.5)).write_parquet(folder / "recall.parquet")
    return folder


TABLES: dict[str, tuple[list[str], list[str]]] = {
    "table3": (["scores", "significance"], ["alpha"]),
    "headline": (["scores"], ["setting", "split", "measure"]),
    "intervals": (["intervals"], ["measure"]),
    "strata": (["intervals"], ["setting", "split", "measure"]),
    "subsets": (["subsets"], ["split", "measure"]),
    "overlap": (["tops"], []),
    "recall": (["recall"], []),
    "temporal": (["temporal"], ["setting", "split", "measures"]),
    "group": (["scores"], ["setting", "split", "measures", "parts", "members"]),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_the_systems_in_the_order_of_the_params(place, name):
    reads, asks = TABLES[name]
    lists = {"measures": ["MAP"], "parts": ["all"], "members": [["toy"]], "perturbed": True}
    given = {k: (SHOWN | lists)[k] for k in asks} | {"systems": ORDER}
    found = tabulate.rows(query(name), {r: place / f"{r}.parquet" for r in reads}, given)
    first = list(dict.fromkeys(found["system"]))
    # Of two systems that overlap, the second stands in another column.
    assert first == [s for s in EXPECTED if s in first]
    assert len(first) >= 3
    if name == "table3":
        assert dict(found.select("system", "letter").unique().rows()) == dict(
            zip(EXPECTED, "abcd", strict=True)
        )


def test_a_query_without_an_order_sorts_systems_by_name(place):
    found = tabulate.rows(query("recall"), {"recall": place / "recall.parquet"}, {})
    assert found["system"].to_list() == NAMES


ROAD = ["table1", "account", "table3", "headline"]
STATISTICS = ["table2", "intervals", "strata", "subsets", "overlap"]


def test_every_table_of_the_road_is_given_the_order():
    unordered = {"table1", "account", "table2"}
    orders = {name: described()[name].order for name in (*ROAD, *STATISTICS)}
    assert {name for name, order in orders.items() if order != "systems"} == unordered


def test_every_query_that_orders_systems_is_given_an_order():
    entries = {name: entry for name, entry in described().items() if entry.reads and entry.query}
    ordered = {
        name
        for name, entry in entries.items()
        if not entry.written_by and "getvariable" in query(entry.query).read_text("utf-8")
    }
    assert ordered
    assert [name for name in ordered if entries[name].order not in ("systems", "captioners")] == []


def legend(svg: Path) -> list[str]:
    """The names of systems in a drawing, from the left."""
    return [w for w in re.findall(r">([a-z0-9]+)</text>", svg.read_text()) if w in NAMES]


def test_a_figure_has_the_systems_in_the_order_of_the_params(place, tmp_path):
    chosen = {"split": "test", "measure": "MAP", "systems": ORDER}
    three = {name: place / f"{name}.parquet" for name in ("scores", "texts", "images")}
    figures.corpus_size(SQL / "tables/corpus_size.sql", three, chosen, tmp_path / "corpus_size.svg")
    subsets = {"subsets": place / "subsets.parquet"}
    bars.subsets(SQL / "tables/subsets_drawn.sql", subsets, chosen, tmp_path / "subsets.svg")
    here = {"here": "toy", "there": "toy", "measure": "MAP", "other": "MAP"}
    params = {**here, "setting": "small", "systems": ORDER}
    params |= {"split": "test", "other_split": "test"}
    recipe = ExhibitRecipe(
        {"scores": [place / "scores.parquet"]}, params, "against", draws="against"
    )
    write_exhibit(recipe, tmp_path / "against", tmp_path / "against.svg")
    for name in ("corpus_size", "subsets", "against"):
        assert legend(tmp_path / f"{name}.svg") == EXPECTED, name
    assert pl.read_csv(tmp_path / "against.csv")["system"].to_list() == EXPECTED
