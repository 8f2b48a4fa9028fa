"""Fused runs are what ranx makes of their parts; what ranx does not define is counted."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import entries
from tests.plans import typed

from isotope.core import errors
from isotope.core.runs import ranked, read_run, write_run
from isotope.search.systems import search_fused
from isotope_verify.fusions import check_fusions
from isotope_verify.outcome import Check, ItemSample
from isotope_verify.subject import Built

pytest.importorskip("ranx")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CELL = "results/search/toy/small/test/t2m"
FUSIONS: dict[str, dict[str, Any]] = {
    "rrf": {"kind": "rrf", "of": ["one", "two", "three"]},
    "wsum": {"kind": "wsum", "of": ["one", "two"], "weights": [0.7, 0.3]},
}
QUERIES = [f"t{n:02}" for n in range(30)]
TIES = "the order of two hits that ranx scores alike: it has no rule for it"


def hits(seed: int, queries: list[str]) -> pl.DataFrame:
    """Ten of fifteen documents a query; those of some queries score all alike, of some at times."""

    def score(query: int, document: int) -> float:
        if query % 3 == 0:
            return 2.5
        return float(document * (2 * seed + 5) % (4 if query % 5 == 0 else 17))

    rows = [
        (query, f"d{n:02}", score(int(query[1:]), n))
        for query in queries
        for n in range(15)
        if (n + seed * int(query[1:])) % 3
    ]
    return ranked(pl.DataFrame(rows, ["query_id", "doc_id", "score"], orient="row"))


def lay(root: Path, fusions: dict[str, dict[str, Any]], depth: int = 8) -> Built:
    """Three runs and their fusions, judged; the run `three` does not answer the query t29."""
    parts = []
    for name, seed in (("one", 1), ("two", 2), ("three", 4)):
        parts.append(root / CELL / f"{name}.parquet")
        write_run(hits(seed, QUERIES[:-1] if name == "three" else QUERIES), parts[-1])
    for name, spec in fusions.items():
        runs = [root / CELL / f"{name}.parquet"]
        search_fused(parts=parts, runs=runs, spec=entries.system_of(**spec), depth=depth)
    (root / "results/score").mkdir(parents=True)
    pl.DataFrame({"system": [*fusions]}).write_parquet(root / "results/score/toy.parquet")
    judged = {"text_id": QUERIES, "image_id": ["d01"] * len(QUERIES), "relevance": [1] * 30}
    (root / "data/collect/toy").mkdir(parents=True)
    qrels = pl.DataFrame({**judged, "split": ["test"] * 30})
    qrels.write_parquet(root / "data/collect/toy/qrels.parquet")
    return Built("toy", root, typed(systems=fusions, collect={}))


def checked(built: Built, share: float = 1.0) -> Check:
    [check] = check_fusions(built, ItemSample(share, "seed"))
    return check


def rewrite(built: Built, system: str, change: Any) -> None:
    path = built.folder / CELL / f"{system}.parquet"
    run = change(read_run(path))
    assert not run.equals(read_run(path))
    run.write_parquet(path)


def test_fusions_are_those_of_ranx_hit_by_hit_whatever_ties(tmp_path):
    check = checked(lay(tmp_path, FUSIONS))
    assert check.differences == []
    assert check.tool.startswith("ranx ")
    # Eight hits of 30 queries; rrf without the query that one run does not answer.
    assert (check.compared, check.total) == (8 * (29 + 30), 8 * (30 + 30))
    assert check.largest < 1e-12
    lacking = "queries that one of the fused runs does not answer: ranx fuses no such"
    assert check.skipped.keys() == {lacking, TIES}
    assert check.skipped[lacking] == 1


def test_a_sample_has_a_query_of_every_fusion(tmp_path):
    check = checked(lay(tmp_path, FUSIONS), share=0.01)
    assert (check.compared, check.different) == (16, 0)


@pytest.mark.parametrize("system", FUSIONS)
def test_a_score_that_was_altered_is_found_with_its_query_and_document(tmp_path, system):
    built = lay(tmp_path, FUSIONS)
    first = (pl.col("query_id") == "t04") & (pl.col("rank") == 1)
    altered = pl.when(first).then(pl.col("score") + 1e-6).otherwise("score")
    rewrite(built, system, lambda run: run.with_columns(score=altered))
    check = checked(built)
    best = read_run(built.folder / CELL / f"{system}.parquet").filter(first)["doc_id"].item()
    cells = [f"small test t2m {system} t04 {cell}" for cell in (best, "rank 1")]
    assert [difference.cell for difference in check.differences] == cells


@pytest.mark.parametrize("system", FUSIONS)
def test_two_hits_that_changed_places_are_found(tmp_path, system):
    built = lay(tmp_path, FUSIONS)
    run = read_run(built.folder / CELL / f"{system}.parquet").filter(query_id="t04")
    first, second = run.filter(pl.col("score").is_unique())["doc_id"][:2]
    names = pl.col("doc_id").replace({first: second, second: first})
    swapped = pl.when(query_id="t04").then(names).otherwise("doc_id")
    rewrite(built, system, lambda run: run.with_columns(doc_id=swapped))
    cells = [difference.cell for difference in checked(built).differences]
    assert cells == [f"small test t2m {system} t04 {doc}" for doc in (second, first)]


@pytest.mark.parametrize("system", FUSIONS)
def test_a_hit_or_a_query_that_was_left_out_is_found(tmp_path, system):
    built = lay(tmp_path, FUSIONS)
    last = (pl.col("query_id") == "t04") & (pl.col("rank") == 8)
    rewrite(built, system, lambda run: run.filter(~last & (pl.col("query_id") != "t05")))
    cells = [difference.cell for difference in checked(built).differences]
    assert cells == [f"small test t2m {system} {query}" for query in ("t04 rank 8", "t05 rank 1")]


def test_a_hit_of_no_part_is_found(tmp_path):
    built = lay(tmp_path, FUSIONS)
    strange = pl.when(query_id="t04", rank=1).then(pl.lit("d99")).otherwise("doc_id")
    rewrite(built, "wsum", lambda run: run.with_columns(doc_id=strange))
    [difference] = checked(built).differences
    assert difference.cell == "small test t2m wsum t04 d99"
    assert difference.recomputed == "nothing"


def test_other_parameters_than_those_of_the_run_are_found(tmp_path):
    built = lay(tmp_path, FUSIONS)
    for system, key, value in (("rrf", "k", 61), ("wsum", "weights", [0.6, 0.4])):
        changed = {**FUSIONS, system: {**FUSIONS[system], key: value}}
        differences = checked(
            Built("toy", tmp_path, typed(systems=changed, collect={}))
        ).differences
        assert {difference.cell.split()[3] for difference in differences} == {system}
    assert checked(built).different == 0


def test_what_a_search_chose_is_what_ranx_is_asked_with(tmp_path):
    tuned = {"kind": "wsum", "of": ["one", "two"], "weights": [1, 0]}
    lay(tmp_path, {"tuned": tuned})
    entry = {"kind": "wsum", "of": ["one", "two"], "tune": {"grid": {"step": 0.5}}}
    built = Built("toy", tmp_path, typed(systems={"tuned": entry}, collect={}))
    reason = "runs of kind wsum: what a search chose for tuned is not here"
    assert (checked(built).compared, checked(built).skipped) == (0, {reason: 1})
    trials = tmp_path / "results/search/toy/tuning/tuned.csv"
    trials.parent.mkdir()
    rows = [
        ("small", "m2t", [0.5, 0.5], "true"),
        ("small", "t2m", [0.5, 0.5], "false"),
        ("small", "t2m", [1, 0], "true"),
    ]
    quoted = [
        f'{setting},{task},"{json.dumps({"weights": w}).replace(chr(34), chr(34) * 2)}",{chosen}\n'
        for setting, task, w, chosen in rows
    ]
    trials.write_text("setting,task,parameters,chosen\n" + "".join(quoted))
    assert (checked(built).compared, checked(built).different) == (240, 0)
    trials.write_text(trials.read_text().replace("[1, 0]", "[0, 1]"))
    assert checked(built).different > 0
    trials.write_text("setting,task,parameters,chosen\nsmall,t2m,{,true\n")
    with pytest.raises(errors.CorruptFile, match=r"tuned\.csv: no table of the choices"):
        checked(built)


def test_a_fusion_whose_part_is_gone_is_counted_and_not_compared(tmp_path):
    built = lay(tmp_path, FUSIONS)
    (tmp_path / CELL / "three.parquet").unlink()
    check = checked(built)
    reason = "runs of kind rrf: the run of three, which was fused, is not here"
    assert check.skipped.pop(reason) == 1
    assert (check.compared, check.total, check.different) == (240, 240, 0)
