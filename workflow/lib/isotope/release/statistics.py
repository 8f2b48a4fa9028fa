"""What is counted in a release: texts, images and judgements a split, languages, licences."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl
import pyarrow.parquet as pq

from isotope.core import sql
from isotope.core.grid import JUDGED, TASKS
from isotope.core.schemas import CAPTION_FIELDS
from isotope.release.words import SPLITS, ReleaseWords

_SQL = sql.SQL / "release"


def statistics(words: ReleaseWords, columns: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Count what a release has, from its own Parquet files.

    `texts`, `images` and `qrels` have a split's numbers each; the others count texts, images or
    pairs by value. `columns` are counts of the texts by `language` and by `licence`, which the
    files of a release do not have.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
    """
    folder = words.folder
    image_files: sql.Files = [folder / f"images/{split}.parquet" for split in SPLITS]
    licences: sql.Files = folder / "attributions.parquet"
    judged = {split: _judged(words, split) for split in JUDGED}
    return {
        "texts": {split: _texts(words.table("texts", split)) for split in SPLITS},
        "images": {split: _images(folder / f"images/{split}.parquet") for split in SPLITS},
        "qrels": {split: _size(pairs) for split, pairs in judged.items()},
        "grades": _grades(pl.concat(judged.values())),
        "text_languages": dict(columns.get("language", {})),
        "caption_languages": _by_value("caption_languages", {"images": image_files}),
        "licences": {
            "texts": dict(columns.get("licence", {})),
            "images": _by_value("licences", {"attributions": licences}),
        },
    }


def text_columns(texts: Path) -> dict[str, dict[str, int]]:
    """Count the texts of a collection by language and, where it states any, by licence."""
    table = pl.scan_parquet(texts, glob=False)
    present = [name for name in ("language", "licence") if name in table.collect_schema()]
    return {name: _counted(table, name) for name in present}


def _counted(table: pl.LazyFrame, name: str) -> dict[str, int]:
    value = pl.col(name).fill_null("unknown").replace("", "unknown")
    counts = table.group_by(value).agg(n=pl.len()).sort(["n", name], descending=[True, False])
    return dict(cast("Iterable[tuple[str, int]]", counts.collect().iter_rows()))


def _texts(words: Path) -> dict[str, Any]:
    """Count texts, and the mean, median and 95th percentile of their words."""
    text = pl.concat_str("title", "text", separator=" ")
    counts = pl.scan_parquet(words, glob=False).select(words=text.str.count_matches(r"\S+"))
    lengths = counts.collect(engine="streaming")["words"]
    middle, most = (lengths.quantile(share, "lower") for share in (0.5, 0.95))
    mean = round(cast("float", lengths.mean() or 0), 1)
    numbers = {"mean_words": mean, "median_words": int(middle or 0), "p95_words": int(most or 0)}
    return {"texts": len(lengths), **numbers}


def _images(path: Path) -> dict[str, int]:
    """Count images, and those with a picture and with a caption."""
    captions = pl.concat_list(*CAPTION_FIELDS).list.eval(pl.element() != "").list.any()
    rows = pl.scan_parquet(path, glob=False).select(captions.fill_null(value=False).sum())
    captioned = cast("int", rows.collect(engine="streaming").item())
    table = pq.read_metadata(path)
    lacking = sum(_nulls(table.row_group(n)) for n in range(table.num_row_groups))
    return {
        "images": table.num_rows,
        "pictures": table.num_rows - lacking,
        "captioned": captioned,
    }


def _nulls(group: Any) -> int:  # noqa: ANN401 (pyarrow's metadata have no type)
    columns = (group.column(n) for n in range(group.num_columns))
    column = next(c for c in columns if c.path_in_schema == "image")
    return column.statistics.null_count if column.statistics else 0


def _judged(words: ReleaseWords, split: str) -> pl.DataFrame:
    return pl.concat([words.qrels(split, task) for task in TASKS]).unique()


def _size(pairs: pl.DataFrame) -> dict[str, int]:
    distinct = {f"{name}s": pairs[f"{name}_id"].n_unique() for name in ("text", "image")}
    return {"pairs": pairs.height, **distinct}


def _grades(pairs: pl.DataFrame) -> dict[str, int]:
    counts = pairs.group_by("rel").len().sort("rel")
    return {str(grade): n for grade, n in counts.iter_rows()}


def _by_value(name: str, relations: Mapping[str, sql.Files]) -> dict[str, int]:
    rows = sql.query(_SQL / f"{name}.sql", relations, {})
    pairs = [] if rows is None else rows.iter_rows()
    return dict(cast("Iterable[tuple[str, int]]", pairs))
