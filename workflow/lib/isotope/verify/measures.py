"""Scores by query, recomputed from runs and judgements by trec_eval and by ranx.

Both tools order hits by score, each by its own rule for ties, and trec_eval in single precision. So
they are handed the published ranks, as scores that fall by one from hit to hit. A judged query
without hits counts 0, as with `trec_eval -c`.
"""

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.metadata import version
from typing import NamedTuple

import polars as pl

from isotope.core.errors import EmptyTable
from isotope.core.grid import Cell
from isotope.core.progress import Progress
from isotope.verify.outcome import Check, Sample
from isotope.verify.subject import Run, Subject

# What double precision leaves of a sum over some thousand hits, in another order.
TOLERANCE = 1e-9
_FORM = re.compile(r"([A-Za-z]+)(?:@([1-9][0-9]*))?")
# By the measure's name before the @: the tool's own measure, with and without a cut.
_TREC = {
    "R@": "recall",
    "Success@": "success",
    "nDCG@": "ndcg_cut",
    "AP@": "map_cut",
    "P@": "P",
    "MAP": "map",
    "MRR": "recip_rank",
    "nDCG": "ndcg",
    "bpref": "bpref",
}
_RANX = {
    "MRR@": "mrr@",
    "R@": "recall@",
    "Success@": "hit_rate@",
    "nDCG@": "ndcg@",
    "AP@": "map@",
    "P@": "precision@",
    "MAP": "map",
    "MRR": "mrr",
    "nDCG": "ndcg",
}
Nested = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]


class Hits(NamedTuple):
    """Hits of some queries of a run, with their ranks, and the judgements of these queries."""

    run: pl.DataFrame
    qrels: pl.DataFrame


Tool = Callable[[Hits, list[str]], Iterator[tuple[str, dict[str, float]]]]


def check_measures(subject: Subject, sample: Sample) -> list[Check]:
    """Recompute the scores of a sample of the queries of every run, one query at least.

    A score of a run that is not there, a run without scores, a judged query without scores: each is
    a difference. A measure that neither tool has is counted as not compared.

    Raises:
        EmptyTable: no run at all.
        As `core.runs.read_run` and `read_trec_run`: a damaged run, with its row.
    """
    checks = {
        tool: Check("measures", f"{tool} {version(package)}", "scores", TOLERANCE)
        for tool, (package, _, _) in TOOLS.items()
    }
    runs, scores = subject.runs(), pl.read_parquet(subject.scores)
    if not runs:
        raise EmptyTable(subject.folder, "no run", "search, or release the collection again")
    judged = cache(lambda split, task: subject.qrels(Cell("", split, task)))
    progress = Progress("runs", total=len(runs))
    published = scores.drop("collection").partition_by(
        ["setting", "split", "task", "system"], as_dict=True, include_key=False
    )
    for (cell, system), path in runs.items():
        key = (cell.setting, cell.split, cell.task, system)
        own = published.pop(key, scores.select("query_id", "measure", "value").clear())
        qrels = judged(cell.split, cell.task)
        chosen = sample.choose(qrels["query_id"], " ".join(key))
        some = pl.col("query_id").is_in(chosen)
        hits = Hits(subject.hits(path).filter(some), qrels.filter(some))
        _compare(checks, _Values(" ".join(key), qrels["query_id"].n_unique(), own, some), hits)
        progress.add()
    progress.finish()
    for key in published:
        checks["trec_eval"].words(" ".join(map(str, key)), "scores", None)
    return list(checks.values())


class _Values(NamedTuple):
    """The published values of a run: its key, its judged queries, values, and which to compare."""

    run: str
    queries: int
    values: pl.DataFrame
    some: pl.Expr


def _compare(checks: Mapping[str, Check], own: _Values, hits: Hits) -> None:
    names = own.values["measure"].unique().sort().to_list()
    published = own.values.filter(own.some)
    able: set[str] = set()
    for tool, (_, form, compute) in TOOLS.items():
        measures = [name for name in names if form(name)]
        able |= {*measures}
        checks[tool].total += own.queries * len(measures)
        recomputed = [
            pl.DataFrame({"measure": name, "query_id": [*values], "recomputed": [*values.values()]})
            for name, values in compute(hits, measures)
        ]
        every = _every(hits.qrels["query_id"], measures)
        mine = published.filter(pl.col("measure").is_in(measures))
        found = pl.concat([_NONE, *recomputed])
        rows = every.join(found, on=["query_id", "measure"], how="left").with_columns(
            pl.col("recomputed").fill_null(0.0)
        )
        rows = rows.join(mine, on=["query_id", "measure"], how="full", coalesce=True)
        labelled = rows.select(pl.lit(own.run).alias("run"), "query_id", "measure")
        values = rows.select(published="value", recomputed="recomputed")
        checks[tool].numbers(pl.concat([labelled, values], how="horizontal"))
    if not names:
        checks["trec_eval"].words(own.run, None, "a run")
    for name in names:
        if name not in able:
            checks["trec_eval"].skip(f"{name}: no tool has this measure", own.queries)


