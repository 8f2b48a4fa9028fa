"""What the functions of the API take for runs, judgements and texts, and how it is told apart.

A table is a file, a data frame of Polars, pandas or any library that hands over Arrow, a mapping of
columns, or nested dictionaries. Columns may bear the names of PyTerrier, ranx and ir_measures.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard, cast

import numpy as np
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

# Other names of a column: the first that is there is taken (PyTerrier's docid is a number of its
# own beside docno, and its query a text beside qid).
_ALIASES = {
    "query_id": ("qid", "q_id", "query"),
    "doc_id": ("docno", "docid", "did", "doc"),
    "relevance": ("label", "rel", "grade"),
}
_TEXT_IDS = ("id", "query_id", "doc_id", "text_id", "image_id", "qid", "q_id", "docno")
_TEXTS = ("text", "query")
_SUFFIXES = {".gz", ".bz2", ".trec", ".run", ".txt", ".parquet", ".json"}
_MEND = "mend it where it was made"
_TEXT_EACH = "give a text in each row"
_FORMS = "give a file, a data frame, or {query: {document: number}}"


def run_of(source: Run, where: str = "run") -> pl.DataFrame:
    """Return a run, ranked anew by score as trec_eval does: query_id, doc_id, rank, score.

    Raises:
        As `reading.read_run`.
    """
    if is_path(source) and not _is_table(source):
        hits = read_trec_run(source)
        refuse(hits, ~pl.col("score").is_finite(), "a score that is no number", str(source), _MEND)
        return hits
    hits = _columns(frame_of(source, "score", where), (*KEY, "score"), where)
    hits = hits.with_columns(pl.col("score").cast(pl.Float64, strict=False))
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
        named = [(str(name), run) for name, run in cast("Mapping[str, Run]", source).items()]
    elif isinstance(source, Sequence) and not isinstance(source, str):
        nameless = next((run for run in source if not is_path(run)), None)
        if nameless is not None:
            problem = f"a list with a {type(nameless).__name__}, which has no name"
            raise BadArgument("runs", problem, "give {name: run} instead of a list")
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
    if is_path(source) and not _is_table(source):
        qrels = read_trec_qrels(source)
    else:
        qrels = _columns(frame_of(source, "relevance", where), (*KEY, "relevance"), where)
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
        rows = frame_of(source, "text", where)
        names = {"id": _TEXT_IDS, "text": _TEXTS}
        rows = _renamed(rows, names)
    _demand(rows, ("id", "text"), where)
    texts = rows.select(as_ids(rows["id"], where), as_words(rows["text"], where).fill_null(""))
    demand_once(texts["id"], where)
    return texts.sort("id")


def as_ids(column: pl.Series, where: str) -> pl.Series:
    """Return ids as texts: whole numbers without a point, as pandas has integers beside NaN.

    Raises:
        BadArgument: lists, records, or numbers that are not whole.
    """
    if column.dtype.is_float():
        numbers = column.fill_nan(None)
        integers = numbers.cast(pl.Int64, strict=False)
        fractions = numbers.filter((numbers != integers.cast(column.dtype)).fill_null(value=True))
        if fractions.drop_nulls().len():
            problem = f"an id {fractions.drop_nulls()[0]} in {column.name!r}"
            raise BadArgument(where, problem, "give ids that are texts or whole numbers")
        column = integers
    return as_words(column, where)


def as_words(column: pl.Series, where: str) -> pl.Series:
    """Return a column as texts.

    Raises:
        BadArgument: lists, records, or bytes that are no UTF-8.
    """
    try:
        if column.dtype.is_nested():
            raise BadArgument(where, f"a column {column.name!r} of {column.dtype}", _TEXT_EACH)
        return column.cast(pl.String)
    except pl.exceptions.PolarsError as error:
        problem = f"a column {column.name!r} of {column.dtype} ({error})".partition("\n")[0]
        raise BadArgument(where, problem, _TEXT_EACH) from error


def demand_once(ids: pl.Series, where: str) -> None:
    """Demand that ids are there, each once.

    Raises:
        IntegrityError: an id that is null, or there twice.
    """
    bad = ids.is_null() | ids.is_duplicated()
    if bad.any():
        problem = f"id {ids.filter(bad)[0]!r} is null or there twice"
        raise IntegrityError(where, problem, "give each its own id")


def frame_of(source: Table, value: str, where: str) -> pl.DataFrame:
    """Return whatever is a table as a frame; `value` is the number in nested dictionaries.

    Raises:
        MissingFile, CorruptFile: a file that is not there, or is no table.
        BadArgument: something that is no table.
    """
    if is_path(source):
        path = Path(source)
        if not path.is_file():
            raise MissingFile(path, "no such file", "check the path")
        if path.suffix.lower() == ".parquet":
            return outside.frame(path, "give Parquet, JSON or TREC's lines")
        source, where = _json(path), str(path)
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if isinstance(source, Mapping):
        return _of_mapping(cast("Mapping[str, Any]", source), value, where)
    if hasattr(source, "__arrow_c_stream__"):
        return _of_frame(source, where)
    raise BadArgument(where, f"it is a {type(source).__name__}", _FORMS)


def _of_frame(source: Any, where: str) -> pl.DataFrame:  # noqa: ANN401 (of any library)
    try:
        return pl.DataFrame(source)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        if not hasattr(source, "to_dict") or len({*source.columns}) != len(source.columns):
            raise BadArgument(where, f"a frame that can't be read ({error})", _FORMS) from error
    # Columns of pandas may hold values of several types.
    columns = source.astype(object).where(source.notna(), None).to_dict("list")
    return _of_mapping(columns, "", where)


def _is_table(path: str | Path) -> bool:
    """Tell a file of columns from one of TREC's lines."""
    return Path(path).suffix.lower() in (".parquet", ".json")


