"""Claim: two runs of 9,000 queries x 1,000 hits are fused 10 times as fast as by ranx.

    python benchmarks/fuse.py [QUERIES] [DEPTH] [ROUNDS]     (default 9000 1000 3)

RRF and the weighted sum of min-max scores, of runs that share half their documents, from Parquet;
scores and rankings are compared, ties apart, before medians go to benchmarks/results/fuse.md.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import Claim, Timing, machine, rounds, timed, verdicts, write
from score import nested, uuids

from isotope.core.runs import batches, empty, write_run
from isotope.search.fuse import fused
from isotope.search.kinds._fusion import Fusion
from isotope.search.kinds.rrf import Rrf
from isotope.search.kinds.wsum import Wsum
from isotope.search.systems import random_run

WEIGHTS, K, MOST_GIB, AT_LEAST, TOLERANCE = [0.3, 0.7], 60, 2.0, 10.0, 1e-12
OF = ["one", "two"]
SPECS: dict[str, Fusion[Any]] = {
    "rrf": Rrf(kind="rrf", of=OF, k=K),
    "wsum": Wsum(kind="wsum", of=OF, weights=WEIGHTS),
}
# The answer of every so many queries is compared, to the last hit.
EVERY = 50


def make(folder: Path, queries: int, depth: int) -> None:
    """Write two random runs that share about half of their documents."""
    asked, documents = uuids(queries, 1), uuids(200_000, 2)
    one = random_run(asked, documents, depth=depth, seed=3)
    other = random_run(asked, documents, depth=depth - depth // 2, seed=8)
    draw = np.random.default_rng(9)
    shared = one.filter(pl.Series(draw.random(one.height) < 1 / 2)).select("query_id", "doc_id")
    two = pl.concat([shared, other.select("query_id", "doc_id")]).unique(maintain_order=True)
    write_run(one, folder / "one.parquet")
    scores = pl.Series("score", 20 * draw.random(two.height))
    write_run(two.with_columns(scores), folder / "two.parquet")


def paths(folder: Path) -> list[Path]:
    """Return where the two runs lie."""
    return [folder / "one.parquet", folder / "two.parquet"]


def sample(run: pl.DataFrame) -> pl.DataFrame:
    """Keep the queries that are compared: whole, sorted by document."""
    ids = run["query_id"].unique().sort().gather_every(EVERY)
    kept = run.filter(pl.col("query_id").is_in(ids.implode()))
    return kept.select("query_id", "doc_id", "score").sort("query_id", "doc_id")


def by_isotope(folder: Path) -> Timing:
    """Time isotope: files are read and fused in pieces, whole, as ranx fuses."""
    found: Timing = {}
    for method, spec in SPECS.items():
        count = 0

        def work(spec: Fusion[Any] = spec) -> int:
            return sum(piece.height for piece in fused(paths(folder), spec, sys.maxsize))

        found[method], count = timed(work)
        found[f"{method} hits"] = str(count)
    found["load_s"], _ = timed(lambda: [sum(b.height for b in batches(p)) for p in paths(folder)])
    return found


def answers(folder: Path) -> dict[str, pl.DataFrame]:
    """Return isotope's fused runs, a sample of their queries."""
    return {
        method: sample(pl.concat([empty(), *fused(paths(folder), spec, sys.maxsize)]))
        for method, spec in SPECS.items()
    }


def by_ranx(folder: Path) -> Timing:
    """Time ranx, compiled before the clock starts; keep a sample of its answers in `folder`."""
    import ranx  # noqa: PLC0415

    def fuse(runs: list[Any], method: str) -> Any:  # noqa: ANN401
        how: dict[str, Any] = {"norm": None, "params": {"k": K}}
        if method == "wsum":
            how = {"norm": "min-max", "params": {"weights": WEIGHTS}}
        return ranx.fuse(runs, method=method, **how)

    few = [{q: dict.fromkeys(uuids(2, n), 1.0) for q in uuids(2, 5)} for n in (1, 2)]
    for method in SPECS:
        fuse([ranx.Run(run) for run in few], method)
    found: Timing = {}
    found["load_s"], runs = timed(
        lambda: [ranx.Run(nested(pl.read_parquet(path), "score")) for path in paths(folder)]
    )
    for method in SPECS:
        found[method], fused_run = timed(lambda method=method: fuse(runs, method))
        found[method] += found["load_s"]
        told = fused_run.run
        chosen = sorted(told)[::EVERY]
        rows = [(q, d, float(s)) for q in chosen for d, s in told[q].items()]
        answer = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
        answer.sort("query_id", "doc_id").write_parquet(folder / f"{method}.ranx.parquet")
        found[f"{method} hits"] = str(sum(len(told[q]) for q in told))
        del fused_run, told, rows
    return found


def compare(ours: dict[str, pl.DataFrame], folder: Path) -> None:
    """Hold that both fused the same documents to the same scores."""
    for method, mine in ours.items():
        theirs = pl.read_parquet(folder / f"{method}.ranx.parquet")
        assert mine.select("query_id", "doc_id").equals(theirs.select("query_id", "doc_id"))
        apart = np.abs(mine["score"].to_numpy() - theirs["score"].to_numpy()).max()
        assert apart < TOLERANCE, (method, apart)


def main(queries: int = 9000, depth: int = 1000, times: int = 3) -> None:
    """Fuse with both, compare, and report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, queries, depth)
        found = rounds({"isotope": by_isotope, "ranx": by_ranx}, folder, times=times)
        compare(answers(folder), folder)
    ours, theirs = found["isotope"], found["ranx"]
    assert all(ours[f"{m} hits"] == theirs[f"{m} hits"] for m in SPECS)
    what = f"2 runs of {queries:,} queries x {depth:,} hits"
    claims = [
        Claim("fuse", what, f"ranx {m}", ours[m], theirs[m], AT_LEAST, ours["peak_gib"], MOST_GIB)
        for m in SPECS
    ]
    alone_s = [
        f"| {m} | {ours[m] - ours['load_s']:.2f} | {theirs[m] - theirs['load_s']:.2f} |"
        for m in SPECS
    ]
    write(
        "fuse",
        f"# Fusing runs, beside ranx\n\n{what}, UUIDs, medians of {times} rounds; from Parquet to"
        f" the fused run, whole. Documents and scores (within {TOLERANCE}) are the same in every"
        f" {EVERY}th query, the number of hits in all.\n\n{verdicts(claims)}\n"
        f"Of these, loading took isotope {ours['load_s']:.2f} s and ranx {theirs['load_s']:.2f} s;"
        " less that, fusing alone:\n\n| method | isotope, s | ranx, s |\n|---|---:|---:|\n"
        + "\n".join(alone_s)
        + f"\n\nPeak memory: isotope {ours['peak_gib']:.1f} GiB, ranx {theirs['peak_gib']:.1f} GiB;"
        f" {MOST_GIB:g} GiB is part of the claim. ranx's code was compiled before the clock"
        " started. isotope checks the order of both runs while it reads them.\n\n"
        + machine(["polars", "numpy", "ranx", "numba"]),
        claims,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
