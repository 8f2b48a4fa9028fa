"""Collections: releases, those that projects have built, and tables of captions."""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import polars as pl

from isotope.api import captions
from isotope.api.tables import Table
from isotope.core.errors import BadArgument, CorruptFile, EmptyTable, MissingFile
from isotope.core.grid import document_side, id_column, id_columns, pool_splits, query_side
from isotope.core.lucene import contents
from isotope.core.schemas import STEP
from isotope.intake.limits import reason_of
from isotope.release.about import read_about

Task: TypeAlias = Literal["t2m", "m2t"]
Setting: TypeAlias = Literal["small", "base", "large"]
_TABLES = ("texts", "images", "qrels")
_PICTURE = "image"
_LANGUAGE = "en"


@dataclass(frozen=True, eq=False)
class Collection:
    """Texts, images, and which belong together.

    Attributes:
        name: What it is called.
        texts: A row a text: text_id, split, `text` (what BM25 reads of it), and what else is known.
        images: A row an image: image_id, split, `text` (its captions), and what else is known.
        qrels: A row a judged pair: text_id, image_id, relevance (Int32), split.

    Source: Yang et al., AToMiC, SIGIR 2023, section 3 (tasks, splits and settings).

    Examples:
        >>> import isotope
        >>> rows = {"image": ["a.jpg", "b.jpg"], "text": ["a red boat", "two dogs"]}
        >>> flickr = isotope.read_collection(rows, name="flickr")
        >>> flickr.name, flickr.images.height, flickr.qrels["relevance"].to_list()
        ('flickr', 2, [1, 1])
    """

    name: str
    texts: pl.DataFrame
    images: pl.DataFrame
    qrels: pl.DataFrame

    def judgements(self, task: Task = "t2m", split: str = "test") -> pl.DataFrame:
        """Return the qrels of a task and split.

        Args:
            task: `t2m`, texts ask for images, or `m2t`, images for texts.
            split: One that has judgements: train, validation or test.

        Returns:
            query_id, doc_id, relevance.

        Raises:
            BadArgument: another task.
            EmptyTable: a split without judgements.

        Examples:
            >>> import isotope
            >>> pairs = isotope.read_collection({"image": ["a.jpg"], "text": ["a boat"]}, name="x")
            >>> pairs.judgements("m2t").rows()
            [('a.jpg', '1', 1)]
        """
        query, doc = id_columns(_task(task))
        qrels = self.qrels.filter(pl.col("split") == split)
        if qrels.is_empty():
            splits = ", ".join(sorted({*self.qrels["split"]}))
            raise EmptyTable(self.name, f"no judgement in split {split!r}", f"name one of {splits}")
        return qrels.select(query_id=query, doc_id=doc, relevance="relevance")

    def queries(self, task: Task = "t2m", split: str = "test") -> pl.DataFrame:
        """Return the judged queries of a task and split: id, text.

        Raises:
            As `judgements`.

        Examples:
            >>> import isotope
            >>> pairs = isotope.read_collection({"image": ["a.jpg"], "text": ["a boat"]}, name="x")
            >>> pairs.queries("t2m").rows()
            [('1', 'a boat')]
        """
        asked = self.judgements(task, split)["query_id"].unique()
        rows = self._side(query_side(task))
        return rows.filter(pl.col("id").is_in(asked.implode()))

    def documents(
        self, task: Task = "t2m", split: str = "test", setting: Setting = "small"
    ) -> pl.DataFrame:
        """Return the pool that a task ranks: id, text.

        Args:
            task: As `judgements` has it.
            split: Whose pool it is, in the setting `small`.
            setting: `small`, the items of the split; `base`, those of all judged splits; `large`,
                all.

        Raises:
            BadArgument: another task or setting.

        Examples:
            >>> import isotope
            >>> pairs = isotope.read_collection({"image": ["a.jpg"], "text": ["a boat"]}, name="x")
            >>> pairs.documents("t2m")["id"].to_list()
            ['a.jpg']
        """
        if setting not in ("small", "base", "large"):
            raise BadArgument("setting", f"{setting!r}", "name small, base or large")
        side = document_side(_task(task))
        in_pool = pl.col("split").is_in(pool_splits(setting, split))
        return self._side(side, in_pool)

    def _side(self, side: str, chosen: pl.Expr | None = None) -> pl.DataFrame:
        rows = {"texts": self.texts, "images": self.images}[side]
        if chosen is not None:
            rows = rows.filter(chosen)
        return rows.select(pl.col(id_column(side)).alias("id"), "text").sort("id")

    def _repr_html_(self) -> str:
        """Return a line for notebooks."""
        return f"<pre>{self}</pre>"

    def __str__(self) -> str:
        """Say how large it is."""
        sizes = (len(self.texts), len(self.images), len(self.qrels))
        return "{}: {:,} texts, {:,} images, {:,} judged pairs".format(self.name, *sizes)

    __repr__ = __str__


