"""What is counted in a release: texts, images and judgements a split, languages, licences."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import polars as pl

from isotope.core import sql
from isotope.core.grid import JUDGED
from isotope.release.words import SPLITS, Words

_SQL = sql.SQL / "release"
Counts = dict[str, dict[str, int]]


def statistics(words: Words, columns: Mapping[str, Mapping[str, int]]) -> dict[str, Any]:
    """Count what a release has, from its own Parquet files.

    `texts`, `images` and `qrels` have a split's numbers each; the others count texts, images or
    pairs by value. `columns` are counts of the texts by `language` and by `licence`, which the
    files of a release do not have.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
    """
    folder = words.folder
    every: sql.Files = [folder / f"images/{split}.parquet" for split in SPLITS]
    licences: sql.Files = folder / "attributions.parquet"
    qrels = {split: _judged(folder / f"qrels/{split}.parquet") for split in JUDGED}
    return {
        "texts": {s: _one("text_lengths", {"texts": words.table("texts", s)}) for s in SPLITS},
        "images": {
            s: _one("image_counts", {"images": folder / f"images/{s}.parquet"}) for s in SPLITS
        },
        "qrels": {split: each["size"] for split, each in qrels.items()},
        "grades": _summed(each["grades"] for each in qrels.values()),
        "text_languages": dict(columns.get("language", {})),
        "caption_languages": _by_value("caption_languages", {"images": every}),
        "licences": {
            "texts": dict(columns.get("licence", {})),
            "images": _by_value("licences", {"attributions": licences}),
        },
    }


def text_columns(texts: Path) -> dict[str, dict[str, int]]:
    """Count the texts of a collection by language and, where it states any, by licence."""
    table = pl.scan_parquet(texts)
    there = [name for name in ("language", "licence") if name in table.collect_schema()]
    return {name: _counted(table, name) for name in there}


def _counted(table: pl.LazyFrame, name: str) -> dict[str, int]:
    value = pl.col(name).fill_null("unknown").replace("", "unknown")
    counts = table.group_by(value).agg(n=pl.len()).sort(["n", name], descending=[True, False])
    return dict(cast("Iterable[tuple[str, int]]", counts.collect().iter_rows()))


def _rows(name: str, relations: Mapping[str, sql.Files]) -> list[dict[str, Any]]:
    rows = sql.query(_SQL / f"{name}.sql", relations, {})
    return [] if rows is None else rows.to_dicts()


def _one(name: str, relations: Mapping[str, sql.Files]) -> dict[str, Any]:
    return _rows(name, relations)[0]


def _by_value(name: str, relations: Mapping[str, sql.Files]) -> dict[str, int]:
    pairs = (tuple(row.values()) for row in _rows(name, relations))
    return dict(cast("Iterable[tuple[str, int]]", pairs))


def _judged(qrels: Path) -> dict[str, Any]:
    rows = _rows("grades", {"qrels": qrels})
    first = rows[0] if rows else {"texts": 0, "images": 0}
    size = {"pairs": sum(row["pairs"] for row in rows)}
    size |= {side: first[side] for side in ("texts", "images")}
    return {"size": size, "grades": {str(row["grade"]): row["pairs"] for row in rows}}


def _summed(each: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for counts in each:
        for grade, n in counts.items():
            total[grade] = total.get(grade, 0) + n
    return dict(sorted(total.items(), key=lambda pair: int(pair[0])))