_NONE = pl.DataFrame(
    schema={"measure": pl.String(), "query_id": pl.String(), "recomputed": pl.Float64()}
)


def _every(queries: pl.Series, measures: list[str]) -> pl.DataFrame:
    names = pl.DataFrame({"measure": measures}, schema={"measure": pl.String()})
    return queries.unique().to_frame().join(names, how="cross")


def trec_eval(hits: Hits, measures: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield trec_eval's value of each query, by measure (pytrec-eval-terrier).

    MRR@k is recip_rank of the run cut to k; Judged@k is P_k with every judgement counted as
    relevant, as ir_measures defines it.
    """
    import pytrec_eval  # noqa: PLC0415

    graded = nested(hits.qrels, "relevance")
    same = {name: form for name in measures if (form := _trec_form(name)) not in (_CUT, _ANY)}
    names = {name: form.replace(".", "_") for name, form in same.items()}
    judge = pytrec_eval.RelevanceEvaluator(graded, {*same.values()})
    found = judge.evaluate(_by_rank(hits.run)) if same else {}
    for name, key in names.items():
        yield name, {query: values[key] for query, values in found.items()}
    for name in measures:
        if name not in same:
            yield name, _special(hits, name, graded)


def _special(hits: Hits, name: str, graded: Grades) -> dict[str, float]:
    import pytrec_eval  # noqa: PLC0415

    k = int(name.partition("@")[2])
    key = "recip_rank" if _trec_form(name) == _CUT else f"P_{k}"
    run = hits.run.filter(pl.col("rank") <= k)
    if key != "recip_rank":
        graded = {query: dict.fromkeys(docs, 1) for query, docs in graded.items()}
    judge = pytrec_eval.RelevanceEvaluator(graded, {key.replace("P_", "P.")})
    return {query: values[key] for query, values in judge.evaluate(_by_rank(run)).items()}


def ranx(hits: Hits, measures: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield ranx's value of each query, by measure."""
    if not measures or hits.run.is_empty():
        yield from ((name, {}) for name in measures)
        return
    with warnings.catch_warnings():
        # What importing and compiling it prints on newer versions of numba and Python.
        warnings.simplefilter("ignore")
        from ranx import Qrels, Run, evaluate  # noqa: PLC0415

        qrels, run = Qrels(nested(hits.qrels, "relevance")), Run(_by_rank(hits.run))
        forms = [form for name in measures if (form := _ranx_form(name))]
        evaluate(qrels, run, forms, make_comparable=True)
    for name, form in zip(measures, forms, strict=True):
        yield name, {query: float(value) for query, value in run.scores[form].items()}


_CUT, _ANY = "recip_rank of a run cut", "P of all judgements"


def _trec_form(name: str) -> str:
    """Return trec_eval's name of a measure, such as recall.10; none where it has no such."""
    family, k = _parsed(name)
    special = {"MRR@": _CUT, "Judged@": _ANY}
    if family in special:
        return special[family]
    own = _TREC.get(family, "")
    return f"{own}.{k}" if own and k else own


def _ranx_form(name: str) -> str:
    family, k = _parsed(name)
    return f"{_RANX[family]}{k}" if family in _RANX else ""


def _parsed(name: str) -> tuple[str, str]:
    form = _FORM.fullmatch(name)
    family, k = form.groups() if form else ("", None)
    return (f"{family}@", k) if k else (family, "")


def nested(frame: pl.DataFrame, value: str) -> Grades:
    """Return {query: {document: value}}, as both tools take judgements."""
    rows: Grades = {}
    for query, doc, number in frame.select("query_id", "doc_id", value).iter_rows():
        rows.setdefault(query, {})[doc] = number
    return rows


def _by_rank(run: pl.DataFrame) -> Nested:
    explicit = run.select("query_id", "doc_id", score=-pl.col("rank").cast(pl.Float64))
    rows: Nested = {}
    for query, doc, score in explicit.iter_rows():
        rows.setdefault(query, {})[doc] = score
    return rows


TOOLS: dict[str, tuple[str, Callable[[str], str], Tool]] = {
    "trec_eval": ("pytrec-eval-terrier", _trec_form, trec_eval),
    "ranx": ("ranx", _ranx_form, ranx),
}


def cells_of(runs: Mapping[Run, object]) -> list[tuple[str, str, str]]:
    """Return setting, split and task of the runs, each once, in their order."""
    return list(dict.fromkeys((c.setting, c.split, c.task) for c, _ in runs))
