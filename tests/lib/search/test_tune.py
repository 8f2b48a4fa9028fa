"""Fusion parameters are searched on one split, by trec_eval's order, and used on all."""

import csv
import json
import math
import re
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.entries import resolved, system_of

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.measures import score_run
from isotope.core.runs import ranked, read_run, write_run
from isotope.schemas.collect import QRELS
from isotope.search.fuse import rrf, wsum
from isotope.search.tune import COLUMNS, Trial, best, grid, search_tuned, tune


def fusion(kind: str, parts: int = 2, **tune: Any) -> Any:
    """An entry of `systems` whose parameter is chosen from a grid."""
    return system_of(kind, of=["a", "b", "c"][:parts], tune=tune)


WSUM = fusion("wsum", grid={"step": 0.1})
RRF = fusion("rrf", grid={"k": [0.5, 1, 10, 60, 500]})
pytestmark = [
    pytest.mark.filterwarnings("ignore:invalid escape sequence:Warning"),
    pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64:Warning"),
]


def random_run(
    seed: int, queries: int, documents: int, ties: int = 0, least: int = 1
) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    parts = []
    for query in range(queries):
        depth = int(generator.integers(least, documents))
        docs = generator.choice(documents, size=depth, replace=False)
        scores = generator.normal(size=depth)
        if ties:
            scores = generator.integers(0, ties, depth).astype(float)
        ids = [f"d{doc}" for doc in docs]
        parts.append(pl.DataFrame({"query_id": f"q{query:03}", "doc_id": ids, "score": scores}))
    return ranked(pl.concat(parts))


def random_qrels(seed: int, queries: int, documents: int) -> pl.DataFrame:
    generator = np.random.default_rng(seed)
    pairs = {
        (f"q{int(q):03}", f"d{int(d)}")
        for q, d in generator.integers((queries, documents), size=(2 * queries, 2))
    }
    rows = [(q, d, int(generator.integers(0, 3))) for q, d in sorted(pairs)]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "relevance"], orient="row")


def mean(run: pl.DataFrame, qrels: pl.DataFrame, measure: str) -> float:
    return float(np.mean(score_run(run, qrels, [measure])["value"].to_numpy()))


def means(runs: list[pl.DataFrame], qrels: pl.DataFrame, measure: str) -> list[float]:
    """What each run reaches; all are scored at once, each on judgements of its own name."""

    def named(rows: pl.DataFrame, n: int) -> pl.DataFrame:
        return rows.with_columns(query_id=pl.lit(f"{n:03} ") + pl.col("query_id"))

    hits = pl.concat([named(run, n) for n, run in enumerate(runs)])
    judged = pl.concat([named(qrels, n) for n in range(len(runs))])
    scored = score_run(hits, judged, [measure])
    by_run = scored.group_by(run=pl.col("query_id").str.head(3)).agg(pl.col("value")).sort("run")
    return [float(np.mean(values.to_numpy())) for values in by_run["value"]]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**20),
    ties=st.sampled_from([0, 2, 5]),
    measure=st.sampled_from(["MRR@10", "R@3", "nDCG@10", "MAP"]),
    depth=st.sampled_from([2, 1000]),
)
def test_a_trials_value_is_that_of_the_run_that_the_fusion_writes(seed, ties, measure, depth):
    runs = [random_run(seed + i, 12, 15, ties) for i in range(2)]
    qrels = random_qrels(seed, 14, 15)
    few = np.random.default_rng(seed).choice(11, size=3, replace=False)
    weights = [[int(n) / 10, (10 - int(n)) / 10] for n in few]
    for kind, by, some in (
        ("wsum", wsum, {"weights": weights}),
        ("rrf", rrf, {"k": [0.5, 10, 60]}),
    ):
        trials = tune(fusion(kind, grid=some, measure=measure), runs, qrels, depth)
        written = [by(runs, **trial.parameters, depth=depth) for trial in trials]
        found = [trial.value for trial in trials]
        assert found == pytest.approx(means(written, qrels, measure), abs=1e-12)


