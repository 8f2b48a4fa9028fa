"""Means of systems by people's grades, by a model's, and by both, and how far the two agree.

People's tables (`isotope_judge.pool`) are made without a model's grades, which come in here alone.
A query counts as judged by people when each of its pooled pairs has a grade by a person.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.errors import IntegrityError
from isotope.core.grid import RunKey
from isotope.core.progress import Progress
from isotope.core.runs import KEY
from isotope_judge.origins import Origin, relation
from isotope_judge.pool import (
    graded_qrels,
    judged_part,
    kendall_tau,
    read_sheets,
    system_scores,
)
from isotope_judge.ppi import LEAST_QUERIES, Estimate, Values, corrected, mean_of
from isotope_judge.schemas import (
    CIRCULARITY,
    ESTIMATES,
    MODEL_AGREEMENT,
    MODEL_SCORES,
    MODEL_TAU,
)

PEOPLE, MODEL, BOTH = "people", "model", "corrected"
NOBODY = "no query is judged by people in full"
ALONE = "one query has no spread"
ALIKE = "the queries are all alike, which tells of no others"
_LEAST = 2
# Of the intervals of means by people's grades, by models', and by both.
LEVEL = 0.95
_PAIR = ["task", *KEY]
_TABLES = {
    "estimates": ESTIMATES,
    "agreement": MODEL_AGREEMENT,
    "tau": MODEL_TAU,
    "circularity": CIRCULARITY,
    "scores": MODEL_SCORES,
}


class Graded(NamedTuple):
    """What is graded: a pool, its sparse qrels, runs, and the grades of people, if any."""

    pool: pl.DataFrame
    qrels: pl.DataFrame
    runs: Sequence[Path]
    people: pl.DataFrame

    def values(self, grades: pl.DataFrame, task: str, measures: Sequence[str]) -> pl.DataFrame:
        """Return system, query_id, measure and value on these grades with the sparse qrels."""
        graded = graded_qrels(grades, self.pool, self.qrels).filter(task=task)
        paths = sorted(p for p in self.runs if RunKey.from_path(p).task == task)
        runs = {path.stem: judged_part(path, graded) for path in paths}
        return system_scores(runs, graded, measures)


class Compared(NamedTuple):
    """One task and measure: a row a system, sorted by name; columns are queries, sorted by id.

    `model` [systems, Q] are the values of all queries, `people` [systems, n] those of the queries
    that people have judged, which are `chosen` [Q] among all.
    """

    systems: Sequence[str]
    model: Values
    people: Values
    chosen: npt.NDArray[np.bool_]


def estimate_by_models(  # noqa: PLR0913
    *,
    pool: Path,
    qrels: Path,
    sheets: Sequence[Path],
    runs: Sequence[Path],
    grades: Sequence[Path],
    outputs: Mapping[str, Path],
    collection: str,
    measures: Sequence[str],
    judges: Mapping[str, Sequence[Sequence[str]]],
    origins: Mapping[str, Sequence[Sequence[str]]],
    level: float = LEVEL,
) -> None:
    """Write estimates, agreement, tau, circularity and scores of every model judge to `outputs`.

    `grades` are schemas.MODEL_GRADES, a file a judge; `judges` and `origins` are the
    fields of each judge's and each system's `origins.Origin`; `level` is that of the intervals.
    Without a sheet what rests on people is null, with the reason.

    Raises:
        IntegrityError: a model's grades that are not those of the pool.
        As `pool.read_sheets`.
    """
    pooled = pl.read_parquet(pool, glob=False)
    people = read_sheets(sheets, pooled) if sheets else nobody()
    graded = Graded(pooled, pl.read_parquet(qrels, glob=False), runs, people)
    made_of = {system: Origin(*fields) for system, fields in origins.items()}
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in _TABLES if name != "scores"}
    scores: list[pl.DataFrame] = []
    progress = Progress("judges", total=len(grades))
    for path in grades:
        of_model = pl.read_parquet(path, glob=False)
        _demand_pool(of_model, pooled, path)
        judge = Origin(*judges[of_model["judge"][0]])
        relations = {
            system: relation(judge, system_origin) for system, system_origin in made_of.items()
        }
        scores += _add_judge(rows, graded, of_model, relations, level=level, measures=measures)
        progress.add()
    progress.finish()
    for name, records in rows.items():
        store.write(
            pa.Table.from_pylist(records, schema=_TABLES[name]), outputs[name], _TABLES[name]
        )
    cell = {"setting": RunKey.from_path(runs[0]).setting, "split": pooled["split"][0]}
    cell["collection"] = collection
    all_scores = pl.concat(scores).with_columns(**{k: pl.lit(v) for k, v in cell.items()})
    store.write(all_scores.select(MODEL_SCORES.names).to_arrow(), outputs["scores"], MODEL_SCORES)


def _add_judge(  # noqa: PLR0913
    rows: Mapping[str, list[dict[str, Any]]],
    graded: Graded,
    of_model: pl.DataFrame,
    relations: Mapping[str, str | None],
    *,
    level: float,
    measures: Sequence[str],
) -> Iterator[pl.DataFrame]:
    """Add the rows of one judge to those of each table; yield its scores task by task."""
    judge = of_model["judge"][0]
    for task in graded.pool["task"].unique().sort().to_list():
        labels = {"judge": judge, "task": task}
        values = _both(graded, of_model, task, measures)
        rows["agreement"].append(labels | agreement(of_model, graded.people, task))
        for measure in sorted(set(measures)):
            compared = _compared(values, measure)
            named = {**labels, "measure": measure}
            rows["estimates"].extend(named | row for row in estimates(compared, level))
            rows["tau"].append(named | tau(compared, relations))
            rows["circularity"].extend(
                named | row for row in circularity(compared, relations, level)
            )
        yield values[MODEL].with_columns(judge=pl.lit(judge), task=pl.lit(task))


def nobody() -> pl.DataFrame:
    """Return the grades of people where there is no sheet."""
    names = ("task", "query_id", "doc_id", "grade", "assessor")
    return pl.DataFrame(schema={c: pl.Int32 if c == "grade" else pl.String for c in names})


def _demand_pool(grades: pl.DataFrame, pool: pl.DataFrame, path: Path) -> None:
    both = (table.select(_PAIR).sort(_PAIR) for table in (grades, pool))
    if not next(both).equals(next(both)):
        problem = f"{grades.height:,} grades of other pairs than the {pool.height:,} of the pool"
        raise IntegrityError(path, problem, "remove the file and run the score phase again")


def judged_in_full(people: pl.DataFrame, pool: pl.DataFrame) -> pl.DataFrame:
    """Return task and query_id of the queries whose pooled pairs all have a grade by a person."""
    pairs = pool.select(_PAIR).join(people.select(_PAIR).unique(), on=_PAIR, how="anti")
    queries = pool.select("task", "query_id").unique()
    return queries.join(pairs, on=["task", "query_id"], how="anti").sort("task", "query_id")


def _both(
    graded: Graded, of_model: pl.DataFrame, task: str, measures: Sequence[str]
) -> dict[str, pl.DataFrame]:
    """Return the values by the model on all queries, and by people on those judged in full."""
    pairs = of_model.select(*_PAIR, "grade", assessor="judge")
    values = {MODEL: graded.values(pairs, task, measures)}
    full = judged_in_full(graded.people, graded.pool)
    judged = graded.people.join(full, on=["task", "query_id"], how="semi").filter(task=task)
    none = values[MODEL].clear()
    values[PEOPLE] = graded.values(judged, task, measures) if judged.height else none
    return values


def _compared(values: Mapping[str, pl.DataFrame], measure: str) -> Compared:
    """Lay out the values of one measure: systems by queries."""
    model, people = (
        values[by].filter(measure=measure).sort("system", "query_id") for by in (MODEL, PEOPLE)
    )
    systems = model["system"].unique().sort().to_list()
    queries = model["query_id"].unique().sort()
    chosen = queries.is_in(people["query_id"].unique().implode())
    of_model, of_people = (f["value"].to_numpy().reshape(len(systems), -1) for f in (model, people))
    return Compared(systems, of_model, of_people, chosen.to_numpy())


def estimates(compared: Compared, level: float) -> Iterator[dict[str, Any]]:
    """Yield the fields of schemas.ESTIMATES for each system: by people, by the model, by both."""
    n = compared.people.shape[1]
    for system, model, people in zip(
        compared.systems, compared.model, compared.people, strict=True
    ):
        judged_values, unjudged_values = model[compared.chosen], model[~compared.chosen]
        by_people = mean_of(people, level) if n else None
        reason = NOBODY if not n else ALONE if n < _LEAST else None
        yield _fields(system, PEOPLE, n, by_people, reason)
        yield _fields(system, MODEL, model.size, mean_of(model, level), None)
        few = f"fewer than {LEAST_QUERIES} queries are judged by people in full: {n}"
        enough = n >= LEAST_QUERIES
        both = corrected(people, judged_values, unjudged_values, level) if enough else None
        yield _fields(system, BOTH, model.size, both, None if enough else reason or few)


def _fields(
    system: str, by: str, queries: int, estimate: Estimate | None, reason: str | None
) -> dict[str, Any]:
    shown = estimate or Estimate(float("nan"), float("nan"), float("nan"))
    if estimate and np.isnan(estimate.low):
        reason = reason or (ALONE if queries < _LEAST else ALIKE)
    numbers = {"value": shown.mean, "low": shown.low, "high": shown.high, "weight": shown.weight}
    row = {"system": system, "judged_by": by, "queries": queries, "reason": reason}
    return row | {k: _number(v) for k, v in numbers.items()}


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else float(value)


def agreement(of_model: pl.DataFrame, people: pl.DataFrame, task: str) -> dict[str, Any]:
    """Return the fields of schemas.MODEL_AGREEMENT: the model's grades beside people's medians.

    `difference` is the mean of the model's grade less people's; kappa is Cohen's, `weighted_kappa`
    that with squared distances (Cohen, Psychological Bulletin 70(4), 1968). Both are null where all
    grades are one.
    """
    middle = pl.col("grade").sort().get((pl.len() - 1) // 2)
    medians = people.filter(task=task).group_by(_PAIR).agg(people=middle)
    model_grades = of_model.filter(task=task)
    pairs = model_grades.join(medians, on=_PAIR).sort(_PAIR)
    grades, theirs = pairs["grade"].to_numpy(), pairs["people"].to_numpy()
    count = {"pairs": pairs.height, "mass": float(model_grades["mass"].to_numpy().mean())}
    if not pairs.height:
        return {**count, **dict.fromkeys(("same_share", "kappa", "weighted_kappa", "difference"))}
    return {
        **count,
        "same_share": float((grades == theirs).mean()),
        "kappa": kappa(grades, theirs),
        "weighted_kappa": kappa(grades, theirs, power=2),
        "difference": float((grades - theirs).mean()),
    }


def kappa(first: Values, second: Values, power: float = 0) -> float | None:
    """Return Cohen's kappa of two lists of grades, disagreement weighing |difference| ** `power`.

    0 is the kappa of 1960, in which all disagreement weighs alike; null where chance explains all.
    """
    grades = np.unique(np.concatenate([first, second]))
    if grades.size < _LEAST:
        return None
    distance = np.abs(grades[:, None] - grades[None, :]).astype(np.float64)
    loss = (distance > 0) * distance**power
    rows, columns = (np.searchsorted(grades, labels) for labels in (first, second))
    confusion = np.zeros(loss.shape)
    np.add.at(confusion, (rows, columns), 1)
    chance = np.outer(confusion.sum(axis=1), confusion.sum(axis=0)) / confusion.sum()
    return float(1 - (loss * confusion).sum() / (loss * chance).sum())


def tau(compared: Compared, relations: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the fields of schemas.MODEL_TAU: how far people and the model rank systems alike.

    Both rank by means over the queries that people have judged; `tau_without` is without the
    judge's own systems. `sampled_p` is that of Welch's t-test of the model's values, all systems'
    mean, on those queries and on the others: a small one says that they are no random sample.
    """
    independent = np.array([relations.get(system) is None for system in compared.systems])
    model, people = compared.model[:, compared.chosen], compared.people
    row = {
        "queries": people.shape[1],
        "systems": independent.size,
        "own": int((~independent).sum()),
    }
    if not people.shape[1]:
        return {**row, "tau": None, "tau_without": None, "sampled_p": None}
    means = [block.mean(axis=1) for block in (model, people)]
    without = kendall_tau(*(mean[independent] for mean in means))
    return {
        **row,
        "tau": _number(kendall_tau(*means)),
        "tau_without": _number(without) if row["own"] else None,
        "sampled_p": _sampled_p(compared),
    }


