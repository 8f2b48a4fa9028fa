"""Associations that a snapshot itself has: the pictures of its sections, in WIT's columns."""

import bz2
import gzip
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import CorruptFile, MissingColumn
from isotope.core.shards import gather
from isotope.parse.files import file_name
from isotope.parse.tables import ASSOCIATIONS, FILES, REJECTED

_INSERT = "INSERT INTO `image` VALUES "
_ROW = re.compile(r"\('((?:[^'\\]|\\.)*)'(?:,(?:'(?:[^'\\]|\\.)*'|[^,'()]+))*\)[,;]")
_ESCAPED = re.compile(r"\\(.)")
_PROJECTS = ("commons", "local")


def read_files(paths: Sequence[Path], out: Path) -> bool:
    """Write tables.FILES, one row a file, sorted; tell whether all local files are among them.

    They are once a wiki's table `image` is given: every other file is one of Commons. Where two
    tables name a file, what the later one says of it counts.

    Raises:
        MissingColumn: a table without the column `file`.
        CorruptFile: a project that is not commons or local, or no table at all.
    """
    found = [_read(path) for path in paths]
    empty = pl.DataFrame(FILES.empty_table())
    every = pl.concat([empty, *found]).group_by("file", maintain_order=True)
    last = (pl.col(name).drop_nulls().last() for name in ("project", "attribution"))
    store.write(every.agg(*last).sort("file").to_arrow(), out, FILES)
    return any(_is_sql(path) for path in paths)


def _is_sql(path: Path) -> bool:
    return ".sql" in path.suffixes


def _read(path: Path) -> pl.DataFrame:
    if _is_sql(path):
        rows = [{"file": name, "project": "local", "attribution": None} for name in _local(path)]
        return pl.DataFrame(rows, schema=dict.fromkeys(FILES.names, pl.String))
    try:
        table = pl.read_parquet(path) if path.suffix == ".parquet" else _csv(path)
    except (pl.exceptions.ComputeError, pl.exceptions.NoDataError) as error:
        found = f"not a table of files ({error})"
        raise CorruptFile(path, found, "give csv, Parquet, or the dump's image.sql.gz") from error
    if "file" not in table.columns:
        raise MissingColumn(path, "no column `file`", "name the column with the files' names so")
    return _checked(path, table)


def _csv(path: Path) -> pl.DataFrame:
    return pl.read_csv(path, infer_schema=False)


def _checked(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    told = [
        (pl.col(n).cast(pl.String) if n in table.columns else pl.lit(None, pl.String)).alias(n)
        for n in FILES.names
    ]
    named = table.select(told).with_columns(
        pl.col("file").map_elements(file_name, return_dtype=pl.String)
    )
    strange = named.with_row_index().filter(~pl.col("project").is_in(_PROJECTS))
    if strange.height:
        row = strange.row(0, named=True)
        where = f"{path}:{row['index'] + 2}"
        raise CorruptFile(where, f"project {row['project']!r}", "make it commons or local")
    return named


def _local(path: Path) -> Iterator[str]:
    """Yield the files of a table `image`."""
    unpack = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    seen = False
    with unpack(path, "rt", encoding="utf-8", errors="backslashreplace") as lines:
        for line in lines:
            if line.startswith(_INSERT):
                seen = True
                names = (row[1] for row in _ROW.finditer(line, len(_INSERT)))
                yield from (file_name(_ESCAPED.sub(r"\1", name)) for name in names)
    if not seen:
        raise CorruptFile(path, "no rows of the table `image`", "give the dump's image.sql.gz")


_STEPS = sql.SQL / "parse" / "wikitext"


def associate(
    parsed: Mapping[str, Path],
    known: Mapping[str, Sequence[Path]],
    files: Sequence[Path],
    ratios: Mapping[str, float],
    outputs: Mapping[str, Path],
) -> None:
    """Write what WIT would say of a snapshot: tables.ASSOCIATIONS, and tables.REJECTED.

    `parsed` are `pictures` and `sections`; `known` are the tables of WIT's own rows, `wit` and
    `wit_rejected`, or nothing: they come first, and their splits win. `files` are tables as
    `file_tables` reads them. `ratios` are the shares of test and validation among the pages that
    WIT does not know; the rest trains. `outputs` are `associations` and `rejected`.

    Raises:
        MissingColumn, CorruptFile: as `file_tables.read_files`.
        MissingFile: a table that was not parsed.
    """
    parent = outputs["associations"].parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".associations-") as folder:
        made: dict[str, sql.Files] = {**parsed, "wit": _wit(known["wit"], Path(folder))}
        made["files"] = Path(folder) / "files.parquet"
        is_complete = read_files(files, Path(folder) / "files.parquet")
        params = {"is_complete": is_complete, **ratios}
        sql.run_chain(sorted(_STEPS.glob("*.sql")), made, Path(folder), params=params)
        for name, table, schema in (
            ("associations", "wit", ASSOCIATIONS),
            ("rejected", "wit_rejected", REJECTED),
        ):
            own = Path(folder) / f"{'left_out' if name == 'rejected' else name}.parquet"
            gather([*known[table], own], outputs[name], schema)


def _wit(known: Sequence[Path], folder: Path) -> Sequence[Path]:
    if known:
        return known
    empty = folder / "wit.parquet"
    store.write_rows([], empty, ASSOCIATIONS)
    return [empty]
