"""The small form of a release, made of the release alone: `isotope release COLLECTION --lite`.

It is a release as well: the same files with fewer rows, so that what reads one reads the other;
beside them the pools of its queries, and lite.csv, which shows what the smaller pools cost.
"""

import gzip
import json
from collections.abc import Callable, Sequence
from gzip import GzipFile
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.errors import BadArgument
from isotope.core.grid import JUDGED, SIDES, TASKS, RunKey, id_column
from isotope.core.progress import Progress
from isotope.core.runs import GZIP_LEVEL, write_trec_qrels, write_trec_run
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.release.about import read_about
from isotope.release.forms import write_forms
from isotope.release.lite_pools import (
    RUNS,
    SUFFIX,
    Chosen,
    PoolLimits,
    agreement,
    as_pools,
    choose,
    compared,
    items,
    restricted,
)
from isotope.release.manifest import write_manifest
from isotope.release.statistics import text_columns
from isotope.release.words import SPLITS, Pools
from isotope.schemas.release import (
    LITE_POOLS,
    PUBLISHED_ATTRIBUTIONS,
    PUBLISHED_QRELS,
    TEXT_LICENCES,
)

COSTS = "lite.csv"
ENDING = "-lite"
_ROWS = 1024
_TABLES = {"texts": PUBLISHED_TEXTS, "images": PUBLISHED_IMAGES}


class _Small(NamedTuple):
    """The release, the folder that its small form is written to, and what that one has."""

    release: Path
    out: Path
    chosen: Sequence[Chosen]
    pools: Pools


def build(*, release: Path, lite: Path) -> None:
    """Fill the folder `lite`; it appears when complete. Same release and numbers, same bytes.

    Raises:
        As `write_lite`.
    """
    write_lite(release, lite, PoolLimits())


def write_lite(release: Path, lite: Path, bounds: PoolLimits) -> dict[str, Any]:
    """Write the small form of a release and return what it says of itself (`about`).

    Raises:
        MissingFile: no release, or one without runs on a judged split.
        BadArgument: a release that is a small one itself.
        TruncatedFile, CorruptFile: a file of it that is not readable.
        DiskFull: no room for it.
    """
    about = read_about(release)
    if "lite_of" in about:
        remedy = f"name the whole one, {about['lite_of']['collection']}"
        raise BadArgument(str(release), "a small release itself", remedy)
    chosen = choose(release, about["systems"], bounds)
    with store.folder_aside(lite) as part:
        small = _Small(release, part, chosen, as_pools(chosen))
        _write_tables(small)
        _write_judgements(small)
        _write_lines(small)
        summary = _costs(small, about["measures"])
        origin = {"collection": about["name"], "fingerprint": about["fingerprint"]}
        summary = {**origin, **bounds._asdict(), **summary}
        words = {
            **about,
            "name": lite.name,
            "title": f"{about['title']}, small",
            "lite_of": summary,
        }
        about_lite = write_forms(part, words, _columns(part), small.pools)
        languages = {"texts": about["languages"][0], "images": about["captions"]}
        write_manifest(part, lite.name, languages)
        return about_lite


def _columns(out: Path) -> dict[str, dict[str, int]]:
    """Return what the rows of a release still say of its texts: their licences."""
    return text_columns(path) if (path := out / "licences.parquet").is_file() else {}


def _write_tables(small: _Small) -> None:
    """Write the rows of texts, images and attributions that the small form has."""
    ids_of_side = {side: items(small.pools, side) for side in SIDES}
    for side, schema in _TABLES.items():
        for split in SPLITS:
            name = f"{side}/{split}.parquet"
            _filter(small, name, schema, pl.col(id_column(side)).is_in(ids_of_side[side]))
    of_images = pl.col("image_id").is_in(ids_of_side["images"])
    _filter(small, "attributions.parquet", PUBLISHED_ATTRIBUTIONS, of_images)
    if (small.release / "licences.parquet").is_file():
        of_texts = pl.col("text_id").is_in(ids_of_side["texts"])
        _filter(small, "licences.parquet", TEXT_LICENCES, of_texts)


