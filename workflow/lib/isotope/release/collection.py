"""What others load: a collection as Parquet, TREC files, JSON lines, and the forms of other tools.

The Parquet files have the column names of the published AToMiC collection.
"""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.grid import JUDGED
from isotope.core.pixels import ordered, repeated
from isotope.core.progress import Progress
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS, STRINGS, schema
from isotope.release.about import CollectionFacts, Json, describe
from isotope.release.forms import write_forms
from isotope.release.manifest import write_manifest, write_scores
from isotope.release.statistics import text_columns
from isotope.release.trec import write_jsonl, write_trec
from isotope.release.words import SPLITS
from isotope.schemas.release import PUBLISHED_ATTRIBUTIONS, PUBLISHED_QRELS, TEXT_LICENCES

_SQL = sql.SQL / "release"
_LINKED = schema(text_id=pa.string(), media=STRINGS)
_ROWS = 1024


def build(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    runs: Sequence[Path],
    manifests: Sequence[Path],
    release: Path,
    collection: str,
    language: str,
    captions: str,
    facts: CollectionFacts,
    systems: Mapping[str, Json],
    scores: Path | None = None,
    significance: Path | None = None,
) -> None:
    """Fill the folder `release`; it appears when complete. Same input, same bytes.

    `pixels` are the crawl's shards of pictures; `manifests` those of the sources; `captions` is the
    language of the captions that stand for images; `systems` are the params of the runs' systems;
    `scores` and `significance` what the phase score has made of the runs.

    Raises:
        MissingFile, CorruptFile: a table, run or shard that is not there or not readable.
        DiskFull: no room for it.
    """
    tables = {"texts": texts, "images": images, "qrels": qrels}
    columns = text_columns(texts)
    about = describe(
        facts,
        manifests,
        collection=collection,
        language=language,
        captions=captions,
        columns=columns,
    )
    with store.folder_aside(release) as part:
        write_parquet(tables, pixels, part)
        write_trec(qrels, runs, part, collection=collection, systems=systems)
        write_jsonl(tables, part, language)
        if scores and significance:
            write_scores(scores, significance, part)
        write_forms(part, about, columns)
        write_manifest(part, collection, {"texts": language, "images": captions or language})


def write_parquet(tables: Mapping[str, Path], shards: Sequence[Path], out: Path) -> None:
    """Write `texts/`, `images/` and `qrels/`, a file a split, and `attributions.parquet`.

    `tables` are the collection's texts, images and qrels, `shards` the crawl's pictures; one shard
    is in memory at a time. An image without a picture has NULL in its place.

    Raises:
        MissingFile, CorruptFile: a table or shard that is not there or not readable.
    """
    _texts(tables["texts"], out)
    for split in JUDGED:
        judged: dict[str, sql.Files] = {"qrels": tables["qrels"]}
        _query("qrels", judged, out / f"qrels/{split}.parquet", PUBLISHED_QRELS, split=split)
    _attributions(tables["images"], out)
    _licences(tables["texts"], out)
    _images(tables["images"], ordered(shards), out / "images")


def _query(
    name: str, relations: dict[str, sql.Files], out: Path, schema: pa.Schema, **params: object
) -> None:
    sql.query(_SQL / f"{name}.sql", relations, params, out=out, schema=schema)


def _texts(texts: Path, out: Path) -> None:
    """Write `texts/`; the files that a section links to are known of snapshots alone."""
    with store.scratch(out / "linked") as folder:
        linked = texts
        if "media" not in pq.read_schema(texts).names:
            linked = folder / "linked.parquet"
            store.write_rows([], linked, _LINKED)
        for split in SPLITS:
            used: dict[str, sql.Files] = {"texts": texts, "linked": linked}
            _query("texts", used, out / f"texts/{split}.parquet", PUBLISHED_TEXTS, split=split)


def _attributions(images: Path, out: Path) -> None:
    """Write attributions.parquet; a column `licence` of the images comes before their captions."""
    path, relations = out / "attributions.parquet", dict[str, sql.Files](images=images)
    _query("attributions", relations, path, PUBLISHED_ATTRIBUTIONS)
    if "licence" in pq.read_schema(images).names:
        stated = out / ".stated.parquet"
        _query(
            "attributions_stated",
            {**relations, "attributions": path},
            stated,
            PUBLISHED_ATTRIBUTIONS,
        )
        stated.replace(path)


def _licences(texts: Path, out: Path) -> None:
    """Write licences.parquet, if the texts have a column `licence`: the published ones have not."""
    if "licence" in pq.read_schema(texts).names:
        relations: dict[str, sql.Files] = {"texts": texts}
        _query("text_licences", relations, out / "licences.parquet", TEXT_LICENCES)


def _images(images: Path, shards: Sequence[Path], out: Path) -> None:
    progress = Progress("shards of pictures", total=len(shards))
    with ExitStack() as stack, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        files = {
            split: stack.enter_context(store.writer(out / f"{split}.parquet", PUBLISHED_IMAGES))
            for split in SPLITS
        }
        for shard in shards:
            joined = Path(folder) / "one.parquet"
            relations: dict[str, sql.Files] = {"images": images, "pixels": shard}
            sql.query(_SQL / "images.sql", relations, {}, out=joined)
            twice = pl.col("image_id").is_in(repeated(shard, shards))
            rows = pl.read_parquet(joined, glob=False).filter(~twice)
            for split, file in files.items():
                part = rows.filter(split=split).drop("split").to_arrow()
                file.write_table(part.cast(PUBLISHED_IMAGES), row_group_size=_ROWS)
            progress.add()
        _without(images, shards, Path(folder), files)
    progress.finish()


def _without(
    images: Path, shards: Sequence[Path], folder: Path, files: Mapping[str, pq.ParquetWriter]
) -> None:
    """Write the images that no shard has, with no bytes in place of a picture."""
    none = folder / "none.parquet"
    pl.DataFrame(schema={"image_id": pl.String}).write_parquet(none)
    relations: dict[str, sql.Files] = {"images": images, "pixels": list(shards) or none}
    for split, file in files.items():
        without_picture = folder / "rest.parquet"
        _query("images_without", relations, without_picture, PUBLISHED_IMAGES, split=split)
        with pq.ParquetFile(without_picture) as rows:
            for batch in rows.iter_batches(_ROWS):
                file.write_batch(batch)
