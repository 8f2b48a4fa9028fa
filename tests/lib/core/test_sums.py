"""Sums of floats do not follow the order of rows or the number of threads."""

import ast
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.core import sums

LIBRARY = Path(sums.__file__).parents[1]
NUMBERS = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40)
# Three groups of many rows: those that Polars gives to several threads.
BY_GROUP = """
import numpy as np, polars as pl
from isotope.core import sums
from isotope.core.measures import score_run
rng = np.random.default_rng(0)
rows = pl.DataFrame({"group": rng.integers(0, 3, 20_000), "x": rng.random(20_000)})
x = pl.col("x")
own = rows.group_by("group").agg(sums.total(x), m=sums.mean(x), d=sums.deviation(x)).sort("group")
print(own.write_ndjson())
ids = {"query_id": np.repeat(["a", "b", "c"], 4_000), "doc_id": np.tile(np.arange(4_000), 3)}
run = pl.DataFrame(ids).with_columns(pl.col("doc_id").cast(pl.String), rank=pl.col("doc_id") + 1)
qrels = run.select("query_id", "doc_id", relevance=pl.Series(rng.integers(0, 4, len(run))))
print(score_run(run, qrels, ["MAP", "nDCG@3000", "bpref"]).write_ndjson())
"""


def random_scores(n: int = 60_000) -> pl.DataFrame:
    rng = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "query_id": np.arange(n).astype(str),
            "measure": rng.choice(["MAP", "MRR@10"], n),
            "system": "bm25",
            "value": rng.random(n),
        }
    )


def shuffled(rows: pl.DataFrame) -> list[pl.DataFrame]:
    return [rows.sample(fraction=1, shuffle=True, seed=seed) for seed in range(12)]


def same(tables: list[pl.DataFrame]) -> bool:
    return len({table.write_ndjson() for table in tables}) == 1


@given(NUMBERS)
def test_sums_and_means_are_those_of_fsum(numbers):
    own = pl.DataFrame({"x": numbers}).select(t=sums.total(pl.col("x")), m=sums.mean(pl.col("x")))
    exact = math.fsum(numbers)
    assert own["t"].item() == pytest.approx(exact, rel=1e-9, abs=1e-6)
    assert own["m"].item() == pytest.approx(exact / len(numbers), rel=1e-9, abs=1e-6)


@given(NUMBERS)
def test_a_deviation_is_that_of_the_population(numbers):
    own = pl.DataFrame({"x": numbers}).select(sums.deviation(pl.col("x"))).item()
    assert own == pytest.approx(np.std(numbers), rel=1e-6, abs=1e-6)


@given(NUMBERS, st.randoms())
def test_the_order_of_rows_does_not_change_a_bit(numbers, random):
    columns = [f(pl.col("x")).alias(f.__name__) for f in (sums.total, sums.mean, sums.deviation)]
    other = random.sample(numbers, len(numbers))
    assert same([pl.DataFrame({"x": each}).select(columns) for each in (numbers, other)])


def test_nulls_are_left_out_and_nothing_sums_to_zero():
    x = pl.col("x")
    rows = pl.DataFrame({"x": [None, 1.0, None, 3.0]})
    assert rows.select(t=sums.total(x), m=sums.mean(x)).row(0) == (4.0, 2.0)
    assert rows.clear().select(t=sums.total(x), m=sums.mean(x)).row(0) == (0.0, None)


def test_the_number_of_threads_does_not_change_a_bit():
    answers = {
        subprocess.run(
            [sys.executable, "-c", BY_GROUP],
            env={**os.environ, "POLARS_MAX_THREADS": threads, "PYTHONPATH": str(LIBRARY.parent)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for threads in ("1", "2", "7")
    }
    assert len(answers) == 1


def unordered(code: str) -> list[int]:
    """The lines on which a mean or deviation of Polars is taken by group."""
    bad = ("mean", "std", "var")
    grouped = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"agg", "over"}
    ]
    inside = [part for node in grouped for part in ast.walk(node)]
    calls = [part for part in inside if isinstance(part, ast.Call)]
    means = [
        call.func
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr in bad
        and not (isinstance(call.func.value, ast.Name) and call.func.value.id == "sums")
    ]
    return sorted({each.lineno for each in means})


def test_means_by_group_are_taken_here_only():
    code = {path: path.read_text("utf-8") for path in LIBRARY.rglob("*.py")}
    assert {str(path): lines for path in code if (lines := unordered(code[path]))} == {}


def test_a_mean_by_group_of_polars_is_found():
    assert unordered('a.group_by("b").agg(\n    c=pl.col("c").mean()\n)') == [2]
    assert unordered('x = own.std().over("b")') == [1]
    assert unordered('a.group_by("b").agg(sums.mean(pl.col("c")))') == []