def test_every_value_is_that_of_the_run_that_ranx_fuses(monkeypatch):
    ranx = pytest.importorskip("ranx")
    monkeypatch.setattr("isotope.search.tune._QUERIES_PER_PIECE", 7)
    runs = [random_run(seed, 60, 40) for seed in (1, 2)]
    qrels = random_qrels(3, 60, 40)
    theirs = [ranx.Run(nested(run, "score")) for run in runs]
    for spec, method in ((WSUM, "wsum"), (RRF, "rrf")):
        for trial in tune(spec, runs, qrels, 1000):
            fused = ranx.fuse(theirs, "min-max", method, dict(trial.parameters)).to_dict()
            rows = [(q, d, s) for q, docs in fused.items() for d, s in docs.items()]
            run = ranked(pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row"))
            assert trial.value == pytest.approx(mean(run, qrels, "MRR@10"), abs=1e-9)


def test_the_choice_is_that_of_ranxs_own_search():
    ranx = pytest.importorskip("ranx")
    # Whole rankings have no ties under inner weights, which ranx would break in its own way.
    runs = [random_run(seed, 60, 40, least=39) for seed in (1, 2)]
    qrels = random_qrels(3, 60, 40).filter(pl.col("relevance") > 0)
    answered = qrels["query_id"].unique().implode()
    runs = [run.filter(pl.col("query_id").is_in(answered)) for run in runs]
    _, report = ranx.optimize_fusion(
        ranx.Qrels(nested(qrels, "relevance")),
        [ranx.Run(nested(run, "score")) for run in runs],
        norm="min-max",
        method="wsum",
        metric="mrr@10",
        step=0.1,
        return_optimization_report=True,
    )
    inner = [[i / 10, (10 - i) / 10] for i in range(9, 0, -1)]
    found = tune(fusion("wsum", grid={"weights": inner}), runs, qrels, 1000)
    # The report's keys are text; its weights are tenths up to rounding.
    keys = [
        tuple(round(float(number), 1) for number in re.findall(r"\d\.\d+", str(config)))
        for config in report.configs
    ]
    theirs = dict(zip(keys, report.results, strict=True))
    expected = [theirs[tuple(trial.parameters["weights"])] for trial in found]
    assert [trial.value for trial in found] == pytest.approx(expected, abs=1e-9)
    assert best(found) == int(np.argmax(expected))
    assert len({trial.value for trial in found}) > 3


def nested(df: pl.DataFrame, column: str) -> dict[str, dict[str, float]]:
    parts = df.partition_by("query_id", as_dict=True).items()
    return {str(key[0]): dict(part.select("doc_id", column).rows()) for key, part in parts}


def test_of_equal_trials_the_first_in_the_grid_is_chosen():
    assert best([Trial({"k": 9}, 0.5), Trial({"k": 1}, 0.7), Trial({"k": 2}, 0.7)]) == 1
    assert best([Trial({"k": 9}, 0.1 + 0.2), Trial({"k": 1}, 0.3 + 2e-16)]) == 0
    one = random_run(1, 9, 9)
    trials = tune(RRF, [one, one], random_qrels(1, 9, 9), 1000)
    assert len({trial.value for trial in trials}) == 1
    assert trials[best(trials)].parameters == {"k": 0.5}


def test_a_step_stands_for_all_weights_that_add_up_to_one():
    points = grid(fusion("wsum", 3, grid={"step": 0.25}))
    assert points[0] == {"weights": [1.0, 0.0, 0.0]}
    assert points[-1] == {"weights": [0.0, 0.0, 1.0]}
    assert all(sum(p["weights"]) == 1 for p in points)
    assert len(points) == math.comb(4 + 2, 2)


def test_a_query_without_hits_counts_zero():
    qrels = pl.DataFrame({"query_id": ["q000", "zz"], "doc_id": ["d0", "d0"], "relevance": [1, 1]})
    run = ranked(pl.DataFrame({"query_id": ["q000"], "doc_id": ["d0"], "score": [1.0]}))
    assert [t.value for t in tune(RRF, [run, run], qrels, 10)] == [0.5] * 5


@pytest.fixture
def cells(tmp_path):
    """Runs of two systems; on validation a is right, on test b is; the pool `small` turns both."""
    hits = {"right": [2.0, 1.0], "wrong": [1.0, 2.0]}
    told = {("small", "validation"): "right wrong", ("small", "test"): "wrong right"}
    told |= {("base", "validation"): "wrong right", ("base", "test"): "right wrong"}
    for (setting, split), scores in told.items():
        for name, which in zip("ab", scores.split(), strict=True):
            columns = {"query_id": [f"t-{split}"] * 2, "doc_id": [f"i-{split}", "x"]}
            run = pl.DataFrame({**columns, "score": hits[which]})
            path = tmp_path / f"runs/{setting}/{split}/t2m/{name}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_run(run, path)
    pairs = [
        {"text_id": f"t-{s}", "image_id": f"i-{s}", "relevance": 1, "split": s}
        for s in ("validation", "test")
    ]
    store.write_rows(pairs, tmp_path / "qrels.parquet", QRELS)
    return tmp_path


def tuned(place, spec):
    inputs = sorted(place.glob("runs/*/*/*/[ab].parquet"))
    outputs = [p.with_name("fused.parquet") for p in inputs if p.stem == "a"]
    search_tuned(
        parts=inputs,
        qrels=place / "qrels.parquet",
        runs=outputs,
        trials=place / "trials.csv",
        spec=spec,
        collection="c",
        system="fused",
        depth=10,
    )
    return list(csv.DictReader((place / "trials.csv").read_text().splitlines()))


def test_validation_chooses_for_each_setting_and_the_choice_is_kept_on_test(cells):
    rows = tuned(cells, WSUM)
    assert tuple(rows[0]) == COLUMNS
    chosen = {
        row["setting"]: json.loads(row["parameters"]) for row in rows if row["chosen"] == "true"
    }
    assert chosen == {"base": {"weights": [0.4, 0.6]}, "small": {"weights": [1.0, 0.0]}}
    assert {row["split"] for row in rows} == {"validation"}
    for setting, weights in (("small", [1.0, 0.0]), ("base", [0.4, 0.6])):
        for split in ("validation", "test"):
            folder = cells / f"runs/{setting}/{split}/t2m"
            parts = [read_run(folder / f"{name}.parquet") for name in "ab"]
            assert read_run(folder / "fused.parquet").equals(wsum(parts, weights))
    wrong = read_run(cells / "runs/small/test/t2m/fused.parquet")
    assert wrong["doc_id"].to_list() == ["x", "i-test"], "test has no say in the choice"


def test_tuning_twice_gives_the_same_bytes(cells):
    def content():
        tuned(cells, WSUM)
        return [p.read_bytes() for p in sorted(cells.rglob("*")) if p.is_file()]

    assert content() == content()


def test_an_unknown_measure_is_refused_and_nothing_is_written(cells):
    with pytest.raises(BadParams, match="MMR@10"):
        tuned(cells, fusion("wsum", grid={"step": 0.5}, measure="MMR@10"))
    assert not list(cells.rglob("fused.parquet"))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"weights": [0.5, 0.5]}, "both weights and tune"),
        ({"tune": None}, "neither weights nor tune"),
        ({"tune": {"grid": {"weights": [[1.0, 0.0, 0.0]]}}}, "not one for each"),
        ({"tune": {"grid": {"step": 0.1}, "split": "train"}}, "'train' is not searched"),
    ],
)
def test_a_fusion_that_cannot_be_tuned_is_refused_before_the_first_job(change, found):
    spec = {k: v for k, v in {**WSUM.spec(), **change}.items() if v is not None}
    with pytest.raises(BadParams, match=found):
        resolved(systems={"x": {**spec, "of": ["bm25", "tiny-clip"]}})


def models(**entries: dict[str, Any]) -> dict[str, Any]:
    train = {"batch": 4, "learning_rate": 0.1}
    trained = {n: {"kind": "trained", "train": train, **e} for n, e in entries.items()}
    return {
        n: e if e["kind"] == "trained" else {"kind": "hash", "dim": 8} for n, e in trained.items()
    }


def test_a_model_has_the_architecture_of_the_one_it_goes_on_from():
    made = resolved(models=models(a={"name": "ViT-B-32"}, b={"from": "a"}, c={"from": "b"})).models
    assert [getattr(made[name], "name", None) for name in "abc"] == ["ViT-B-32"] * 3


@pytest.mark.parametrize(
    ("entries", "found"),
    [
        ({"a": {"from": "b"}, "b": {"from": "a"}}, "circle"),
        ({"a": {"from": "z"}}, "unknown name 'z'"),
        ({"a": {}}, "none of config, name, from"),
        ({"a": {"config": "c", "name": "n"}}, "config and name"),
        ({"a": {"from": "b"}, "b": {"kind": "hash"}}, "unknown name 'b'"),
    ],
)
def test_a_model_without_one_origin_is_refused(entries, found):
    with pytest.raises(BadParams, match=found):
        resolved(models=models(**entries))
