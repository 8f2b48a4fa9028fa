"""The table on graded judgements."""

from itertools import product

from tests.sql.test_tabulate import put

from isotope.schemas.score import SCORES
from isotope.tabulate import table as tabulate
from isotope_judge.resources import SQL


def test_the_table_on_graded_judgements_says_how_many_queries_were_judged(tmp_path):
    cell = {"collection": "toy", "setting": "small", "split": "test"}
    judged = {"t2m": ["t1", "t2", "t3"], "m2t": ["i1"]}
    values = [
        {**cell, "task": t, "system": s, "query_id": q, "measure": m, "value": 0.5}
        for t, queries in judged.items()
        for q in queries
        for s, m in product(("bm25", "dense"), ("MAP", "bpref"))
    ]
    query, graded = SQL / "tables/graded.sql", put(tmp_path / "graded", values, SCORES)
    wide = tabulate.widen(tabulate.rows(query, {"graded": graded}, {}))
    assert wide.select("system", "t2m_queries", "m2t_queries", "t2m MAP").rows() == [
        ("bm25", 3, 1, 0.5),
        ("dense", 3, 1, 0.5),
    ]
    assert "Image suggestion: queries" in tabulate.markdown(tabulate.lay_out(wide))
    alone = put(tmp_path / "alone", [v for v in values if v["task"] == "t2m"], SCORES)
    rows = tabulate.rows(query, {"graded": alone}, {})
    assert set(rows.select("t2m_queries", "m2t_queries").rows()) == {(3, 0)}
