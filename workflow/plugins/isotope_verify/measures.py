"""Scores by query, recomputed from runs and judgements by trec_eval and by ranx.

Both tools order hits by score, each by its own rule for ties, and trec_eval in single precision. So
they are handed the published ranks, as scores that fall by one from hit to hit. A judged query
without hits counts 0, as with `trec_eval -c`.

The order is compared apart: the rank of each hit is its place by trec_eval's rule, and trec_eval
gets the scores themselves and must give what it gives for the published ranks, but for queries that
single precision orders otherwise, which are counted.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

import polars as pl

from isotope.core import extras
from isotope.core.errors import EmptyTable
from isotope.core.grid import RunKey
from isotope.core.progress import Progress
from isotope_verify import peer
from isotope_verify.outcome import Check, ItemSample
from isotope_verify.subject import Run, Subject

# What double precision leaves of a sum over some thousand hits, in another order.
TOLERANCE = 1e-9
_RUN = ("setting", "split", "task", "system")
# A query's hits weigh some hundred bytes in the tools' dictionaries.
_MOST_HITS = 500_000
_NONE = pl.DataFrame(
    schema={"measure": pl.String(), "query": pl.String(), "recomputed": pl.Float64()}
)
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


class JudgedHits(NamedTuple):
    """Hits with their ranks, and judgements, of some queries of runs; `query` names both."""

    run: pl.DataFrame
    qrels: pl.DataFrame


_TREC_EVAL = "pytrec-eval-terrier"
Tool = Callable[[JudgedHits, list[str]], Iterator[tuple[str, dict[str, float]]]]


def check_measures(subject: Subject, sample: ItemSample) -> list[Check]:
    """Recompute the scores of a sample of the queries of every run, one query at least.

    A score of a run that is not there, a run without scores, a judged query without scores: each is
    a difference. A measure that neither tool has, and what a tool has that is not installed (there
    is no trec_eval for Python on ARM), is counted as not compared.

    Raises:
        EmptyTable: no run at all.
        As `core.runs.read_run` and `read_trec_run`: a damaged run, with its row.
    """
    scores, runs = pl.read_parquet(subject.scores, glob=False), subject.runs()
    if not runs:
        raise EmptyTable(subject.folder, "no run", "search, or release the collection again")
    comparison = _Comparison(scores, runs)
    judged = cache(lambda split, task: subject.qrels(RunKey("", split, task)))
    progress = Progress("runs", total=len(runs))
    for (cell, system), path in runs.items():
        run, qrels = _name(cell, system), judged(cell.split, cell.task)
        chosen = sample.choose(qrels["query_id"], run)
        some = pl.col("query_id").is_in(chosen)
        comparison.add(run, qrels["query_id"].n_unique(), subject.hits(path), qrels.filter(some))
        progress.add()
    progress.finish()
    return comparison.finish()


class _Comparison:
    """What is handed to the tools: sampled queries of many runs, each named with its run."""

    def __init__(self, scores: pl.DataFrame, runs: Iterable[Run]) -> None:
        self._measures = scores["measure"].unique().sort().to_list()
        self._published = scores.select(_named(*_RUN), "query_id", "measure", published="value")
        self._pieces: list[JudgedHits] = []
        self._size = 0
        # Empty where a package is not installed.
        self._versions = {package: version_of(package) for package, _, _ in TOOLS.values()}
        self._checks = {
            tool: Check(
                "measures", f"{package} {self._versions[package]}".rstrip(), "scores", TOLERANCE
            )
            for tool, (package, _, _) in TOOLS.items()
        }
        self._orders = Check("orders", self._checks["trec_eval"].tool, "scores", TOLERANCE)
        self._ranks = Check("ranks", "by score, then id", "hits")
        self._ordered = {n: f for n in self._measures if (f := _trec_form(n)) not in _NO_TREC_FORM}
        self._scored = {*self._published["run"].unique()}
        run_names = {_name(*run) for run in runs}
        for run in sorted(self._scored ^ run_names):
            both = ("scores", None) if run in self._scored else (None, "a run")
            self._checks["trec_eval"].words(run, *both)

    def add(self, run: str, queries: int, hits: pl.DataFrame, qrels: pl.DataFrame) -> None:
        """Add the judgements of the sampled queries of a run with `queries` judged ones."""
        if run not in self._scored:
            return
        named = pl.lit(run).alias("run")
        judged_hits = hits.filter(pl.col("query_id").is_in(qrels["query_id"].unique().implode()))
        self._pieces.append(JudgedHits(judged_hits.with_columns(named), qrels.with_columns(named)))
        self._size += judged_hits.height
        self._rank(run, hits)
        counts = [
            (self._checks[tool], package, sum(map(bool, map(form, self._measures))))
            for tool, (package, form, _) in TOOLS.items()
        ]
        for check, package, n in (*counts, (self._orders, _TREC_EVAL, len(self._ordered))):
            check.total += queries * n
            if not self._versions[package]:
                check.skip(lacking(package), queries * n)
        for name in self._measures:
            if not any(form(name) for _, form, _ in TOOLS.values()):
                self._checks["trec_eval"].skip(f"{name}: no tool has this measure", queries)
        if self._size > _MOST_HITS:
            self._flush()

    def _rank(self, run: str, hits: pl.DataFrame) -> None:
        """Compare the rank of each hit with its place by the scores."""
        names = {"query": pl.lit(run) + " " + pl.col("query_id"), "document": pl.col("doc_id")}
        ordered = placed(hits.rename({"query_id": "query"}), pl.Float64)
        both = {"published": pl.col("rank"), "recomputed": pl.col("place")}
        places = {name: column.cast(pl.Float64) for name, column in both.items()}
        self._ranks.total += hits.height
        self._ranks.numbers(ordered.rename({"query": "query_id"}).select(**names, **places))

    def finish(self) -> list[Check]:
        """Compare the rest; return the checks."""
        if self._pieces:
            self._flush()
        return [*self._checks.values(), self._ranks, self._orders]

    def _flush(self) -> None:
        run, qrels = (
            pl.concat(
                frame.with_columns(query=pl.concat_str("run", "query_id", separator="\t"))
                for frame in frames
            )
            for frames in zip(*self._pieces, strict=True)
        )
        self._pieces, self._size = [], 0
        asked = qrels.select("run", "query_id", "query").unique()
        published = self._published.join(asked, on=["run", "query_id"])
        for tool, (package, form, compute) in TOOLS.items():
            if not self._versions[package]:
                continue
            able = [name for name in self._measures if form(name)]
            covered = published.filter(pl.col("measure").is_in(able))
            recomputed = compute(JudgedHits(run, qrels), able) if able else ()
            self._checks[tool].numbers(_beside(covered, asked, able, recomputed))
        self._order(JudgedHits(run, qrels))

    def _order(self, hits: JudgedHits) -> None:
        """Compare what trec_eval makes of the ranks and of the scores."""
        if not self._ordered or not self._versions[_TREC_EVAL]:
            return
        import pytrec_eval  # noqa: PLC0415

        moved, wrong = (
            {*placed(hits.run, kind).filter(pl.col("place") != pl.col("rank"))["query"]}
            for kind in (pl.Float32, pl.Float64)
        )
        apart = pl.col("query").is_in(sorted(moved - wrong))
        if lost := len(moved - wrong) * len(self._ordered):
            self._orders.skip("a query that trec_eval 9 orders otherwise: single precision", lost)
        run, qrels = hits.run.filter(~apart), hits.qrels.filter(~apart)
        judge = pytrec_eval.RelevanceEvaluator(
            nested(qrels, "relevance"), {*self._ordered.values()}
        )
        values = [judge.evaluate(scores) for scores in (by_rank(run), nested(run, "score"))]
        keys = {name: form.replace(".", "_") for name, form in self._ordered.items()}
        # A query without hits is in neither, and counts 0.
        asked = sorted({*qrels["query"]})
        rows = [
            (
                query.replace("\t", " "),
                name,
                *(scores.get(query, {}).get(key, 0.0) for scores in values),
            )
            for query in asked
            for name, key in keys.items()
        ]
        columns = {"query": pl.String, "measure": pl.String}
        numbers = dict.fromkeys(("published", "recomputed"), pl.Float64)
        self._orders.numbers(pl.DataFrame(rows, {**columns, **numbers}, orient="row"))


def _beside(
    published: pl.DataFrame,
    asked: pl.DataFrame,
    measures: list[str],
    recomputed: Iterable[tuple[str, dict[str, float]]],
) -> pl.DataFrame:
    """Return the published and the recomputed value of every query and measure, sorted."""
    columns = [
        pl.DataFrame({"measure": name, "query": [*values], "recomputed": [*values.values()]})
        for name, values in recomputed
    ]
    all_pairs = asked.join(
        pl.DataFrame({"measure": measures}, {"measure": pl.String()}), how="cross"
    )
    values = all_pairs.join(pl.concat([_NONE, *columns]), on=["query", "measure"], how="left")
    # A judged query that a tool leaves out has no hits.
    values = values.with_columns(pl.col("recomputed").fill_null(0.0)).drop("query")
    key = ["run", "query_id", "measure"]
    both = values.join(published.drop("query"), on=key, how="left")
    return both.sort(key).select(*key, "published", "recomputed")


def placed(run: pl.DataFrame, kind: type[pl.DataType]) -> pl.DataFrame:
    """Return hits (query, doc_id, rank, score) in trec_eval's order, with their `place`.

    Scores are of `kind`: Float64 in trec_eval 10, Float32 in 9; of equal ones the greater id is
    first.
    """
    keys = ["query", pl.col("score").cast(kind), "doc_id"]
    ordered = run.sort(keys, descending=[False, True, True])
    return ordered.with_columns(place=pl.int_range(1, pl.len() + 1).over("query"))


def version_of(package: str) -> str:
    """Return the version of a package, none where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def lacking(package: str) -> str:
    """Say that a package is not installed, with the line that installs it where an extra has it."""
    extra = extras.extra_of(package)
    line = f"; {extras.line(extra)}" if extra else ""
    return f"{package} is not installed{line}"