def _json(path: Path) -> Any:  # noqa: ANN401 (whatever stands there)
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise CorruptFile(path, f"{twice!r} twice in one record", _MEND)
        return record

    try:
        return json.loads(path.read_text("utf-8-sig"), object_pairs_hook=once)
    except ValueError as error:
        raise CorruptFile(path, f"no JSON ({error})", _FORMS) from error


def _of_mapping(source: Mapping[str, Any], value: str, where: str) -> pl.DataFrame:
    values = [*source.values()]
    try:
        if not all(isinstance(inner, Mapping) for inner in values):
            return pl.DataFrame(dict(source), strict=False)
        rows: list[tuple[str | None, str | None, object]] = [
            (_key(query), _key(doc), number)
            for query, documents in source.items()
            for doc, number in documents.items()
        ]
        columns = {KEY[0]: pl.String, KEY[1]: pl.String, value: None}
        return pl.DataFrame(rows, columns, orient="row", strict=False)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise BadArgument(where, f"no columns of one length ({error})", _FORMS) from error


def _key(key: object) -> str | None:
    """Return a key of a dictionary as an id: a whole number has no point."""
    is_whole = isinstance(key, float) and key.is_integer()
    return None if key is None else str(int(key) if is_whole else key)  # pyright: ignore[reportArgumentType]


def _columns(rows: pl.DataFrame, wanted: Iterable[str], where: str) -> pl.DataFrame:
    """Return the columns of these names, ids as texts; each pair of them is there once."""
    rows = _renamed(rows, _ALIASES)
    _demand(rows, wanted, where)
    rows = rows.select(wanted).with_columns(as_ids(rows[name], where) for name in KEY)
    refuse(rows, pl.any_horizontal(pl.col(KEY).is_null()), "an id that is null", where, _MEND)
    refuse(rows, pl.struct(KEY).is_duplicated(), "a document twice", where, _MEND)
    return rows


def _renamed(rows: pl.DataFrame, names: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return a frame in which a column that lacks is the first of its other names."""
    present = {*rows.columns}
    renames = {
        next((other for other in names[name] if other in present), name): name
        for name in names
        if name not in present
    }
    return rows.rename({old: new for old, new in renames.items() if old in present})


def _demand(rows: pl.DataFrame, names: Iterable[str], where: str) -> None:
    lacking = [name for name in names if name not in rows.columns]
    if lacking:
        problem = f"no column {lacking[0]!r} among {', '.join(rows.columns) or 'none'}"
        raise MissingColumn(where, problem, "rename the column that it is")


def _has_runs(source: Mapping[str, Any]) -> bool:
    """Tell runs by name from one run: nested dictionaries of numbers, or columns."""
    for value in source.values():
        if isinstance(value, Mapping):
            if not value:
                continue  # a query without hits, or a system without queries
            inner = cast("Mapping[str, Any]", value)
            return any(isinstance(v, Mapping) or np.ndim(v) for v in inner.values())
        return is_path(value) or isinstance(value, pl.LazyFrame) or hasattr(value, "columns")
    return not source


def is_path(source: object) -> TypeGuard[str | Path]:
    """Tell whether something is the name of a file."""
    return isinstance(source, str | Path)


def _stem(path: str | Path) -> str:
    """Return the name of a file without the suffixes that runs have."""
    name = Path(path)
    while name.suffix in _SUFFIXES:
        name = name.with_suffix("")
    return name.name
