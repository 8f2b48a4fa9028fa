"""Tables of judgements in some rows, and what queries of this plug-in's pages answer on them."""

import random
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from statistics import fmean

from tests.doc_answers import TOP, Answer, Row, Tables, by, grouped, mean, rounded
from tests.doc_project import SYSTEMS, TASKS, write

from isotope.schemas.score import SCORES
from isotope_judge.schemas import (
    AGREEMENT,
    CIRCULARITY,
    ESTIMATES,
    GRADED,
    MODEL_AGREEMENT,
    MODEL_GRADES,
    MODEL_SCORES,
    MODEL_TAU,
    POOL,
    REUSABILITY,
    SHEET,
    STUDIED,
    TAU,
)


def lay(root: Path, collection: str, chance: random.Random) -> None:
    """Write every table of judgements of a collection."""
    folder = root / "results/score" / collection
    places = [
        {"split": "test", "task": task, "query_id": f"{q}{n:02}", "doc_id": f"{d}{m:02}"}
        for task, (q, d) in {"t2m": ("t", "i"), "m2t": ("i", "t")}.items()
        for n, m in product(range(6, 12), range(3))
    ]
    pool = [
        p | {"systems": chance.sample(SYSTEMS[collection], chance.randint(1, 2))} for p in places
    ]
    write(pool, folder / "pool.parquet", POOL)
    write(
        [p | {"query": "q", "document": "d"} for p in places],
        folder / "sheet.parquet",
        SHEET,
    )
    graded = [
        p | {"relevance": chance.randint(0, 3), "sparse": chance.choice([0, 1, None]), "grades": 1}
        for p in places[::2]
    ]
    write(graded, folder / "graded.parquet", GRADED)
    systems = list(product(TASKS, SYSTEMS[collection]))
    scores = [
        {"collection": collection, "setting": "small", "split": "test", "task": task}
        | {"system": system, "query_id": f"q{n}", "measure": "MAP", "value": chance.random()}
        for (task, system), n in product(systems, range(5))
    ]
    write(scores, folder / "scores.parquet", SCORES)
    reuse = [
        {"task": task, "measure": "MAP", "system": system}
        | {"place": chance.randint(1, 3), "place_without": chance.randint(1, 3)}
        for task, system in systems
    ]
    write(reuse, folder / "reuse.parquet", REUSABILITY)
    taus = [{"task": task, "measure": "MAP", "tau": chance.random()} for task in TASKS]
    write(taus, folder / "tau.parquet", TAU)
    pairs = [{"assessor": a, "other": b, "kappa": chance.random()} for a, b in ("ab", "ac", "bc")]
    write(pairs, folder / "agreement.parquet", AGREEMENT)
    studied = [
        {"task": task, "system": system, "query_id": f"q{n}", "assessor": who}
        | {"rating": chance.randint(1, 10), "classes": [who]}
        for (task, system), n, who in product(systems, range(3), ("ann", "bob"))
    ]
    write(studied, root / "results/tables" / collection / "studied.parquet", STUDIED)
    _judged_by_a_model(folder, collection, places, chance)


def _judged_by_a_model(
    folder: Path, collection: str, places: list[Row], chance: random.Random
) -> None:
    judge = {"judge": "vlm"}
    grades = [p | judge | {"grade": chance.randint(0, 3)} for p in places]
    write(grades, folder / "models/vlm.parquet", MODEL_GRADES)
    cells = [
        judge | {"task": task, "measure": "MAP", "system": system}
        for task, system in product(TASKS, SYSTEMS[collection])
    ]
    scores = [
        cell | {"collection": collection, "setting": "small", "split": "test"}
        | {"query_id": f"q{n}", "value": chance.random()}
        for cell, n in product(cells, range(5))
    ]  # fmt: skip
    write(scores, folder / "model_scores.parquet", MODEL_SCORES)
    means = [
        cell | {"judged_by": by, "value": chance.choice([None, chance.random()])}
        | {"low": chance.random() / 2, "high": 0.5 + chance.random() / 2}
        for cell, by in product(cells, ("people", "model", "both"))
    ]  # fmt: skip
    write(means, folder / "estimates.parquet", ESTIMATES)
    rows = [
        cell | {"relation": "checkpoint", "raised": chance.random(), "excess": chance.random()}
        | {"low": chance.random() - 0.5}
        for cell in cells
    ]  # fmt: skip
    write(rows, folder / "circularity.parquet", CIRCULARITY)
    alike = [judge | {"task": t, "pairs": 9, "kappa": chance.random()} for t in TASKS]
    write(alike, folder / "model_agreement.parquet", MODEL_AGREEMENT)
    taus = [
        judge | {"task": task, "measure": measure}
        | {"tau": chance.random(), "tau_without": chance.random()}
        for task, measure in product(TASKS, ("MAP", "nDCG@10"))
    ]  # fmt: skip
    write(taus, folder / "model_tau.parquet", MODEL_TAU)