def _name(cell: RunKey, system: str) -> str:
    return " ".join((cell.setting, cell.split, cell.task, system))


def _named(*columns: str) -> pl.Expr:
    return pl.concat_str(*columns, separator=" ").alias("run")


def trec_eval(hits: JudgedHits, measures: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield trec_eval's value of each query, by measure (pytrec-eval-terrier).

    MRR@k is recip_rank of the run cut to k; Judged@k is P_k with every judgement counted as
    relevant, as ir_measures defines it.
    """
    import pytrec_eval  # noqa: PLC0415

    graded = nested(hits.qrels, "relevance")
    same = {name: form for name in measures if (form := _trec_form(name)) not in (_CUT, _ANY)}
    names = {name: form.replace(".", "_") for name, form in same.items()}
    judge = pytrec_eval.RelevanceEvaluator(graded, {*same.values()})
    evaluated = judge.evaluate(by_rank(hits.run)) if same else {}
    for name, key in names.items():
        yield name, {query: values[key] for query, values in evaluated.items()}
    for name in measures:
        if name not in same:
            yield name, _special(hits, name, graded)


def _special(hits: JudgedHits, name: str, graded: Grades) -> dict[str, float]:
    import pytrec_eval  # noqa: PLC0415

    k = int(name.partition("@")[2])
    key = "recip_rank" if _trec_form(name) == _CUT else f"P_{k}"
    run = hits.run.filter(pl.col("rank") <= k)
    if key != "recip_rank":
        graded = {query: dict.fromkeys(docs, 1) for query, docs in graded.items()}
    judge = pytrec_eval.RelevanceEvaluator(graded, {key.replace("P_", "P.")})
    return {query: values[key] for query, values in judge.evaluate(by_rank(run)).items()}


def ranx(hits: JudgedHits, measures: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield ranx's value of each query, by measure."""
    if not measures or hits.run.is_empty():
        yield from ((name, {}) for name in measures)
        return
    with peer.ranx() as package:
        qrels = package.Qrels(nested(hits.qrels, "relevance"))
        run = package.Run(by_rank(hits.run))
        forms = [form for name in measures if (form := _ranx_form(name))]
        package.evaluate(qrels, run, forms, make_comparable=True)
    for name, form in zip(measures, forms, strict=True):
        yield name, {query: float(value) for query, value in run.scores[form].items()}


_CUT, _ANY = "recip_rank of a run cut", "P of all judgements"
# What trec_eval does not have, or not of a run as it is.
_NO_TREC_FORM = ("", _CUT, _ANY)


def _trec_form(name: str) -> str:
    """Return trec_eval's name of a measure, such as recall.10; none where it has no such."""
    family, k = _parsed(name)
    special = {"MRR@": _CUT, "Judged@": _ANY}
    if family in special:
        return special[family]
    trec_name = _TREC.get(family, "")
    return f"{trec_name}.{k}" if trec_name and k else trec_name


def _ranx_form(name: str) -> str:
    family, k = _parsed(name)
    return f"{_RANX[family]}{k}" if family in _RANX else ""


def _parsed(name: str) -> tuple[str, str]:
    form = _FORM.fullmatch(name)
    family, k = form.groups() if form else ("", None)
    return (f"{family}@", k) if k else (family, "")


def nested(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Return {query: {document: value}}, as both tools take judgements and runs."""
    rows: dict[str, dict[str, Any]] = {}
    for query, doc, number in frame.select("query", "doc_id", value).iter_rows():
        rows.setdefault(query, {})[doc] = number
    return rows


def by_rank(run: pl.DataFrame) -> Nested:
    """Return {query: {document: score}}, scores that fall by one from hit to hit."""
    explicit = run.select("query", "doc_id", score=-pl.col("rank").cast(pl.Float64))
    rows: Nested = {}
    for query, doc, score in explicit.iter_rows():
        rows.setdefault(query, {})[doc] = score
    return rows


TOOLS: dict[str, tuple[str, Callable[[str], str], Tool]] = {
    "trec_eval": (_TREC_EVAL, _trec_form, trec_eval),
    "ranx": ("ranx", _ranx_form, ranx),
}
