"""Associations that a snapshot itself has: the pictures of its sections, in WIT's columns."""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from isotope import file_tables, sql, store, tables

_STEPS = sql.SQL / "parse" / "wikitext"
_READS = {
    "10_shown": ("pictures",),
    "20_placed": ("shown", "files", "sections"),
    "30_splits": ("sections", "wit"),
    "40_associations": ("placed", "sections", "splits"),
    "50_left_out": ("shown", "sections"),
}


def associate(
    parsed: Mapping[str, Path],
    files: Sequence[Path],
    ratios: Mapping[str, float],
    outputs: Mapping[str, Path],
    *,
    memory_limit: str | None = None,
) -> None:
    """Write what WIT would say of a snapshot: tables.ASSOCIATIONS, and tables.REJECTED.

    `parsed` has `pictures` and `sections`, and may have WIT's own `wit` and `wit_rejected`: then
    its rows come first and its splits win. `files` are tables of `file_tables`. `ratios` are the
    shares of test and validation among the pages that WIT does not know; the rest trains. `outputs`
    are `associations` and `rejected`.

    Raises:
        MissingColumn, CorruptFile: as `file_tables.read_files`.
        MissingFile: a table that was not parsed.
    """
    folder = outputs["associations"].parent
    with tempfile.TemporaryDirectory(dir=folder, prefix=".associations-") as aside:
        made = {**parsed, "files": Path(aside) / "files.parquet"}
        is_complete = file_tables.read_files(files, made["files"])
        if "wit" not in made:
            made["wit"] = Path(aside) / "wit.parquet"
            store.write_rows([], made["wit"], tables.ASSOCIATIONS)
        told = {"20_placed": {"is_complete": is_complete}, "30_splits": dict(ratios)}
        for step, names in _READS.items():
            made[step[3:]] = out = Path(aside) / f"{step[3:]}.parquet"
            relations = {name: made[name] for name in names}
            sql.query(
                _STEPS / f"{step}.sql", relations, told.get(step, {}), out=out, memory_limit=memory_limit
            )
        own = [made["wit"]] if "wit" in parsed else []
        _joined([*own, made["associations"]], outputs["associations"], tables.ASSOCIATIONS)
        rejected = [parsed["wit_rejected"]] if "wit_rejected" in parsed else []
        _joined([*rejected, made["left_out"]], outputs["rejected"], tables.REJECTED)