def _sampled_p(compared: Compared) -> float | None:
    from scipy.stats import ttest_ind  # noqa: PLC0415 (slow to import)

    mean = compared.model.mean(axis=0)
    parts = mean[compared.chosen], mean[~compared.chosen]
    if min(map(len, parts)) < _LEAST or not any(part.std() for part in parts):
        return None
    test: Any = ttest_ind(*parts, equal_var=False)
    return _number(test.pvalue)


def circularity(
    compared: Compared, relations: Mapping[str, str | None], level: float
) -> Iterator[dict[str, Any]]:
    """Yield the fields of schemas.CIRCULARITY for each system that is the judge's own.

    `raised` is how much higher the model's mean is than people's, on the queries of people;
    `excess` is that less the mean of what the model raises the other systems by, with its interval.
    """
    strange = [n for n, system in enumerate(compared.systems) if relations.get(system) is None]
    raised = compared.model[:, compared.chosen] - compared.people
    independent_mean = raised[strange].mean(axis=0) if strange else None
    for n, system in enumerate(compared.systems):
        if relations.get(system) is None:
            continue
        row = {"system": system, "relation": relations[system], "queries": raised.shape[1]}
        excess = None if independent_mean is None else mean_of(raised[n] - independent_mean, level)
        yield row | {
            "raised": _number(mean_of(raised[n], level).mean),
            "raised_others": None
            if independent_mean is None
            else _number(mean_of(independent_mean, level).mean),
            "excess": excess and _number(excess.mean),
            "low": excess and _number(excess.low),
            "high": excess and _number(excess.high),
        }