def _filter(small: _Small, name: str, schema: Any, chosen: pl.Expr) -> None:  # noqa: ANN401
    with (
        pq.ParquetFile(small.release / name) as file,
        store.writer(small.out / name, schema) as out,
    ):
        for batch in file.iter_batches(_ROWS):
            rows = cast("pl.DataFrame", pl.from_arrow(batch)).filter(chosen)
            if rows.height:
                out.write_table(rows.to_arrow().cast(schema))


def _write_judgements(small: _Small) -> None:
    """Write the judgements of the queries taken, as Parquet and for TREC, and their pools."""
    rows: dict[str, list[pl.DataFrame]] = {split: [] for split in JUDGED}
    for choice in small.chosen:
        split, task = choice.key
        query, document = (id_column(s) for s in (TASKS[task].queries, TASKS[task].documents))
        write_trec_qrels(
            choice.qrels.sort("query_id", "doc_id"), small.out / f"qrels/{split}/{task}.qrels"
        )
        names = {"query_id": query, "doc_id": document, "relevance": "rel"}
        rows[split].append(choice.qrels.rename(names).select("text_id", "image_id", "rel"))
        store.write(
            choice.pools.to_arrow(), small.out / f"pools/{split}/{task}.parquet", LITE_POOLS
        )
    none = pl.DataFrame(schema={"text_id": pl.String, "image_id": pl.String, "rel": pl.Int32})
    for split, parts in rows.items():
        table = pl.concat([none, *parts]).unique().sort("text_id", "image_id")
        table = table.with_columns(pl.lit("Q0").alias("Q0")).select(PUBLISHED_QRELS.names)
        store.write(table.to_arrow(), small.out / f"qrels/{split}.parquet", PUBLISHED_QRELS)


def _write_lines(small: _Small) -> None:
    """Write the JSON lines of the documents and topics that the small form has."""
    for side in SIDES:
        _filter_lines(small, f"{side}.jsonl.gz", "doc_id", items(small.pools, side).__contains__)
    for (split, task), pool in small.pools.items():
        topics = f"topics/{split}/{task}.jsonl.gz"
        _filter_lines(small, topics, "query_id", pool.queries.__contains__)


def _filter_lines(small: _Small, name: str, key: str, chosen: Callable[[object], bool]) -> None:
    with (
        gzip.open(small.release / name, "rb") as lines,
        store.aside(small.out / name) as part,
        part.open("wb") as raw,
        GzipFile("", "wb", GZIP_LEVEL, raw, mtime=0) as file,
    ):
        for line in lines:
            if chosen(json.loads(line)[key]):
                file.write(line)


def _costs(small: _Small, measures: Sequence[str]) -> dict[str, Any]:
    """Write lite.csv and the runs on the small pools; return sizes and agreement of systems."""
    rows: list[dict[str, Any]] = []
    progress = Progress("cells compared", total=len(small.chosen))
    for choice in small.chosen:
        both = {name: restricted(choice, path, small.pools) for name, path in choice.runs.items()}
        rows += compared(choice, both, measures)
        for name, (_, hits) in both.items():
            write_trec_run(hits, small.out / _run_path(choice.cell, name), tag=name)
        progress.add()
    progress.finish()
    table = pl.DataFrame(rows).sort("split", "task", "measure", "system")
    with store.aside(small.out / COSTS) as part:
        table.write_csv(part, float_precision=6)
    sizes = {"/".join(choice.key): _size(choice) for choice in small.chosen}
    return {"pools": sizes, "agreement": agreement(table)}


def _size(choice: Chosen) -> dict[str, Any]:
    """Return how many queries a pool has, and pairs of a query and a document, judged or not."""
    pools = choice.pools
    return {
        "setting": choice.cell.setting,
        "queries": pools["query_id"].n_unique(),
        "pairs": pools.height,
        "judged": pools["grade"].count(),
        "negatives": pools["grade"].null_count(),
    }


def _run_path(cell: RunKey, system: str) -> str:
    return f"{RUNS}/{cell.setting}/{cell.split}/{cell.task}/{system}{SUFFIX}"
