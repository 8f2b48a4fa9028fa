"""OVEN's Fig. 6: bars for the tail, the head and what lies between."""

from itertools import product
from pathlib import Path

import pytest

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.schemas.tabulate import INTERVALS
from isotope.tabulate.figures import popularity

CELL = {"setting": "large", "split": "validation", "measure": "Success@1"}
SYSTEMS = ["pali", "clip2clip"]
QUERY = sql.SQL / "tabulate/tables/popularity.sql"


def written(folder: Path, kind: str = "popularity by monthly views") -> Path:
    rows = [
        {"collection": "c", "task": "m2t", **CELL, "system": system, "kind": kind}
        | {"stratum": stratum, "queries": n, "value": 0.2, "low": 0.1, "high": 0.3}
        for system, (stratum, n) in product(
            SYSTEMS, [("head", 1200), ("tail", 70), ("between", 5), ("head - tail", 9)]
        )
    ]
    kept = [{k: v for k, v in row.items() if k in INTERVALS.names} for row in rows]
    store.write_rows(kept, folder / "intervals.parquet", INTERVALS)
    return folder / "intervals.parquet"


def test_tail_and_head_are_drawn_in_order_with_every_system(tmp_path):
    params = {**CELL, "systems": SYSTEMS}
    popularity(QUERY, {"intervals": written(tmp_path)}, params, tmp_path / "one.svg")
    text = (tmp_path / "one.svg").read_text()
    places = [text.index(f">{word}<") for word in ("tail", "between", "head")]
    assert places == sorted(places)
    assert [">1,200 questions<" in text, ">head - tail<" in text] == [True, False]
    assert text.index(">pali<") < text.index(">clip2clip<")
    again = {"intervals": tmp_path / "intervals.parquet"}
    popularity(QUERY, again, params, tmp_path / "two.svg")
    assert (tmp_path / "two.svg").read_bytes() == (tmp_path / "one.svg").read_bytes()


def test_deciles_are_not_drawn_as_head_and_tail(tmp_path):
    intervals = written(tmp_path, "popularity by views")
    shown = {**CELL, "systems": SYSTEMS}
    with pytest.raises(EmptyTable, match="monthly views"):
        popularity(QUERY, {"intervals": intervals}, shown, tmp_path / "no.svg")
