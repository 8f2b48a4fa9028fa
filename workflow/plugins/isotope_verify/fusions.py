"""Fused rankings, recomputed by ranx from the runs that were fused.

Every hit has the score that ranx gives its document, and the scores of a query, rank by rank, are
the highest that ranx finds. So a hit that changed places is found, and one that was left out. Three
things differ by definition, and only the last two are left out, counted:

- A sum of reciprocal ranks is rounded once here and at each step by ranx: within the tolerance.
- ranx has no rule for documents that score alike: their order is that of `ranks`.
- ranx fuses runs of the same queries; here a run without hits of a query adds nothing to it.

A document that one run lacks adds nothing in both, and scores that are all equal become zeros in
both. ranx ranks a run by scores, in no order where they tie, so it is handed the published ranks
where ranks are fused.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import extras
from isotope.core.errors import CorruptFile
from isotope.core.grid import RunKey
from isotope.search.kinds.rrf import Rrf
from isotope.search.kinds.wsum import Wsum
from isotope_verify import peer
from isotope_verify.measures import TOLERANCE, by_rank, lacking, nested, version_of
from isotope_verify.outcome import Check, ItemSample
from isotope_verify.subject import Built, Run, Subject

_QUERIES = 256
_HITS = {"query_id": pl.String(), "doc_id": pl.String(), "score": pl.Float64()}


class _Fusion(NamedTuple):
    """A run to check: its name, ranx's method and parameters, and the runs that were fused."""

    name: str
    method: str
    parameters: Mapping[str, Any]
    parts: Sequence[pl.DataFrame]


def check_fusions(subject: Subject, sample: ItemSample) -> list[Check]:
    """Fuse a sample of the queries of every fusion again, one query a run at least.

    Parts that are not here, and parameters that a search chose and a release does not tell, are
    counted.

    Raises:
        CorruptFile: a table of choices that can't be read.
        As `Subject.hits`.
    """
    check = Check("rankings", f"ranx {version_of('ranx')}".rstrip(), "hits", TOLERANCE)
    entries = subject.entries()
    for run, path in subject.runs().items():
        entry = entries.get(run[1])
        if not isinstance(entry, Rrf | Wsum):
            continue
        try:
            fusion = _fusion(subject, run, path, entry)
        except _NotHere as error:
            check.skip(f"runs of kind {entry.kind}: {error}")
            continue
        hits = subject.hits(path)
        check.total += hits.height
        if not extras.is_installed("ranx"):
            check.skip(lacking("ranx"), hits.height)
            continue
        chosen = sample.choose(subject.qrels(run[0])["query_id"], fusion.name)
        for start in range(0, len(chosen), _QUERIES):
            _compare(check, fusion, hits, chosen[start : start + _QUERIES])
    return [check]


class _NotHere(Exception):
    """What a fusion was made of is not here."""


def _fusion(subject: Subject, run: Run, path: Path, entry: Rrf | Wsum) -> _Fusion:
    cell, system = run
    parts: list[pl.DataFrame] = []
    for part in entry.of:
        part_path = path.with_name(part + path.name.removeprefix(system))
        if not part_path.is_file():
            raise _NotHere(f"the run of {part}, which was fused, is not here")
        parts.append(subject.hits(part_path))
    name = f"{cell.setting} {cell.split} {cell.task} {system}"
    return _Fusion(name, entry.kind, _parameters(subject, run, entry), parts)


def _parameters(subject: Subject, run: Run, entry: Rrf | Wsum) -> dict[str, Any]:
    """Return ranx's parameters: those of the entry, or those that were chosen for the cell."""
    cell, system = run
    if entry.tune is None:
        return _numbers({entry.fixed: getattr(entry, entry.fixed)})
    if isinstance(subject, Built):
        path = subject.folder / f"results/search/{subject.name}/tuning/{system}.csv"
        if path.is_file() and (chosen := _chosen(path, cell)):
            return chosen
    raise _NotHere(f"what a search chose for {system} is not here")


