"""Runs, judgements and a project's tables, read from files or taken from tables."""

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from isotope.api.tables import Qrels, Run, qrels_of, run_of
from isotope.core.errors import BadArgument, MissingFile
from isotope.core.runs import METADATA, write_trec_run
from isotope.core.runs import write_run as write_parquet

if TYPE_CHECKING:
    import duckdb


def read_run(source: Run) -> pl.DataFrame:
    """Read a run: what a system answered.

    Args:
        source: A file of TREC's lines (`query Q0 document rank score tag`, plain, .gz or .bz2), a
            Parquet or JSON file (.json, as ranx and pytrec_eval have runs), a data frame or a
            mapping of columns with `query_id`, `doc_id` and `score` (or as PyTerrier and ranx call
            them), or `{query: {document: score}}`.

    Returns:
        A row a hit, by query_id and rank: query_id (String), doc_id (String), rank (Int32, from 1),
        score (Float64, without a unit; greater is better). Ranks follow the scores whatever the
        source says; of equal scores the greater doc_id is first.

    Raises:
        MissingFile: no such file.
        MissingColumn: a column that is not there.
        CorruptFile, TruncatedFile: a file that is none of these, with its line.
        IntegrityError: a document twice for a query, an id that is null, a score that is no number.
        BadArgument: something that is no table.

    Source: trec_eval 9, form_res_rels.c, for the order.

    Examples:
        >>> import isotope
        >>> isotope.read_run({"q1": {"d1": 1.5, "d2": 2.0}}).rows()
        [('q1', 'd2', 1, 2.0), ('q1', 'd1', 2, 1.5)]
    """
    return run_of(source, _named(source, "run"))


def read_qrels(source: Qrels) -> pl.DataFrame:
    """Read qrels: which documents are relevant to a query, and how much.

    Args:
        source: A file of TREC's lines (`query 0 document relevance`, plain, .gz or .bz2), a
            Parquet or JSON file, a data frame or mapping of columns with `query_id`, `doc_id` and
            `relevance` (or as PyTerrier and ranx call them), or `{query: {document: relevance}}`.

    Returns:
        A row a judgement, in the order of the source: query_id (String), doc_id (String),
        relevance (Int32; above 0 is relevant, the greater the more).

    Raises:
        MissingFile, MissingColumn, CorruptFile, TruncatedFile, BadArgument: as `read_run`.
        IntegrityError: a pair judged twice, an id that is null, a relevance that is not whole.
        EmptyTable: no judgement.

    Source: https://github.com/usnistgov/trec_eval, README, for the format.

    Examples:
        >>> import isotope
        >>> isotope.read_qrels({"q1": {"d1": 1, "d2": 0}}).rows()
        [('q1', 'd1', 1), ('q1', 'd2', 0)]
    """
    return qrels_of(source, _named(source, "qrels"))


def write_run(run: Run, path: str | Path, *, system: str = "isotope") -> Path:
    """Write a run for other tools; the file appears when it is complete.

    Args:
        run: As `read_run` takes it.
        path: A file to write: Parquet where it ends in `.parquet`, else TREC's lines, packed where
            it ends in `.gz` or `.bz2`.
        system: The last field of TREC's lines.

    Returns:
        The file.

    Raises:
        As `read_run`; Unwritable, DiskFull: the file can't be written.
        IntegrityError: an id with white space in it, which TREC's lines can't have.
        BadArgument: a folder, or a name that isotope keeps for notes beside runs; `.json`.

    Source: https://github.com/usnistgov/trec_eval, README, for the format.

    Examples:
        >>> import isotope
        >>> isotope.write_run({"q1": {"d1": 1.5}}, "run.trec", system="mine").read_text()
        'q1 Q0 d1 1 1.5 mine\\n'
    """
    path = Path(path)
    if path.name.endswith(METADATA):
        raise BadArgument(path, "the name of notes beside a run", "name the run another way")
    if path.is_dir():
        raise BadArgument(path, "a folder", "name a file in it")
    if path.suffix.lower() == ".json":
        raise BadArgument(path, "no run is written as JSON", "name it .parquet, or .trec")
    if not system or set(system) & set(" \t\n"):
        raise BadArgument("system", f"{system!r} is empty or has white space", "join its words")
    hits = run_of(run, _named(run, "run"))
    if path.suffix.lower() == ".parquet":
        write_parquet(hits, path)
    else:
        write_trec_run(hits, path, tag=system)
    return path


def catalog(root: str | Path = ".") -> "duckdb.DuckDBPyConnection":
    """Open all tables of a project for questions in SQL.

    Args:
        root: The folder of the project, in which data/ and results/ are.

    Returns:
        A connection of DuckDB, of this process alone, with the views of docs/queries.md; the view
        of a table that no phase has written yet is empty. `.sql(query).pl()` is a frame.

    Raises:
        MissingFile: a folder in which no project has built anything.

    Source: docs/queries.md for the views.

    Examples:
        >>> import isotope
        >>> project = isotope.catalog(example)
        >>> project.sql("SELECT collection, count(*) FROM texts GROUP BY ALL").fetchall()
        [('harbour', 9)]
    """
    import duckdb  # noqa: PLC0415 (for questions alone)

    from isotope.tabulate.catalog import define, views  # noqa: PLC0415

    root = Path(root)
    if not any((root / folder).is_dir() for folder in ("data", "results")):
        raise MissingFile(root, "neither data/ nor results/", "name the folder of a project")
    con = duckdb.connect()
    define(con, views(), root)
    return con


def _named(source: object, name: str) -> str:
    return str(source) if isinstance(source, str | Path) else name