def ungraded(t: Tables) -> Answer:
    keys = ("collection", "split", "task", "query_id", "doc_id")
    graded_keys = {tuple(r[k] for k in keys) for r in t.judged("graded")}
    sheet_rows = [tuple(r[k] for k in (*keys, "query", "document")) for r in t.judged("sheet")]
    return by([r for r in sheet_rows if r[:5] not in graded_keys], 1, 2, 3, 4, 5)[:TOP]


def sparse(t: Tables) -> Answer:
    rows: Answer = []
    for key, group in grouped(
        t.judged("graded"), "collection", "split", "task", "relevance"
    ).items():
        sparse_labels = [r["sparse"] for r in group if r["sparse"] is not None]
        rows.append((*key, sum(sparse_labels) if sparse_labels else None, len(group)))
    return by(rows, 1, 2, 3, 4)


def graded(t: Tables) -> Answer:
    keys = ("collection", "task", "measure", "system")
    taus = {tuple(r[k] for k in keys[:3]): r["tau"] for r in t.judged("tau")}
    lost = {tuple(r[k] for k in keys): r["place"] - r["place_without"] for r in t.judged("reuse")}
    kappas = grouped(t.judged("agreement"), "collection")
    rows = [
        (
            *key,
            mean(group),
            rounded(taus[key[:3]], 3),
            lost[key],
            rounded(fmean(r["kappa"] for r in kappas[key[:1]]), 3),
        )
        for key, group in grouped(t.judged("scores"), *keys).items()
    ]
    return by(rows, 1, 2, 3, -5, 4)


def model_alike(t: Tables) -> Answer:
    keys = ("collection", "judge", "task")
    taus = grouped(t.judged("model_tau"), *keys)
    rows = [
        (
            *(*(r[k] for k in keys), r["pairs"], rounded(r["kappa"], 3), tau_row["measure"]),
            *(rounded(tau_row["tau"], 3), rounded(tau_row["tau_without"], 3)),
        )
        for r in t.judged("model_agreement")
        for tau_row in taus[tuple(r[k] for k in keys)]
    ]
    return by(rows, 1, 2, 3, 6)


def model_differs(t: Tables) -> Answer:
    keys = ("collection", "split", "task", "query_id", "doc_id")
    people = {tuple(r[k] for k in keys): r["relevance"] for r in t.judged("graded")}
    grades = t("results/score/*/models/*.parquet", collection=-3)
    both = [(r, people.get(tuple(r[k] for k in keys))) for r in grades]
    rows = [
        (r["collection"], r["judge"], *(r[k] for k in keys[2:]), r["grade"], p)
        for r, p in both
        if p is not None and p != r["grade"]
    ]
    return sorted(rows, key=lambda row: (-abs(row[5] - row[6]), *row[:5]))[:TOP]


def model_means(t: Tables) -> Answer:
    keys = ("collection", "judge", "task", "measure", "system")
    groups = grouped(t.judged("model_scores"), *keys)
    rows = [
        (*key, rounded(fmean(r["value"] for r in group), 3), len(group))
        for key, group in groups.items()
    ]
    return by(rows, 1, 2, 3, 4, -6, 5)


def model_estimates(t: Tables) -> Answer:
    keys = ("collection", "judge", "task", "measure", "system", "judged_by")
    rows = [
        (*(r[k] for k in keys), rounded(r["value"], 3), rounded(r["high"] - r["low"], 3))
        for r in t.judged("estimates")
        if r["value"] is not None
    ]
    return by(rows, 1, 2, 3, 4, 5, 6)


def model_prefers(t: Tables) -> Answer:
    keys = ("collection", "judge", "task", "measure", "system", "relation")
    raised = [r for r in t.judged("circularity") if r["low"] > 0]
    ordered = sorted(raised, key=lambda r: (-r["excess"], *(r[k] for k in keys)))[:TOP]
    return [
        (*(r[k] for k in keys), rounded(r["raised"], 3), rounded(r["excess"], 3)) for r in ordered
    ]


def studied(t: Tables) -> Answer:
    groups = grouped(t.counted("studied"), "collection", "task", "system")
    rows = [
        (*key, len(group), rounded(fmean(r["rating"] for r in group), 1))
        for key, group in groups.items()
    ]
    return by(rows, 1, 2, 3)


def alone(t: Tables) -> Answer:
    lone_rows = [
        r | {"system": r["systems"][0]} for r in t.judged("pool") if len(r["systems"]) == 1
    ]
    groups = grouped(lone_rows, "collection", "split", "task", "system")
    return by([(*key, len(group)) for key, group in groups.items()], -5, 1, 2, 3, 4)


ANSWERS: Mapping[str, Callable[[Tables], Answer]] = {
    "Which documents of the sheets have no grade yet?": ungraded,
    "Do sparse judgements miss what people find relevant?": sparse,
    "Do grades rank the systems as the sparse judgements do?": graded,
    "Does a model grade as people do, and rank the systems alike?": model_alike,
    "Where do a model and people differ most?": model_differs,
    "Which systems does a model find best?": model_means,
    "How sure is a mean by people, by a model, and by both?": model_estimates,
    "Does a model prefer systems of its own?": model_prefers,
    "What do people say of wrong answers?": studied,
    "How much of the pool does each system bring alone?": alone,
}