def read_collection(
    source: str | Path | Table,
    *,
    columns: Mapping[str, str] | None = None,
    language: str | None = None,
    name: str | None = None,
) -> Collection:
    """Read a collection: a release, one that a project has built, or a table of captions.

    All of it but the pictures is in memory: about 1 KB a text, and 500 bytes an image.

    Args:
        source: The folder of a release, or data/collect/<collection> of a project. Or a table of
            captions, a row a text (or a list of texts) and an image that belong together: a file
            (CSV, TSV, JSON lines, Parquet), a data frame, or a mapping of columns.
        columns: Of a table, which column is what: `image` (its path, address or id), `text`,
            `caption` (other words that stand for the image), `split`, `text_id`, `relevance`. A
            role that is not named is the column of its name, unless that has another role; `image`
            and `text` have to be there.
        language: That of the captions which stand for images, a code such as `en`, or `mul` for
            all. Without it that of the release, and `en` for a built collection.
        name: What it is called; without it as the folder or the file.

    Returns:
        A `Collection`. Rows of a table without a split are of test.

    Raises:
        MissingFile: no such folder or file, or a folder that lacks a table.
        MissingColumn: a table without a column that is asked for.
        UnknownForm, CorruptFile: a file that is no table, or a folder with one that is none.
        EmptyTable: a table without a row.
        IntegrityError: a text or image that is of two splits, a pair judged twice, two texts of one
            id, a relevance that is not whole.
        BadArgument: another role, or something that is no table.

    Source: Yang et al., AToMiC, SIGIR 2023, section 3; docs/release.md for the folders.

    Examples:
        >>> import isotope
        >>> rows = {"image": ["a.jpg", "b.jpg"], "text": ["a red boat", "two dogs"]}
        >>> flickr = isotope.read_collection(rows, name="flickr")
        >>> flickr
        flickr: 2 texts, 2 images, 2 judged pairs
        >>> flickr.judgements("t2m").rows()
        [('1', 'a.jpg', 1), ('2', 'b.jpg', 1)]
    """
    path = Path(source) if isinstance(source, str | Path) else None
    if path and path.is_dir():
        if columns:
            raise BadArgument("columns", f"{path} is a folder", "leave it out")
        return _of_folder(path, name or path.resolve().name, language)
    if path and not path.is_file():
        raise MissingFile(path, "no such folder or file", "check the path")
    name = name or (path.stem if path else "captions")
    rows = captions.rows_of(path) if path else captions.table_of(source)
    return Collection(name, *captions.tables(rows, columns or {}, name))


def _task(task: str) -> str:
    if task not in ("t2m", "m2t"):
        raise BadArgument("task", f"{task!r}", "name t2m (texts ask) or m2t (images ask)")
    return task


def _of_folder(folder: Path, name: str, language: str | None) -> Collection:
    try:
        return _read_folder(folder, name, language)
    except pl.exceptions.PolarsError as error:
        problem = f"a table that can't be read ({reason_of(error)})"
        raise CorruptFile(folder, problem, "fetch it again, or build it again") from error


def _read_folder(folder: Path, name: str, language: str | None) -> Collection:
    with tempfile.TemporaryDirectory(prefix="isotope-") as scratch:
        if all((folder / f"{table}.parquet").is_file() for table in _TABLES):
            files = {table: folder / f"{table}.parquet" for table in _TABLES}
        elif all((folder / table).is_dir() for table in _TABLES):
            files = _of_release(folder, Path(scratch))
            language = language or read_about(folder)["captions"]
        else:
            problem = f"neither a release nor a collection: no {', '.join(_TABLES)}"
            raise MissingFile(folder, problem, "name results/release/... or data/collect/...")
        sides = {
            side: _with_words(side, files[side], language or _LANGUAGE) for side in _TABLES[:2]
        }
        return Collection(name, **sides, qrels=pl.read_parquet(files["qrels"], glob=False))


def _of_release(folder: Path, scratch: Path) -> dict[str, Path]:
    """Write the tables of a release as those of a collection; return them by name."""
    files = {table: scratch / f"{table}.parquet" for table in _TABLES}
    for table, path in files.items():
        parts = sorted((folder / table).glob("*.parquet"))
        if not parts:
            raise MissingFile(folder / table, "no split", "release the collection again")
        scans = [pl.scan_parquet(p, glob=False).with_columns(split=pl.lit(p.stem)) for p in parts]
        rows = pl.concat(scans, how="vertical_relaxed")
        if table == "texts":
            hierarchy = pl.col("hierachy").list.join(STEP).alias("hierarchy")
            rows = rows.with_columns(hierarchy).drop("hierachy")
        elif table == "images":
            rows = rows.drop(_PICTURE)
        else:
            rows = rows.select("text_id", "image_id", relevance="rel", split="split")
        rows.sink_parquet(path)
    return files


def _with_words(side: str, table: Path, language: str) -> pl.DataFrame:
    words = contents(side, table, language=language)
    text = pl.col("contents").fill_null("").alias("text")
    if words.is_empty():
        raise EmptyTable(table, "no row", "build the collection again")
    key = id_column(side)
    rows = words.select(pl.col("id").alias(key), text)
    return pl.read_parquet(table, glob=False).join(rows, on=key, how="left", maintain_order="left")
