"""Tables that say which of a wiki's files are its own, and which are those of Wikimedia Commons.

They are CSV or Parquet, or the dump of MediaWiki's table `image`,
https://www.mediawiki.org/wiki/Manual:Image_table. A file that is a redirect has a `target`.
Author and licence become a line of attribution, in the words that release and suggest read it by.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.errors import CorruptFile, MissingColumn
from isotope.core.schemas import schema
from isotope.core.titles import file_name
from isotope.intake.tables import frame
from isotope.intake.texts import records

FILES = schema(file=pa.string(), project=pa.string(), attribution=pa.string(), target=pa.string())
_INSERT = b"INSERT INTO `image` VALUES "
_ROW = re.compile(r"\('((?:[^'\\]|\\.)*)'(?:,(?:'(?:[^'\\]|\\.)*'|[^,'()]+))*\)[,;]")
_ESCAPED = re.compile(r"\\(.)")
_PROJECTS = ("commons", "local")
_CREDITS = ("author", "licence")
# How tables from America spell it.
_LICENSE = "license"
# What ends an author's name in a line of attribution (suggest.credit).
_ENDS = r"[,;|/()\[\]{}<>\s]+"


def read_files(paths: Sequence[Path], out: Path) -> bool:
    """Write FILES, one row a file, sorted; tell whether all local files are among them.

    They are once a wiki's table `image` is given: every other file is one of Commons. Where two
    tables name a file, what the later one says of it counts. A table's columns `author` and
    `licence` stand in `attribution` as `Author: A. Person, CC BY-SA 4.0`, behind what the column
    `attribution` itself says; what is empty in all of them is null.

    Raises:
        MissingColumn: a table without the column `file`.
        CorruptFile: a project that is not commons or local, or no table at all.
    """
    tables = [_read(path) for path in paths]
    empty = pl.DataFrame(FILES.empty_table())
    grouped = pl.concat([empty, *tables]).group_by("file", maintain_order=True)
    last = (pl.col(name).drop_nulls().last() for name in FILES.names[1:])
    store.write(grouped.agg(*last).sort("file").to_arrow(), out, FILES)
    return any(_is_sql(path) for path in paths)


def _is_sql(path: Path) -> bool:
    return ".sql" in path.suffixes


def _read(path: Path) -> pl.DataFrame:
    if _is_sql(path):
        rows = [{"file": name, "project": "local"} for name in _local(path)]
        return pl.DataFrame(rows, schema=dict.fromkeys(FILES.names, pl.String))
    table = frame(path, "give csv, Parquet, or the dump's image.sql.gz", infer_schema=False)
    if "file" not in table.columns:
        raise MissingColumn(path, "no column `file`", "name the column with the files' names so")
    return _checked(path, table)


def _checked(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    licence = {_LICENSE: "licence"} if "licence" not in table.columns else {}
    table = table.rename(licence, strict=False)
    columns = [
        (pl.col(n).cast(pl.String) if n in table.columns else pl.lit(None, pl.String)).alias(n)
        for n in (*FILES.names, *_CREDITS)
    ]
    names = pl.col("file", "target").map_elements(file_name, return_dtype=pl.String)
    cleaned = table.select(columns).with_columns(names, attribution=_attribution())
    named = cleaned.select(FILES.names)
    strange = named.with_row_index().filter(~pl.col("project").is_in(_PROJECTS))
    if strange.height:
        row = strange.row(0, named=True)
        where = f"{path}:{row['index'] + 2}"
        raise CorruptFile(where, f"project {row['project']!r}", "make it commons or local")
    return named.with_columns(pl.col("target").replace("", None))


def _attribution() -> pl.Expr:
    """Return what is said of a file in a line; null where nothing is."""
    fields = [pl.col(n).str.strip_chars().replace("", None) for n in ("attribution", *_CREDITS)]
    author = pl.format("Author: {}", fields[1].str.replace_all(_ENDS, " ").str.strip_chars())
    line = pl.concat_str(fields[0], author, fields[2], separator=", ", ignore_nulls=True)
    return line.replace("", None)


def _local(path: Path) -> Iterator[str]:
    """Yield the files of a table `image`."""
    has_rows = False
    for line in records(path):
        if line.startswith(_INSERT):
            has_rows = True
            text = line.decode("utf-8", "backslashreplace")
            names = (row[1] for row in _ROW.finditer(text, len(_INSERT)))
            yield from (file_name(_ESCAPED.sub(r"\1", name)) for name in names)
    if not has_rows:
        raise CorruptFile(path, "no rows of the table `image`", "give the dump's image.sql.gz")
