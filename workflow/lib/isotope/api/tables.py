"""What the functions of the API take for runs, judgements and texts, and how it is told apart.

A table is a file, a data frame of Polars, pandas or any library that hands over Arrow, a mapping of
columns, or nested dictionaries. Columns may bear the names of PyTerrier, ranx and ir_measures.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard, cast

import polars as pl

from isotope.core.errors import (
    BadArgument,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    MissingColumn,
    MissingFile,
)
from isotope.core.runs import KEY, ranked, read_trec_qrels, read_trec_run, refuse
from isotope.intake import tables as outside

# A frame of pandas has no type here: it need not be installed.
Table: TypeAlias = Any
Run: TypeAlias = str | Path | Mapping[str, Mapping[str, float]] | Table
Runs: TypeAlias = Run | Mapping[str, Run] | Sequence[str | Path]
Qrels: TypeAlias = str | Path | Mapping[str, Mapping[str, int]] | Table

_ALIASES = {
    **dict.fromkeys(("qid", "q_id", "query"), "query_id"),
    **dict.fromkeys(("docno", "docid", "did", "doc"), "doc_id"),
    **dict.fromkeys(("label", "rel", "grade"), "relevance"),
}
_SUFFIXES = {".gz", ".bz2", ".trec", ".run", ".txt", ".parquet", ".json"}
_MEND = "mend it where it was made"
_FORMS = "give a file, a data frame, or {query: {document: number}}"


def run_of(source: Run, where: str = "run") -> pl.DataFrame:
    """Return a run, ranked anew by score as trec_eval does: query_id, doc_id, rank, score.

    Raises:
        As `reading.read_run`.
    """
    if is_path(source) and Path(source).suffix not in (".parquet", ".json"):
        return read_trec_run(source)
    hits = _columns(_frame(source, "score", where), (*KEY, "score"), where)
    score = pl.col("score").cast(pl.Float64, strict=False)
    hits = hits.with_columns(score)
    is_number = pl.col("score").is_finite().fill_null(value=False)
    refuse(hits, ~is_number, "a score that is no number", where, _MEND)
    return ranked(hits)


def runs_of(source: Runs) -> dict[str, pl.DataFrame]:
    """Return runs by the names of their systems: keys, or file names without suffixes.

    Raises:
        As `run_of`; BadArgument: two files of one name.
    """
    named: list[tuple[str, Run]]
    if isinstance(source, Mapping) and _has_runs(cast("Mapping[str, Any]", source)):
        named = [*cast("Mapping[str, Run]", source).items()]
    elif isinstance(source, Sequence) and not isinstance(source, str):
        named = [(_stem(path), path) for path in cast("Sequence[str | Path]", source)]
    else:
        name = _stem(source) if is_path(source) else "run"
        named = [(name, cast("Run", source))]
    if not named:
        raise EmptyTable("runs", "no run", "name one or more")
    names = [name for name, _ in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise BadArgument("runs", f"two are called {twice!r}", "give {name: run} instead of a list")
    return {name: run_of(run, name) for name, run in named}


def qrels_of(source: Qrels, where: str = "qrels") -> pl.DataFrame:
    """Return judgements: query_id, doc_id, relevance (int32).

    Raises:
        As `reading.read_qrels`.
    """
    if is_path(source) and Path(source).suffix not in (".parquet", ".json"):
        qrels = read_trec_qrels(source)
    else:
        qrels = _columns(_frame(source, "relevance", where), (*KEY, "relevance"), where)
        grade = pl.col("relevance").cast(pl.Float64, strict=False)
        integers = qrels.with_columns(relevance=grade.cast(pl.Int32, strict=False))
        is_whole = (grade == grade.cast(pl.Int32, strict=False)).fill_null(value=False)
        refuse(qrels, ~is_whole, "a relevance that is no whole number", where, _MEND)
        qrels = integers
    if qrels.is_empty():
        raise EmptyTable(where, "no judgement", "give the judgements of one query at least")
    return qrels


def texts_of(source: Table | Mapping[str, str], where: str) -> pl.DataFrame:
    """Return texts, each id once, by id: id, text.

    Raises:
        MissingColumn: no column `id` (or query_id, doc_id, text_id, image_id) or `text`.
        IntegrityError: an id that is null, or there twice.
    """
    mapping = isinstance(source, Mapping) and {"id", "text"} - {*cast("Mapping[str, Any]", source)}
    if mapping:
        named = cast("Mapping[str, str]", source)
        rows = pl.DataFrame({"id": [*named], "text": [*named.values()]}, strict=False)
    else:
        rows = _frame(source, "text", where)
        ids = ("id", "query_id", "doc_id", "text_id", "image_id")
        key = next((name for name in ids if name in rows.columns), "id")
        rows = rows.rename({key: "id"})
    _demand(rows, ("id", "text"), where)
    texts = rows.select(pl.col("id").cast(pl.String), pl.col("text").cast(pl.String).fill_null(""))
    demand_once(texts["id"], where)
    return texts.sort("id")


def demand_once(ids: pl.Series, where: str) -> None:
    """Demand that ids are there, each once.

    Raises:
        IntegrityError: an id that is null, or there twice.
    """
    bad = ids.is_null() | ids.is_duplicated()
    if bad.any():
        problem = f"id {ids.filter(bad)[0]!r} is null or there twice"
        raise IntegrityError(where, problem, "give each its own id")


def _frame(source: Table, value: str, where: str) -> pl.DataFrame:
    """Return whatever is a table as a frame; `value` is the number in nested dictionaries."""
    if is_path(source):
        path = Path(source)
        if not path.is_file():
            raise MissingFile(path, "no such file", "check the path")
        if path.suffix == ".parquet":
            return outside.frame(path, "give Parquet, JSON or TREC's lines")
        source, where = _json(path), str(path)
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, Mapping):
        return _of_mapping(cast("Mapping[str, Any]", source), value, where)
    if hasattr(source, "__arrow_c_stream__"):
        return pl.DataFrame(source)
    raise BadArgument(where, f"it is a {type(source).__name__}", _FORMS)


def _json(path: Path) -> Any:  # noqa: ANN401 (whatever stands there)
    try:
        return json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CorruptFile(path, f"no JSON ({error})", _FORMS) from error


def _of_mapping(source: Mapping[str, Any], value: str, where: str) -> pl.DataFrame:
    values = [*source.values()]
    if all(isinstance(inner, Mapping) for inner in values):
        rows: list[tuple[str, str, object]] = [
            (query, doc, number)
            for query, documents in source.items()
            for doc, number in documents.items()
        ]
        columns = {KEY[0]: pl.String, KEY[1]: pl.String, value: None}
        return pl.DataFrame(rows, columns, orient="row", strict=False)
    try:
        return pl.DataFrame(dict(source), strict=False)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise BadArgument(where, f"no columns of one length ({error})", _FORMS) from error


def _columns(rows: pl.DataFrame, wanted: Iterable[str], where: str) -> pl.DataFrame:
    """Return the columns of these names, ids as texts; each pair of them is there once."""
    names = {*rows.columns}
    aliases = {old: new for old, new in _ALIASES.items() if old in names and new not in names}
    rows = rows.rename(aliases)
    _demand(rows, wanted, where)
    rows = rows.select(wanted).with_columns(pl.col(KEY).cast(pl.String))
    refuse(rows, pl.any_horizontal(pl.col(KEY).is_null()), "an id that is null", where, _MEND)
    refuse(rows, pl.struct(KEY).is_duplicated(), "a document twice", where, _MEND)
    return rows


def _demand(rows: pl.DataFrame, names: Iterable[str], where: str) -> None:
    lacking = [name for name in names if name not in rows.columns]
    if lacking:
        problem = f"no column {lacking[0]!r} among {', '.join(rows.columns) or 'none'}"
        raise MissingColumn(where, problem, "rename the column that it is")


def _has_runs(source: Mapping[str, Any]) -> bool:
    """Tell runs by name from one run: nested dictionaries of numbers, or columns."""
    for value in source.values():
        if isinstance(value, Mapping):
            inner = cast("Mapping[str, Any]", value)
            return not all(isinstance(number, int | float) for number in inner.values())
        return is_path(value) or isinstance(value, pl.LazyFrame) or hasattr(value, "columns")
    return True


def is_path(source: object) -> TypeGuard[str | Path]:
    """Tell whether something is the name of a file."""
    return isinstance(source, str | Path)


def _stem(path: str | Path) -> str:
    """Return the name of a file without the suffixes that runs have."""
    name = Path(path)
    while name.suffix in _SUFFIXES:
        name = name.with_suffix("")
    return name.name
