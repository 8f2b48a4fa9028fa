"""Claim: 9,000 queries x 1,000 hits are scored 20 times as fast as by ranx, loading included.

    python benchmarks/score.py [QUERIES] [DEPTH] [ROUNDS]     (default 9000 1000 3)

The same run and qrels, ids all UUIDs, go through isotope, ranx and pytrec_eval, each in a process
of its own, in turn; their values are compared, and medians of the rounds are written to
benchmarks/results/score.md. isotope reads the run in pieces and checks its order on the way.
"""

import sys
import tempfile
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import Claim, Timing, machine, rounds, timed, verdicts, write

from isotope.core.measures import score_file
from isotope.core.runs import batches, write_run
from isotope.search.systems import random_run

MEASURES = ["MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP"]
RANX = ["mrr@10", "recall@10", "recall@1000", "hit_rate@10", "ndcg@10", "map"]
TREC = ["recip_rank", "recall_10", "recall_1000", "success_10", "ndcg_cut_10", "map"]
CUT, TOLERANCE, MOST_GIB = 10, 1e-9, 2.0
AT_LEAST = {"ranx": 20.0, "pytrec_eval": 1.0}


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
    """Time isotope, from the file to the values."""
    qrels = pl.read_parquet(folder / "qrels.parquet")
    total_s, scores = timed(lambda: score_file(folder / "run.parquet", qrels, MEASURES))
    load_s, _ = timed(lambda: sum(hits.height for hits in batches(folder / "run.parquet")))
    means = dict(scores.group_by("measure").agg(pl.col("value").mean()).iter_rows())
    values = [means[name] for name in MEASURES]
    return {"load_s": load_s, "all_s": total_s - load_s, "total_s": total_s, "means": values}


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
    values = [float(means[m]) for m in RANX]
    return {"load_s": load_s, "all_s": all_s, "total_s": load_s + all_s, "means": values}


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
    cut = nested(pl.read_parquet(path).filter(pl.col("rank") <= CUT), "score")
    means[0] = mean(cut, ["recip_rank"])[0]
    return {"load_s": load_s, "all_s": all_s, "total_s": load_s + all_s, "means": means}


def table(found: dict[str, Timing], claims: list[Claim], times: int) -> str:
    """Return the report."""
    rows = [
        f"| {tool} | {t['load_s']:.2f} | {t['all_s']:.2f} | {t['total_s']:.2f}"
        f" | {t['peak_gib']:.1f} |"
        for tool, t in found.items()
    ]
    return "\n".join(
        [
            "# Scoring a run, beside ranx and trec_eval",
            "",
            f"{claims[0].input}, UUIDs; {', '.join(MEASURES)}. Medians of {times} rounds.",
            f"All three tools agree on every mean within {TOLERANCE}.",
            "",
            "| tool | load, s | six measures, s | load and six, s | peak, GiB |",
            "|---|---:|---:|---:|---:|",
            *rows,
            "",
            verdicts(claims),
            "Load: from Parquet into what the tool works on. isotope loads and scores piece by"
            " piece, checks the order on the way, and holds no whole run; its second column is the"
            " difference. ranx sorts what it loads; its code was compiled before the clock started."
            f" Memory within {MOST_GIB:g} GiB is part of the claim.",
            "",
            machine(["polars", "ranx", "numba", "pytrec-eval-terrier"]),
        ]
    )


def main(queries: int = 9000, depth: int = 1000, times: int = 3) -> None:
    """Run the three tools, compare what they say, and report."""
    tools = {"isotope": by_isotope, "ranx": by_ranx, "pytrec_eval": by_pytrec_eval}
    with tempfile.TemporaryDirectory() as name:
        make(Path(name), queries, depth)
        found = rounds(tools, Path(name), times=times)
    ours = found["isotope"]
    for tool, timing in found.items():
        apart = np.abs(np.subtract(timing["means"], ours["means"])).max()
        assert apart < TOLERANCE, (tool, apart)
    what = f"{queries:,} queries x {depth:,} hits"
    claims = [
        Claim(
            "score",
            what,
            tool,
            ours["total_s"],
            found[tool]["total_s"],
            least,
            ours["peak_gib"],
            MOST_GIB,
        )
        for tool, least in AT_LEAST.items()
    ]
    write("score", table(found, claims, times), claims)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
