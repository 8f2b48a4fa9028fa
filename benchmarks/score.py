"""Claim: 9,000 queries x 1,000 hits are scored at least 5 times as fast as through ranx.

    python benchmarks/score.py [QUERIES] [DEPTH]     (default 9000 1000)

The same run and qrels, ids all UUIDs, go through isotope, ranx and pytrec_eval, each in a process
of its own; their values are compared before the times are printed and written to
benchmarks/results/score.md.
"""

import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import Timing, alone, machine, timed, write

from isotope.random_system import random_run
from isotope.runs import read_run, write_run
from isotope.score import score_run

MEASURES = ["MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP"]
RANX = ["mrr@10", "recall@10", "recall@1000", "hit_rate@10", "ndcg@10", "map"]
TREC = ["recip_rank", "recall_10", "recall_1000", "success_10", "ndcg_cut_10", "map"]
CUT, TOLERANCE = 10, 1e-9


def uuids(n: int, seed: int) -> list[str]:
    """Return n random ids."""
    raw = np.random.default_rng(seed).bytes(16 * n)
    return [str(uuid.UUID(bytes=raw[16 * i : 16 * i + 16])) for i in range(n)]


def make(folder: Path, queries: int, depth: int) -> None:
    """Write a random run, and qrels with three found and one unfound document for each query."""
    run = random_run(uuids(queries, 1), uuids(200_000, 2), depth=depth, seed=3)
    write_run(run, folder / "run.parquet")
    ranks = np.random.default_rng(4).integers(1, 20, (queries, 3)) * [1, 1, depth // 20]
    wanted = pl.DataFrame({"query_id": run["query_id"].unique().sort(), "rank": ranks.tolist()})
    wanted = wanted.explode("rank").unique().with_columns(pl.col("rank").cast(pl.Int32))
    found = run.join(wanted, on=["query_id", "rank"]).select("query_id", "doc_id")
    unfound = run.select(pl.col("query_id").unique()).with_columns(doc_id=pl.lit("absent"))
    grades = pl.int_range(pl.len()) % 3 + 1
    qrels = pl.concat([found, unfound]).sort("query_id", "doc_id").with_columns(relevance=grades)
    qrels.write_parquet(folder / "qrels.parquet")


def nested(df: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    """Turn a table into the dictionaries that ranx and pytrec_eval want."""
    parts = df.partition_by("query_id", as_dict=True).items()
    return {str(key[0]): dict(part.select("doc_id", value).iter_rows()) for key, part in parts}


def by_isotope(folder: Path) -> Timing:
    """Time isotope; the order of the run is checked while it loads."""
    qrels = pl.read_parquet(folder / "qrels.parquet")
    load_s, run = timed(lambda: read_run(folder / "run.parquet"))
    all_s, scores = timed(lambda: score_run(run, qrels, MEASURES))
    each_s = [timed(lambda name=name: score_run(run, qrels, [name]))[0] for name in MEASURES]
    means = dict(scores.group_by("measure").agg(pl.col("value").mean()).iter_rows())
    values = [means[name] for name in MEASURES]
    return {"load_s": load_s, "all_s": all_s, "each_s": each_s, "means": values}


def by_ranx(folder: Path) -> Timing:
    """Time ranx, after its code has been compiled for ids of this length."""
    import ranx  # noqa: PLC0415

    query, doc = uuids(2, 5)
    warm = ranx.Run({query: {doc: 1.0}})
    ranx.evaluate(ranx.Qrels({query: {doc: 1}}), warm, RANX)
    path = folder / "run.parquet"
    qrels = ranx.Qrels(nested(pl.read_parquet(folder / "qrels.parquet"), "relevance"))
    load_s, loaded = timed(lambda: ranx.Run(nested(pl.read_parquet(path), "score")))
    all_s, means = timed(lambda: ranx.evaluate(qrels, loaded, RANX))
    each_s = [timed(lambda name=name: ranx.evaluate(qrels, loaded, name))[0] for name in RANX]
    return {"load_s": load_s, "all_s": all_s, "each_s": each_s, "means": [means[m] for m in RANX]}


def by_pytrec_eval(folder: Path) -> Timing:
    """Time trec_eval; MRR@10 is `recip_rank`, its mean taken from a run cut to 10, untimed."""
    import pytrec_eval  # noqa: PLC0415

    def mean(loaded: dict[str, dict[str, float]], names: list[str]) -> list[float]:
        values = pytrec_eval.RelevanceEvaluator(qrels, names).evaluate(loaded).values()
        return [sum(value[name] for value in values) / len(values) for name in names]

    path = folder / "run.parquet"
    qrels = nested(pl.read_parquet(folder / "qrels.parquet"), "relevance")
    load_s, loaded = timed(lambda: nested(pl.read_parquet(path), "score"))
    all_s, means = timed(lambda: mean(loaded, TREC))
    each_s = [timed(lambda name=name: mean(loaded, [name]))[0] for name in TREC]
    cut = nested(pl.read_parquet(path).filter(pl.col("rank") <= CUT), "score")
    means[0] = mean(cut, ["recip_rank"])[0]
    return {"load_s": load_s, "all_s": all_s, "each_s": each_s, "means": means}


def table(found: dict[str, Timing], queries: int, depth: int) -> str:
    """Return the report."""
    lines = [
        "# Scoring a run, beside ranx and trec_eval",
        "",
        f"{queries:,} queries x {depth:,} hits, UUIDs; {', '.join(MEASURES)}.",
        f"All three tools agree on every mean within {TOLERANCE}.",
        "",
        "| tool | load, s | six measures at once, s | one measure alone, s | load and six, s"
        " | times isotope | peak, GiB |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    base = found["isotope"]["load_s"] + found["isotope"]["all_s"]
    for tool, timing in found.items():
        total, each = timing["load_s"] + timing["all_s"], timing["each_s"]
        lines.append(
            f"| {tool} | {timing['load_s']:.2f} | {timing['all_s']:.2f}"
            f" | {min(each):.2f} to {max(each):.2f} | {total:.2f} | {total / base:.1f}"
            f" | {timing['peak_gib']:.1f} |"
        )
    return "\n".join(
        [
            *lines,
            "",
            "Load: from Parquet into what the tool works on. isotope checks the order of the run on"
            " the way, ranx sorts it; ranx's code was compiled before the clock started.",
            "",
            machine(["polars", "ranx", "numba", "pytrec-eval-terrier"]),
        ]
    )


def main(queries: int = 9000, depth: int = 1000) -> None:
    """Run the three tools, compare what they say, and report."""
    tools = {"isotope": by_isotope, "ranx": by_ranx, "pytrec_eval": by_pytrec_eval}
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), queries, depth)
        found: dict[str, Timing] = {}
        for tool, work in tools.items():
            found[tool] = alone(work, Path(name))
            print(tool, found[tool], file=sys.stderr, flush=True)
    for tool, timing in found.items():
        apart = np.abs(np.subtract(timing["means"], found["isotope"]["means"])).max()
        assert apart < TOLERANCE, (tool, apart)
    write("score", table(found, queries, depth))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
