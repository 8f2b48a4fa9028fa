"""Everything that a track's participants and assessors exchange, as TREC files."""

from pathlib import Path

import polars as pl

from isotope.core import trec
from isotope.core.errors import MissingFile
from isotope.core.grid import JUDGED
from isotope.core.progress import Progress
from isotope.core.runs import read_run
from isotope.score.score import TASKS


def export(collection: str, out: Path, *, root: Path = Path()) -> list[Path]:
    """Write qrels and runs of a built collection below `out`; return the files, sorted.

    Qrels: `qrels/<collection>/<split>/<task>.qrels`, both directions; runs:
    `runs/<collection>/<setting>/<split>/<task>/<system>.trec.gz`, the tag being the system. Copied
    into another project, `runs/` is taken in as it is.

    Raises:
        MissingFile: the collection has no qrels.
        BrokenPromise: an id with white space in it.
        Unwritable: a folder that the system does not let be written.
    """
    qrels = root / f"data/collect/{collection}/qrels.parquet"
    if not qrels.is_file():
        known = sorted(path.parent.name for path in root.glob("data/collect/*/qrels.parquet"))
        there = f"; collected: {', '.join(known)}" if known else ""
        remedy = f"run `snakemake --cores all collect`{there}"
        raise MissingFile(qrels, "no such qrels", remedy)
    judged = export_qrels(qrels, out / "qrels" / collection)
    return sorted([*judged, *_export_runs(collection, out, root)])


def export_qrels(qrels: Path, out: Path) -> list[Path]:
    """Write `<split>/<task>.qrels` below `out` for every judged split and both tasks."""
    table = pl.read_parquet(qrels)
    written: list[Path] = []
    for split in (s for s in JUDGED if s in table["split"]):
        for task, (query, doc) in TASKS.items():
            named = table.filter(split=split).select(
                query_id=query, doc_id=doc, relevance="relevance"
            )
            written.append(out / split / f"{task}.qrels")
            trec.write_qrels(named.sort("query_id", "doc_id"), written[-1])
    return written


def _export_runs(collection: str, out: Path, root: Path) -> list[Path]:
    top = root / "results/search"
    found = sorted((top / collection).glob("*/*/*/*.parquet"))
    progress = Progress("runs", total=len(found))
    written: list[Path] = []
    for path in found:
        place = path.relative_to(top).with_name(f"{path.stem}.trec.gz")
        written.append(out / "runs" / place)
        trec.write_run(read_run(path), written[-1], tag=path.stem)
        progress.add()
    return written
