"""TREC topics, qrels and runs of a collection, and what ir_datasets' classes load.

What made a run stands beside it, as ir-metadata (https://www.ir-metadata.org) has it: YAML. In
comment lines at the head of the run, where ir-metadata has it, trec_eval, pytrec_eval, ir_measures
and ranx refuse the run or read the lines as hits.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from gzip import GzipFile
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import yaml

from isotope.core import runs as trec
from isotope.core import sql, store
from isotope.core.errors import MissingFile
from isotope.core.grid import JUDGED, TASKS, RunKey, id_column, id_columns, query_side
from isotope.core.progress import Progress
from isotope.core.runs import read_run
from isotope.core.schemas import FIVE_FIELDS
from isotope.release.about import Json


def export(collection: str, out: Path, *, root: Path = Path()) -> list[Path]:
    """Write qrels and runs of a built collection below `out`; return the files, sorted.

    Qrels: `qrels/<collection>/<split>/<task>.qrels`, both directions; runs:
    `runs/<collection>/<setting>/<split>/<task>/<system>.trec.gz`, the tag being the system. The
    folder `runs/` can be copied into another project.

    Raises:
        MissingFile: the collection has no qrels.
        IntegrityError: an id with white space in it.
        Unwritable: a folder that the system does not let be written.
    """
    qrels = root / f"data/collect/{collection}/qrels.parquet"
    if not qrels.is_file():
        built = sorted(path.parent.name for path in root.glob("data/collect/*/qrels.parquet"))
        collected = f"; collected: {', '.join(built)}" if built else ""
        remedy = f"run `snakemake --cores all collect`{collected}"
        raise MissingFile(qrels, "no such qrels", remedy)
    judged = export_qrels(qrels, out / "qrels" / collection)
    return sorted([*judged, *_export_runs(collection, out, root)])


def export_qrels(qrels: Path, out: Path) -> list[Path]:
    """Write `<split>/<task>.qrels` below `out` for every judged split and both tasks."""
    table = pl.read_parquet(qrels, glob=False)
    written: list[Path] = []
    for split in (s for s in JUDGED if s in table["split"]):
        for task in TASKS:
            query, doc = id_columns(task)
            named = table.filter(split=split).select(
                query_id=query, doc_id=doc, relevance="relevance"
            )
            written.append(out / split / f"{task}.qrels")
            trec.write_trec_qrels(named.sort("query_id", "doc_id"), written[-1])
    return written


def _export_runs(collection: str, out: Path, root: Path) -> list[Path]:
    top = root / "results/search"
    paths = sorted((top / collection).glob("*/*/*/*.parquet"))
    progress = Progress("runs", total=len(paths))
    written: list[Path] = []
    for path in paths:
        relative = path.relative_to(top).with_name(f"{path.stem}.trec.gz")
        written.append(out / "runs" / relative)
        trec.write_trec_run(read_run(path), written[-1], tag=path.stem)
        progress.add()
    return written


def write_trec(
    qrels: Path, runs: Sequence[Path], out: Path, *, collection: str, systems: Mapping[str, Json]
) -> None:
    """Write `qrels/<split>/<task>.qrels` and `runs/<setting>/<split>/<task>/<system>.trec.gz`.

    `runs` lie in folders <setting>/<split>/<task>; the params of `systems` are for
    what stands beside a run, `<system>.ir-metadata.yaml`. A run of a split without any judgement,
    whose answers are withheld, is left out.

    Raises:
        MissingFile, CorruptFile: a table or run that is not there or not readable.
    """
    export_qrels(qrels, out / "qrels")
    progress = Progress("runs", total=len(runs))
    for path in sorted(runs):
        cell = RunKey.from_path(path)
        if not (out / f"qrels/{cell.split}").is_dir():
            continue
        run_file = out.joinpath("runs", cell.setting, cell.split, cell.task, f"{path.stem}.trec.gz")
        trec.write_trec_run(read_run(path), run_file, tag=path.stem)
        with store.aside(run_file.with_name(path.stem + trec.METADATA)) as part:
            part.write_text(_metadata(path.stem, cell, collection, systems), encoding="utf-8")
        progress.add()


def _metadata(system: str, cell: RunKey, collection: str, systems: Mapping[str, Json]) -> str:
    params_of_system = {"params": systems[system]} if system in systems else {}
    metadata = {
        "tag": system,
        "actor": {"team": "isotope"},
        "research goal": {"hypotheses": [], "venue": {"name": "AToMiC"}},
        "data": {
            "test collection": {
                "name": collection,
                "qrels": f"qrels/{cell.split}/{cell.task}.qrels",
                "topics": f"topics/{cell.split}/{cell.task}.jsonl.gz",
                "candidate pool": cell.setting,
            }
        },
        "method": {"automatic": True, "retrieval": [{"name": system, **params_of_system}]},
    }
    return yaml.safe_dump(metadata, sort_keys=False, allow_unicode=True)


def _gzip(parts: Iterable[bytes], out: Path) -> None:
    with (
        store.aside(out) as part,
        part.open("wb") as raw,
        GzipFile("", "wb", trec.GZIP_LEVEL, raw, mtime=0) as file,
    ):
        for piece in parts:
            file.write(piece)


def write_jsonl(tables: Mapping[str, Path], out: Path, language: str) -> None:
    """Write `<side>.jsonl.gz`: doc_id and text; and the topics of every split and task.

    A line of `topics/<split>/<task>.jsonl.gz` has query_id and text: the five fields of a text, or
    the captions of an image in `language`, before any are prepared; pictures are in the Parquet
    files.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
    """
    values: dict[str, dict[str, object]] = {
        "texts": {"fields": list(FIVE_FIELDS)},
        "images": {"language": language},
    }
    qrels = pl.read_parquet(tables["qrels"], glob=False)
    with tempfile.TemporaryDirectory(dir=out.parent) as folder:
        for task in TASKS:
            side = query_side(task)
            key = id_column(side)
            words = Path(folder) / f"{side}.parquet"
            sql.query(sql.SQL / f"index/{side}.sql", {side: tables[side]}, values[side], out=words)
            _gzip(_lines(words, "doc_id", None), out / f"{side}.jsonl.gz")
            for (split,), judged in qrels.group_by(["split"], maintain_order=True):
                topics = out / f"topics/{split}/{task}.jsonl.gz"
                _gzip(_lines(words, "query_id", set(judged[key])), topics)


def _lines(words: Path, name: str, chosen: set[str] | None) -> Iterator[bytes]:
    with pq.ParquetFile(words) as file:
        for batch in file.iter_batches(columns=["id", "contents"]):
            for ident, text in zip(*batch.to_pydict().values(), strict=True):
                if chosen is None or ident in chosen:
                    line = json.dumps({name: ident, "text": text}, ensure_ascii=False)
                    yield line.encode() + b"\n"