def _chosen(path: Path, cell: RunKey) -> dict[str, Any]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["chosen"] == "true"]
        of_cell = [
            row for row in rows if (row["setting"], row["task"]) == (cell.setting, cell.task)
        ]
        return _numbers(json.loads(of_cell[0]["parameters"])) if of_cell else {}
    except (KeyError, TypeError, ValueError) as error:
        problem = f"no table of the choices of a search ({error})"
        raise CorruptFile(path, problem, "remove it, search again") from error


def _numbers(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return numbers as ranx compiles for once: all of one type."""
    return {
        key: [float(score) for score in value] if isinstance(value, list) else float(value)
        for key, value in parameters.items()
    }


def _compare(check: Check, fusion: _Fusion, hits: pl.DataFrame, chosen: Sequence[str]) -> None:
    """Compare hit by hit, then rank by rank.

    A query with fewer hits than another one has no more of them, whatever the depth was.
    """
    answers = [{*part["query_id"].unique()} & {*chosen} for part in fusion.parts]
    lacking = set[str]().union(*answers) - set.intersection(*answers)
    if lacking:
        reason = "queries that one of the fused runs does not answer: ranx fuses no such"
        check.skip(reason, len(lacking))
    asked = pl.Series(sorted({*chosen} - lacking), dtype=pl.String)
    some = pl.col("query_id").is_in(asked.implode())
    depth = hits["rank"].cast(pl.Int64).max() or 1
    fused = _ranked(_fused(fusion, some))
    published = hits.filter(some).select(pl.col("rank").cast(pl.Int64), *_HITS)
    both = published.join(fused.drop("rank"), on=["query_id", "doc_id"], how="left")
    run, scores = (
        pl.lit(fusion.name).alias("run"),
        {"published": "score", "recomputed": "score_right"},
    )
    check.numbers(both.sort("query_id", "rank").select(run, "query_id", "doc_id", **scores))
    first = fused.filter(pl.col("rank") <= depth)
    ranks = published.join(first, on=["query_id", "rank"], how="full", coalesce=True)
    apart = (pl.col("score") - pl.col("score_right")).abs().fill_null(math.inf) > TOLERANCE
    wrong = ranks.filter(apart).sort("query_id", "rank").unique("query_id", maintain_order=True)
    rank = pl.concat_str(pl.lit("rank"), "rank", separator=" ").alias("rank")
    check.numbers(wrong.select(run, "query_id", rank, **scores))
    # Their hits were counted above.
    check.compared -= wrong.height
    same = pl.col("score").diff().over("query_id").abs() <= TOLERANCE
    if alike := first.filter(same).height:
        check.skip("the order of two hits that ranx scores alike: it has no rule for it", alike)


def _ranked(hits: pl.DataFrame) -> pl.DataFrame:
    ordered = hits.sort("query_id", "score", descending=[False, True])
    return ordered.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query_id"))


def _fused(fusion: _Fusion, some: pl.Expr) -> pl.DataFrame:
    """Return what ranx makes of the parts' hits: query_id, doc_id, score."""
    parts = [part.filter(some) for part in fusion.parts]
    if any(part.is_empty() for part in parts):
        return pl.DataFrame(schema=_HITS)
    named = [part.rename({"query_id": "query"}) for part in parts]
    hits = map(by_rank, named) if fusion.method == "rrf" else (nested(p, "score") for p in named)
    with peer.ranx() as ranx:
        # To fuse by ranks the norm changes nothing.
        fused = ranx.fuse(
            [ranx.Run(scores) for scores in hits], "min-max", fusion.method, dict(fusion.parameters)
        )
        return pl.DataFrame(_rows(fused.to_dict()), _HITS, orient="row")


def _rows(scores_by_query: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    for query, documents in scores_by_query.items():
        for document, score in documents.items():
            yield query, document, score
