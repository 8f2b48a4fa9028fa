"""Means by people, by a model and by both; agreement; judges of their own systems."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from isotope.core import store
from isotope.core.errors import IntegrityError
from isotope.core.runs import ranked, write_run
from isotope.params.sections import ModelKind, SystemKind
from isotope.schemas.collect import QRELS
from isotope.tabulate.exhibits import recipe, write_exhibit
from isotope_judge.estimates import ALONE, NOBODY, estimate_by_models, kappa
from isotope_judge.origins import CHECKPOINT, FAMILY, NAMED, Origin, family, origin, relation
from isotope_judge.pool import pool_runs
from isotope_judge.ppi import LEAST_QUERIES, corrected
from isotope_judge.schemas import MODEL_GRADES, POOL

NOISE = {"good": 1, "fair": 3, "own": 3}
SYSTEMS = tuple(NOISE)
DOCUMENTS = [f"d{n:02d}" for n in range(12)]
DEPTH = 4
_TABLES = ("estimates", "agreement", "tau", "circularity", "scores")
Grader = Callable[[str, str], int]


class Track:
    """Queries with pools of three systems, of which a truth, people and a model have opinions."""

    def __init__(self, folder: Path, queries: int) -> None:
        rng = np.random.default_rng(3)
        self.folder, self.queries = folder, [f"t{n:03d}" for n in range(queries)]
        self.truth = {
            (q, d): int(g)
            for q in self.queries
            for d, g in zip(DOCUMENTS, rng.choice(4, 12, p=[0.6, 0.2, 0.1, 0.1]), strict=True)
        }
        self.runs = [self._run(name, noise, rng) for name, noise in NOISE.items()]
        qrels = [
            {"text_id": q, "image_id": DOCUMENTS[0], "relevance": 1, "split": "test"}
            for q in self.queries
        ]
        store.write_rows(qrels, folder / "qrels.parquet", QRELS)
        self.pool = pool_runs(self.runs, depth=DEPTH)
        store.write(self.pool.to_arrow(), folder / "pool.parquet", POOL)

    def _run(self, name: str, noise: float, rng: np.random.Generator) -> Path:
        rows = [(q, d, g + noise * rng.standard_normal()) for (q, d), g in self.truth.items()]
        columns = {"query_id": pl.String, "doc_id": pl.String, "score": pl.Float64}
        path = self.folder / f"toy/small/test/t2m/{name}.parquet"
        write_run(ranked(pl.DataFrame(rows, schema=columns, orient="row")), path)
        return path

    def pairs(self, queries: Sequence[str]) -> list[tuple[str, str]]:
        return list(
            self.pool.filter(pl.col("query_id").is_in(queries)).select("query_id", "doc_id").rows()
        )

    def sheet(self, queries: Sequence[str], grader: Grader, name: str = "ann") -> Path:
        path = self.folder / f"{name}.csv"
        rows = [("t2m", q, d, str(grader(q, d)), name) for q, d in self.pairs(queries)]
        names = ["task", "query_id", "doc_id", "grade", "assessor"]
        pl.DataFrame(rows, schema=names, orient="row").write_csv(path)
        return path

    def model(self, grader: Grader, judge: str = "tiny") -> Path:
        path = self.folder / f"models/{judge}.parquet"
        rows = [
            {"split": "test", "task": "t2m", "query_id": q, "doc_id": d, "judge": judge}
            | {"grade": grader(q, d), "expected": 0.0, "mass": 0.9, "pictured": True, "key": "k"}
            for q, d in self.pairs(self.queries)
        ]
        store.write_rows(rows, path, MODEL_GRADES)
        return path

    def estimate(
        self,
        sheets: Sequence[Path],
        grades: Sequence[Path],
        judge_systems: Sequence[str] = (),
        measures: Sequence[str] = ("nDCG@10",),
    ) -> dict[str, pl.DataFrame]:
        outputs = {name: self.folder / f"{name}.parquet" for name in _TABLES}
        estimate_by_models(
            pool=self.folder / "pool.parquet",
            qrels=self.folder / "qrels.parquet",
            sheets=sheets,
            runs=self.runs,
            grades=grades,
            outputs=outputs,
            collection="toy",
            measures=measures,
            judges={p.stem: [[*judge_systems], [f"us/{p.stem}-1B"]] for p in grades},
            origins={name: [[name], []] for name in SYSTEMS},
            level=0.95,
        )
        return {name: pl.read_parquet(path) for name, path in outputs.items()}

    def generous(self, favourites: Path | None = None) -> Grader:
        """A model that errs on every fourth pair, upwards; and raises what `favourites` found."""
        rng = np.random.default_rng(11)
        liked: set[tuple[str, str]] = set()
        if favourites:
            top = pl.read_parquet(favourites).filter(pl.col("rank") <= DEPTH)
            liked = set(top.select("query_id", "doc_id").rows())

        def grade(query: str, doc: str) -> int:
            wrong = rng.random() < 0.25
            raised = 2 if (query, doc) in liked else 0
            return min(
                3, self.truth[query, doc] + (int(rng.integers(1, 3)) if wrong else 0) + raised
            )

        return grade

    def right(self, query: str, doc: str) -> int:
        return self.truth[query, doc]


@pytest.fixture
def track(tmp_path) -> Track:
    return Track(tmp_path, 120)


def by(estimates: pl.DataFrame, system: str) -> dict[str, Mapping[str, Any]]:
    system_rows = estimates.filter(system=system)
    return {row["judged_by"]: row for row in system_rows.iter_rows(named=True)}


def test_the_bias_of_a_planted_judge_is_corrected_and_the_interval_is_narrower(track):
    measures, model = ["P@4"], track.model(track.generous())
    third = track.sheet(track.queries[::3], track.right)
    some = track.estimate([third], [model], measures=measures)
    full = track.sheet(track.queries, track.right)
    everyone = track.estimate([full], [model], measures=measures)
    narrower: list[bool] = []
    for system in SYSTEMS:
        truth = by(everyone["estimates"], system)["people"]["value"]
        rows = by(some["estimates"], system)
        width = {who: row["high"] - row["low"] for who, row in rows.items()}
        assert not rows["model"]["low"] <= truth <= rows["model"]["high"]
        assert rows["corrected"]["low"] <= truth <= rows["corrected"]["high"]
        assert abs(rows["corrected"]["value"] - truth) < abs(rows["model"]["value"] - truth)
        narrower.append(width["corrected"] < width["people"])
        assert (rows["people"]["queries"], rows["corrected"]["queries"]) == (40, 120)
        assert 0 < rows["corrected"]["weight"] < 1
    assert all(narrower)


def test_the_estimates_are_those_of_the_values_that_the_tables_have(track):
    """From the scores by model and by people, by hand."""
    chosen = track.queries[10:60]
    tables = track.estimate([track.sheet(chosen, track.right)], [track.model(track.generous())])
    full = track.estimate([track.sheet(chosen, track.right)], [track.model(track.right)])
    model, people = (
        dict(t["scores"].filter(system="good").select("query_id", "value").iter_rows())
        for t in (tables, full)
    )
    judged_values = np.array([people[q] for q in chosen])
    graded, unjudged_values = (
        np.array([model[q] for q in qs]) for qs in (chosen, sorted({*model} - {*chosen}))
    )
    expected = corrected(judged_values, graded, unjudged_values, 0.95)
    row = by(tables["estimates"], "good")["corrected"]
    got = [row[k] for k in ("value", "low", "high", "weight")]
    assert got == pytest.approx(list(expected), abs=1e-12)
    alone = stats.ttest_1samp(judged_values, 0).confidence_interval(0.95)
    row = by(tables["estimates"], "good")["people"]
    assert (row["low"], row["high"]) == pytest.approx(tuple(alone), abs=1e-12)


@pytest.mark.parametrize(
    ("judged", "people", "both"),
    [
        (0, NOBODY, NOBODY),
        (1, ALONE, ALONE),
        (7, None, f"fewer than {LEAST_QUERIES} queries are judged by people in full: 7"),
        (LEAST_QUERIES, None, None),
    ],
)
def test_what_too_few_grades_of_people_leave_open_is_empty_with_the_reason(
    track, judged, people, both
):
    sheets = [track.sheet(track.queries[:judged], track.right)] if judged else []
    tables = track.estimate(sheets, [track.model(track.generous())])
    rows = by(tables["estimates"], "fair")
    assert [rows[who]["reason"] for who in ("people", "model", "corrected")] == [people, None, both]
    assert (rows["corrected"]["value"] is None) == (both is not None)
    assert (rows["people"]["value"] is None) == (judged == 0)
    assert (rows["people"]["low"] is None) == (judged < 2)
    assert rows["model"]["value"] > 0
    assert (tables["agreement"]["kappa"][0] is None) == (judged == 0)


def test_a_query_that_people_have_judged_in_part_is_not_theirs(track):
    sheet = pl.read_csv(track.sheet(track.queries[:30], track.right), infer_schema=False)
    sheet[:-1].write_csv(track.folder / "part.csv")
    tables = track.estimate([track.folder / "part.csv"], [track.model(track.right)])
    assert by(tables["estimates"], "good")["people"]["queries"] == 29
    assert tables["agreement"]["pairs"][0] == sheet.height - 1


def test_two_assessors_may_share_a_query(track):
    """One of them has graded its first document, the other the rest."""
    sheet = pl.read_csv(track.sheet(track.queries[:1], track.right), infer_schema=False)
    sheet[:1].write_csv(track.folder / "one.csv")
    sheet[1:].with_columns(assessor=pl.lit("bob")).write_csv(track.folder / "two.csv")
    paths = [track.folder / "one.csv", track.folder / "two.csv"]
    tables = track.estimate(paths, [track.model(track.right)])
    assert by(tables["estimates"], "good")["people"]["queries"] == 1


def test_a_judge_that_prefers_its_own_system_is_found_and_others_are_not(track):
    sheet = track.sheet(track.queries[::2], track.right)
    partial, fair = (
        track.model(track.generous(track.runs[2]), "partial"),
        track.model(track.generous(), "fair"),
    )
    tables = track.estimate([sheet], [partial, fair], judge_systems=["own"])
    rows = {r["judge"]: r for r in tables["circularity"].iter_rows(named=True)}
    assert {r["system"] for r in rows.values()} == {"own"}
    assert {r["relation"] for r in rows.values()} == {NAMED}
    assert rows["partial"]["excess"] > rows["partial"]["low"] > 0.05
    assert rows["fair"]["low"] < 0 < rows["fair"]["high"]
    for row in rows.values():
        assert row["excess"] == pytest.approx(row["raised"] - row["raised_others"], abs=1e-12)
    taus = {r["judge"]: r for r in tables["tau"].iter_rows(named=True)}
    assert taus["partial"]["own"] == 1
    assert taus["partial"]["tau"] < taus["partial"]["tau_without"] == 1


def test_without_systems_of_its_own_a_judge_has_no_such_table_and_one_tau(track):
    tables = track.estimate([track.sheet(track.queries, track.right)], [track.model(track.right)])
    assert tables["circularity"].is_empty()
    assert tables["tau"].select("own", "tau", "tau_without", "sampled_p").rows() == [
        (0, 1.0, None, None)
    ]


def test_a_sample_of_the_easiest_queries_is_told_from_a_random_one(track):
    model = track.model(track.right)
    scores = track.estimate([], [model])["scores"].group_by("query_id").agg(pl.col("value").mean())
    easiest = scores.sort("value", "query_id")["query_id"].to_list()[-40:]
    p = [
        track.estimate([track.sheet(chosen, track.right)], [model])["tau"]["sampled_p"][0]
        for chosen in (easiest, track.queries[::3])
    ]
    assert p[0] < 1e-6
    assert p[1] > 0.05


def test_the_same_grades_agree_and_others_by_as_much_as_they_differ(track):
    sheet = track.sheet(track.queries[:50], track.right)
    same = track.estimate([sheet], [track.model(track.right)])["agreement"].row(0, named=True)
    assert [same[k] for k in ("same_share", "kappa", "weighted_kappa", "difference")] == [
        1,
        1,
        1,
        0,
    ]
    assert same["pairs"] == pl.read_csv(sheet).height
    grade = track.generous()
    model_grades = {pair: grade(*pair) for pair in track.pairs(track.queries)}
    other = track.estimate([sheet], [track.model(lambda q, d: model_grades[q, d])])
    people = [(track.truth[p], model_grades[p]) for p in track.pairs(track.queries[:50])]
    row = other["agreement"].row(0, named=True)
    truth, model = map(list, zip(*people, strict=True))
    assert row["kappa"] == pytest.approx(cohen_kappa_score(truth, model))
    weighted = cohen_kappa_score(truth, model, weights="quadratic", labels=[0, 1, 2, 3])
    assert row["weighted_kappa"] == pytest.approx(weighted)
    assert row["difference"] == pytest.approx(np.mean(model) - np.mean(truth))


grades = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=30)


@given(grades)
def test_kappa_is_that_of_scikit_learn(pairs):
    first, second = (np.array(grades) for grades in zip(*pairs, strict=True))
    if len({*first, *second}) == 1:
        assert kappa(first, second) is None
        return
    assert kappa(first, second) == pytest.approx(cohen_kappa_score(first, second))
    for weights, power in (("linear", 1), ("quadratic", 2)):
        expected = cohen_kappa_score(first, second, weights=weights, labels=[*range(5)])
        assert kappa(first, second, power) == pytest.approx(expected)


def test_grades_of_another_pool_are_refused(track):
    path = track.model(track.right)
    store.write(pl.read_parquet(path)[1:].to_arrow(), path, MODEL_GRADES)
    with pytest.raises(IntegrityError, match="other pairs than the"):
        track.estimate([], [path])


def test_sizes_of_a_family_are_no_part_of_its_name():
    assert family("Qwen/Qwen3-VL-8B-Instruct") == family("./weights/Qwen3-VL-2B") == "qwen3-vl"
    assert family("HuggingFaceTB/SmolVLM2-2.2B-Instruct") == "smolvlm2"
    assert family("laion/CLIP-ViT-B-32-laion2B-s34B") == "clip-vit-b-32-laion2b-s34b"


NAMES = {
    "embedder": "Qwen/Qwen3-VL-Embedding-2B",
    "clip": "openai/clip-vit-base-patch32",
    "same": "Qwen/Qwen3-VL-8B-Instruct",
}
MODELS = {k: ModelKind.of_spec({"kind": "transformers", "name": v}) for k, v in NAMES.items()}
KINDS: Mapping[str, Any] = {
    "bm25": {"kind": "bm25"},
    "clip": {"kind": "dense", "model": "clip"},
    "embedder": {"kind": "dense", "model": "embedder"},
    "same": {"kind": "dense", "model": "same"},
    "fused": {"kind": "rrf", "of": ["bm25", "embedder"]},
    "reranked": {"kind": "rerank", "of": "bm25", "model": "same"},
    "theirs": {"kind": "trec"},
}
ENTRIES = {name: SystemKind.of_spec(spec) for name, spec in KINDS.items()}
JUDGE = Origin(["theirs"], ["Qwen/Qwen3-VL-8B-Instruct"])


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("bm25", None),
        ("clip", None),
        ("embedder", FAMILY),
        ("same", CHECKPOINT),
        ("fused", FAMILY),
        ("reranked", CHECKPOINT),
        ("theirs", NAMED),
    ],
)
def test_a_system_is_a_judges_own_by_the_weights_in_it_or_by_the_params(system, expected):
    assert relation(JUDGE, origin(system, ENTRIES, MODELS)) == expected


def test_copies_of_the_same_weights_in_two_folders_are_the_same(tmp_path):
    for name, content in (("a/x", b"12"), ("b/y", b"12"), ("c/z", b"34")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "model.safetensors").write_bytes(content)
    judge = Origin([], [str(tmp_path / "a/x")])
    relations = [relation(judge, Origin([], [str(tmp_path / n)])) for n in ("b/y", "c/z")]
    assert relations == [CHECKPOINT, None]


def test_the_tables_show_each_mean_with_its_interval_and_width(track, tmp_path):
    sheet = track.sheet(track.queries[:40], track.right)
    partial = track.model(track.generous(track.runs[2]))
    tables = track.estimate([sheet], [partial], judge_systems=["own"], measures=["nDCG@10", "MAP"])
    files = {"estimates": "estimates", "model_agreement": "agreement", "model_tau": "tau"}
    relations = {k: str(track.folder / f"{v}.parquet") for k, v in files.items()}
    relations["circularity"] = str(track.folder / "circularity.parquet")
    values = {"systems": [*SYSTEMS], "looks": {s: n for n, s in enumerate(SYSTEMS)}}
    for name in ("judged", "model_agreement", "model_tau", "circularity"):
        write_exhibit(recipe(name, relations, values), tmp_path / name, tmp_path / f"{name}.svg")
    judged = pl.read_csv(tmp_path / "judged.csv")
    order = [(s, who) for s in SYSTEMS for who in ("people", "model", "corrected")]
    assert judged.filter(measure="MAP").select("system", "judged_by").rows() == order
    for row in tables["estimates"].iter_rows(named=True):
        key = {k: row[k] for k in ("measure", "system", "judged_by")}
        [shown] = judged.filter(**key).iter_rows(named=True)
        ends = [row[k] for k in ("value", "low", "high")] + [row["high"] - row["low"]]
        assert [shown[k] for k in ("value", "low", "high", "width")] == pytest.approx(
            ends, abs=2e-6
        )
    drawn = (tmp_path / "judged.svg").read_text()
    assert all(f">{word}<" in drawn for word in (*SYSTEMS, "people", "model", "corrected", "MAP"))
    taus = pl.read_csv(tmp_path / "model_tau.csv")
    assert taus["own"].to_list() == [1, 1]
    assert pl.read_csv(tmp_path / "circularity.csv")["relation"].unique().to_list() == [NAMED]
    assert pl.read_csv(tmp_path / "model_agreement.csv")["pairs"][0] == pl.read_csv(sheet).height


def test_where_people_have_judged_nothing_the_figure_and_tables_are_of_the_model_alone(
    track, tmp_path
):
    track.estimate([], [track.model(track.right)])
    relations = {"estimates": str(track.folder / "estimates.parquet")}
    values = {"systems": [*SYSTEMS], "looks": {}}
    write_exhibit(recipe("judged", relations, values), tmp_path / "judged", tmp_path / "judged.svg")
    rows = pl.read_csv(tmp_path / "judged.csv").filter(system="good")
    assert rows["value"].is_null().to_list() == [True, False, True]
    assert rows["reason"].to_list() == [NOBODY, "", NOBODY]
