"""A collection under the column names of the published AToMiC Parquet files."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.core.pixels import ordered, repeated
from isotope.core.progress import Progress
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS

SPLITS = ("train", "validation", "test", "other")
JUDGED = SPLITS[:3]
QRELS = pa.schema([*((n, pa.string()) for n in ("text_id", "Q0", "image_id")), ("rel", pa.int32())])
ATTRIBUTIONS = pa.schema(
    [
        (name, pa.string())
        for name in ("image_id", "image_url", "attribution", "licence", "file_page")
    ]
)
_RELEASE = sql.SQL / "release"


def write_parquet(tables: Mapping[str, Path], shards: Sequence[Path], out: Path) -> None:
    """Write `texts/`, `images/` and `qrels/`, a file a split, and `attributions.parquet`.

    `tables` are the collection's texts, images and qrels, `shards` the crawl's pictures; one shard
    is in memory at a time.

    Raises:
        MissingFile, CorruptFile: a table or shard that is not there or not readable.
    """
    for split in SPLITS:
        used: dict[str, sql.Files] = {name: tables[name] for name in ("texts", "qrels")}
        _query("texts", used, out / f"texts/{split}.parquet", PUBLISHED_TEXTS, split=split)
    for split in JUDGED:
        judged: dict[str, sql.Files] = {"qrels": tables["qrels"]}
        _query("qrels", judged, out / f"qrels/{split}.parquet", QRELS, split=split)
    images: dict[str, sql.Files] = {"images": tables["images"]}
    _query("attributions", images, out / "attributions.parquet", ATTRIBUTIONS)
    _images(tables["images"], ordered(shards), out / "images")


def _query(
    name: str, relations: dict[str, sql.Files], out: Path, schema: pa.Schema, **params: object
) -> None:
    sql.query(_RELEASE / f"{name}.sql", relations, params, out=out, schema=schema)


def _images(images: Path, shards: Sequence[Path], out: Path) -> None:
    progress = Progress("shards of pictures", total=len(shards))
    with ExitStack() as stack, tempfile.TemporaryDirectory(dir=out.parent) as folder:
        files = {
            split: stack.enter_context(store.writer(out / f"{split}.parquet", PUBLISHED_IMAGES))
            for split in SPLITS
        }
        for shard in shards:
            one = Path(folder) / "one.parquet"
            relations: dict[str, sql.Files] = {"images": images, "pixels": shard}
            sql.query(_RELEASE / "images.sql", relations, {}, out=one)
            twice = pl.col("image_id").is_in(repeated(shard, shards))
            rows = pl.read_parquet(one).filter(~twice)
            for split, file in files.items():
                part = rows.filter(split=split).drop("split").to_arrow()
                file.write_table(part.cast(PUBLISHED_IMAGES), row_group_size=1024)
            progress.add()
    progress.finish()
