"""Tables of captions: a row a text and an image that belong together."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

import polars as pl

from isotope.api.tables import Table, as_ids, as_words, demand_once
from isotope.core.errors import BadArgument, EmptyTable, IntegrityError, MissingColumn
from isotope.core.grid import JOINT, JUDGED
from isotope.params.messages import suggest
from isotope.parse.forms import form_of
from isotope.parse.forms.base import FILE, ROW
from isotope.parse.forms.texts import SPLIT_NAMES

# What a row says, and the column where it stands unless told otherwise.
ROLES = ("image", "text", "caption", "split", "text_id", "relevance")


def rows_of(path: Path) -> pl.DataFrame:
    """Return the rows of a file of any form that isotope knows.

    Raises:
        UnknownForm, CorruptFile: a file that is no table.
        EmptyTable: one without a row.
    """
    batches = iter(form_of([path]).read([path], {}))
    first = next(batches, None)
    if first is None:
        raise EmptyTable(path, "no row", "give a table with rows")
    frames = [pl.DataFrame(batch) for batch in chain([first], batches)]
    return pl.concat(frames).drop(FILE, ROW)


def table_of(source: Table) -> pl.DataFrame:
    """Return a data frame, or a mapping of columns, as a frame.

    Raises:
        BadArgument: something else.
    """
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    try:
        return pl.DataFrame(source, strict=False)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        problem = f"it is a {type(source).__name__} ({error})"
        remedy = "give a folder, a file, a data frame, or a mapping of columns"
        raise BadArgument("collection", problem, remedy) from error


def tables(
    rows: pl.DataFrame, columns: Mapping[str, str], name: str
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return texts, images and qrels of rows whose `columns` have the roles of ROLES.

    Raises:
        As `collection.read_collection`.
    """
    pairs = _paired(rows, _columns(rows, columns, name), name)
    if pairs.is_empty():
        raise EmptyTable(name, "no row with an image and a text", "give rows that have both")
    texts = _items(pairs, "text_id", pl.col("text").first(), name)
    words = pl.col("caption").drop_nulls().unique(maintain_order=True).str.join(" ")
    images = _items(pairs, "image_id", words.fill_null("").alias("text"), name)
    qrels = pairs.select("text_id", "image_id", "relevance", "split").unique(maintain_order=True)
    pair = pl.concat_str("text_id", "image_id", separator=" ")
    demand_once(qrels.select(pair)["text_id"], name)
    return texts, images, qrels


def _columns(rows: pl.DataFrame, columns: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the column of each role, which is there of an image and a text at least."""
    for role, column in columns.items():
        if role not in ROLES:
            raise BadArgument("columns", f"no role {role!r}", f"name some of {', '.join(ROLES)}")
        if column not in rows.columns:
            raise MissingColumn(name, f"no column {column!r}", suggest(column, rows.columns))
    # A column that has a role is not that of its name, too: else texts that ask for pictures, of a
    # column `caption`, would stand for them as well.
    free = {*rows.columns} - {*columns.values()}
    role_columns = {r: columns.get(r, r) for r in ROLES if r in columns or r in free}
    for role in ("image", "text"):
        if role not in role_columns:
            problem = f"no column {role!r} among {', '.join(rows.columns)}"
            raise MissingColumn(name, problem, f"name it by columns={{{role!r}: ...}}")
    return role_columns


def _paired(rows: pl.DataFrame, columns: Mapping[str, str], name: str) -> pl.DataFrame:
    """Return text_id, text, image_id, caption, split and relevance of the rows that have both."""
    if isinstance(rows.schema[columns["text"]], pl.List):
        rows = rows.explode(columns["text"])
    readers = {"image": as_ids, "text_id": as_ids, "relevance": _grades}
    kinds = {role: pl.Int32 if role == "relevance" else pl.String for role in ROLES}
    pairs = rows.select(
        readers.get(role, as_words)(rows[columns[role]], name).alias(role)
        if role in columns
        else pl.lit(None, kind).alias(role)
        for role, kind in kinds.items()
    )
    pairs = pairs.filter(pl.all_horizontal(pl.col("image", "text").str.contains(r"\S")))
    pairs = pairs.with_columns(row=pl.int_range(1, pl.len() + 1).cast(pl.String))
    pairs = pairs.with_columns(
        # A text without an id is called by the first row that has it.
        pl.col("text_id").fill_null(pl.col("row").first().over("text")),
        pl.col("split").fill_null("test").str.to_lowercase().replace(SPLIT_NAMES),
        pl.col("relevance").fill_null(1),
    )
    unknown = pairs.filter(~pl.col("split").is_in((*JUDGED, *JOINT, "other")))["split"]
    if len(unknown):
        remedy = f"call it {', '.join(JUDGED)} or other"
        raise IntegrityError(name, f"a split {unknown[0]!r}", remedy)
    return pairs.rename({"image": "image_id"})


def _grades(column: pl.Series, name: str) -> pl.Series:
    grades = column.cast(pl.Float64, strict=False)
    integers = grades.cast(pl.Int32, strict=False)
    bad = column.is_not_null() & (grades != integers).fill_null(value=True)
    if bad.any():
        problem = f"a relevance {column.filter(bad)[0]!r}"
        raise IntegrityError(name, problem, "grade pairs by whole numbers; above 0 is relevant")
    return integers


def _items(pairs: pl.DataFrame, key: str, text: pl.Expr, name: str) -> pl.DataFrame:
    if key == "text_id":
        words = pairs.group_by(key, maintain_order=True).agg(pl.col("text").unique())
        shared = words.filter(pl.col("text").list.len() > 1)
        if shared.height:
            problem = f"text_id {shared[key][0]!r} is that of {shared['text'][0].len()} texts"
            raise IntegrityError(name, problem, "give each text its own id, or none any")
    items = pairs.group_by(key, maintain_order=True).agg(
        text, pl.col("split").first(), pl.col("split").n_unique().alias("splits")
    )
    several = items.filter(pl.col("splits") > 1)
    if several.height:
        problem = f"{key} {several[key][0]!r} is in {several['splits'][0]} splits"
        raise IntegrityError(name, problem, "let all rows of it be of one split")
    return items.drop("splits")
