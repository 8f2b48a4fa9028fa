"""Queries of workflow/sql over files: one SELECT, a chain of them, or a look into the catalog.

There is no path in SQL, and no SQL in Python. What a query reads is found by DuckDB's own parser.
Opening DuckDB takes longer than many a query, so a chain asks all its queries of one.
"""

import json
import re
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple, cast

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store, uploads
from isotope.core.errors import (
    BadQuery,
    CorruptFile,
    EmptyTable,
    IntegrityError,
    IsotopeError,
    Locked,
    MissingColumn,
    MissingFile,
)
from isotope.core.languages import codes_by_wiki, wiki_codes
from isotope.core.progress import log
from isotope.core.resources import PACKAGE
from isotope.core.schemas import SEVERAL

SQL = PACKAGE / "sql"
Files = str | Path | Sequence[str | Path]
_Reader = Callable[..., duckdb.DuckDBPyRelation]
_OFFENDERS = 5
# What DuckDB may hold before it spills.
DUCKDB_MB = 4_000
# Of a sort of many texts, which gains nothing by more.
SORT_MB = 1_000
# What queries may call: `url_uuid(url)` is uuid3(NAMESPACE_URL, url) of RFC 4122, section 4.3;
# `joined` and `steps` are the SQL of `core.fields`, for fields and the headings of a hierarchy;
# `wit_hierarchy` and `wit_context` are the hierarchy and the page's context of a section (0 for a
# lead) in WIT's form: the page's title before the headings, and of a lead its own text;
# `any_of` is the probability that one of several shares, each by itself, is right;
# `captions_in` are an image's captions in one language, or in all, one kind of them after another.
# Of `core.uploads`: `file_url(url)` is `canonical_url`, `upload_url(file, repository)` that of a
# file's name, `in_any_repository(url)` is one for a file's addresses on Commons and in a wiki, and
# `file_page` and `repository_of` are its functions.
_FUNCTIONS = (uploads.canonical_url, uploads.file_page, uploads.repository_of)
_FILE_MACROS = f"""
CREATE TEMP MACRO file_url(url) AS if(
    regexp_full_match(url, '{uploads.CANONICAL}') OR NOT contains(lower(url), 'wiki'),
    url, canonical_url(url)
);
CREATE TEMP MACRO upload_url(file, repository) AS concat_ws(
    '/', '{uploads.STORE}', repository, md5(replace(file, ' ', '_'))[1],
    md5(replace(file, ' ', '_'))[1:2], url_encode(replace(file, ' ', '_'))
);
CREATE TEMP MACRO in_any_repository(url) AS regexp_replace(
    url, '{uploads.REPOSITORY}', '\\1\\2'
);
"""
# Of `core.languages`: `wiki_language` and `is_spoken`. A column of codes is looked up in the few
# codes of the language that a parameter names, which is quicker than a column of languages.
_LANGUAGE_MACROS = f"""
CREATE TEMP MACRO spelt(code) AS replace(lower(trim(code)), '_', '-');
CREATE TEMP MACRO wiki_language(code) AS coalesce(
    getvariable('wiki_codes')[spelt(code)],
    getvariable('wiki_codes')[split_part(spelt(code), '-', 1)],
    split_part(spelt(code), '-', 1)
);
CREATE TEMP MACRO codes_of(code) AS coalesce(
    getvariable('language_codes')[wiki_language(code)], [wiki_language(code)]
);
CREATE TEMP MACRO is_spoken(spoken, chosen) AS (
    chosen = '{SEVERAL}' OR list_contains(codes_of(chosen), spoken) OR if(
        regexp_matches(spoken, '[-_A-Z ]'),
        list_contains(codes_of(chosen), wiki_language(spoken)),
        FALSE
    )
);
"""
_MACROS = """
CREATE TEMP MACRO uuid_of_md5(h) AS concat_ws(
    '-', h[1:8], h[9:12], '3' || h[14:16],
    substr('89ab', (('0x' || h[17])::INTEGER & 3) + 1, 1) || h[18:20], h[21:32]
);
CREATE TEMP MACRO url_uuid(url) AS uuid_of_md5(
    md5(from_hex('6ba7b8119dad11d180b400c04fd430c8') || encode(url))
);
CREATE TEMP MACRO any_of(shares) AS (
    1 - list_aggregate(list_transform(shares, LAMBDA s: 1 - s), 'product')
);
CREATE TEMP MACRO steps(hierarchy) AS replace(hierarchy, ' / ', ' ');
CREATE TEMP MACRO joined(fields) AS array_to_string(
    list_filter(
        list_transform(fields, lambda f: regexp_replace(f, '^[\\s\\pZ]+|[\\s\\pZ]+$', '', 'g')),
        lambda f: f <> ''
    ),
    ' '
);
CREATE TEMP MACRO wit_hierarchy(section, page_title, hierarchy) AS if(
    section = 0, page_title, page_title || ' / ' || hierarchy
);
CREATE TEMP MACRO wit_context(section, of_page, of_section) AS if(section = 0, of_section, of_page);
CREATE TEMP MACRO captions_in(chosen, language, reference, alt_text, attribution) AS flatten(
    list_transform(
        [reference, alt_text, attribution],
        lambda kind: list_transform(
            list_filter(range(1, len(language) + 1), lambda i: is_spoken(language[i], chosen)),
            lambda i: kind[i]
        )
    )
);
"""


class Names(NamedTuple):
    """The relations that a query reads, but for those of its own WITH, and its parameters."""

    relations: frozenset[str]
    params: frozenset[str]


def names(sql_file: Path) -> Names:
    """Return the names in a query as DuckDB parses it: comments and strings do not count.

    Raises:
        MissingFile: no such query.
        IsotopeError: it is no SELECT that DuckDB can parse.
    """
    return _names(sql_file)


def _names(sql_file: Path, con: duckdb.DuckDBPyConnection | None = None) -> Names:
    tree = _parsed(_read(Path(sql_file)), con)
    if tree["error"]:
        raise IsotopeError(sql_file, str(tree["error_message"]), "mend the query")
    statements = tree["statements"]
    return Names(frozenset(_tables(statements, frozenset())), frozenset(_params(statements)))


_trees: dict[str, dict[str, Any]] = {}


def _parsed(text: str, con: duckdb.DuckDBPyConnection | None) -> dict[str, Any]:
    if text not in _trees:
        with nullcontext(con) if con else _parser().cursor() as parser:
            serialised = parser.execute("SELECT json_serialize_sql($1::VARCHAR)", [text])
            [(tree,)] = cast("list[tuple[str]]", serialised.fetchall())
        _trees[text] = json.loads(tree)
    return _trees[text]


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    """Return the database that parses; making one takes as long as parsing twenty queries.

    It has no threads of its own, so a forked process may parse with it too.
    """
    return duckdb.connect(config={"threads": 1})


def _tables(node: Any, local: frozenset[str]) -> Iterator[str]:  # noqa: ANN401
    """Yield the tables below a node of the parser's tree that no WITH in scope makes."""
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            yield from _tables(item, local)
    if not isinstance(node, dict):
        return
    fields = cast("dict[str, Any]", node)
    if fields.get("type") == "BASE_TABLE" and fields["table_name"] not in local:
        yield fields["table_name"]
    for cte in (fields.get("cte_map") or {"map": []})["map"]:
        yield from _tables(cte["value"], local)
        local = local | {cte["key"]}
    for key, value in fields.items():
        if key != "cte_map":
            yield from _tables(value, local)


def _params(node: Any) -> Iterator[str]:  # noqa: ANN401
    """Yield the named parameters below a node of the parser's tree."""
    if isinstance(node, list):
        for item in cast("list[Any]", node):
            yield from _params(item)
    elif isinstance(node, dict):
        fields = cast("dict[str, Any]", node)
        if fields.get("class") == "PARAMETER":
            yield fields["identifier"]
        for value in fields.values():
            yield from _params(value)


def query(  # noqa: PLR0913
    sql_file: Path,
    relations: Mapping[str, Files],
    params: Mapping[str, object],
    *,
    out: Path | None = None,
    schema: pa.Schema | None = None,
    optional: Iterable[pa.Field] = (),
    memory_limit: str | None = None,
) -> pl.DataFrame | None:
    """Run the SELECT in `sql_file`; return its rows, or stream them to the Parquet file `out`.

    Each key of `relations` is a view over the Parquet (or `.csv`) files it names; `params` are the
    query's `$names`, all of them and no other; but for `systems`, which any query may be given: an
    order of systems, read as `getvariable('systems')`, empty by default. A query may call
    `url_uuid(url)`, the UUID that an image has for its URL. After the columns of
    `schema` there may be some of `optional`. Sorts and joins larger than `memory_limit` (DuckDB's
    notation; DUCKDB_MB by default) spill to a folder beside `out`.

    Raises:
        MissingFile: a relation's file or `sql_file` itself is absent.
        CorruptFile: a relation's file that DuckDB cannot read.
        MissingColumn: columns that are not those of `schema`, in its order.
        IsotopeError: any other complaint of DuckDB, with the name of the SQL file.
    """
    text = _read(Path(sql_file))
    with _opened(out, memory_limit) as database:
        rows = database.ask(sql_file, text, relations, params)
        with _named(sql_file):
            if out is None:
                return rows.pl()
            _stream(sql_file, rows, out, _extended(schema, optional, rows.columns))
            return None


def table_of(step: Path) -> str:
    """Return the table that a step of a chain makes: `texts` for `30_texts.sql`, or `texts.sql`."""
    return re.sub(r"^\d+_", "", step.stem)


def run_chain(  # noqa: PLR0913
    steps: Iterable[Path],
    relations: Mapping[str, Files],
    folder: Path,
    *,
    params: Mapping[str, object] | None = None,
    schemas: Mapping[str, pa.Schema] | None = None,
    optional: Mapping[str, Iterable[pa.Field]] | None = None,
) -> dict[str, Path]:
    """Run queries, `NN_<table>.sql`, in order; return `folder`/<table>.parquet of each, by table.

    A query gets those of the relations, of the tables before it and of `params` that it names.
    `schemas` and `optional` have the columns of some tables, as `query` takes them.

    Raises:
        KeyError: a parameter that `params` lacks.
        As `query` and `names`.
    """
    tables: dict[str, Path] = {}
    with _opened(folder / "chain") as database:
        for step in steps:
            named, table = _names(step, database.con), table_of(step)
            available: dict[str, Files] = {**relations, **tables}
            rows = database.ask(
                step,
                _read(step),
                {name: files for name, files in available.items() if name in named.relations},
                {name: (params or {})[name] for name in named.params},
            )
            schema, more = (schemas or {}).get(table), (optional or {}).get(table, ())
            tables[table] = folder / f"{table}.parquet"
            with _named(step):
                _stream(step, rows, tables[table], _extended(schema, more, rows.columns))
            log.info("%s done", step.stem)
    return tables


def check(
    sql_files: Path | Iterable[Path],
    relations: Mapping[str, Files],
    params: Mapping[str, object] | None = None,
) -> None:
    """Check the claim in each file's name: its query must return no row.

    Raises:
        IntegrityError: the first claim that does not hold, and the first offending rows.
    """
    with _opened() as database:
        for file in [sql_files] if isinstance(sql_files, Path) else sql_files:
            rows = database.ask(file, _read(file), relations, params or {})
            with _named(file):
                offenders = rows.limit(_OFFENDERS).pl().rows(named=True)
            if offenders:
                claim = file.stem.replace("_", " ")
                problem = "; ".join(str(row) for row in offenders)
                raise IntegrityError(claim, f"not so, first rows: {problem}", f"see {file}")


class _Database:
    """DuckDB in memory, and the relations that are bound in it."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self._bound: dict[str, Files] = {}

    def ask(
        self,
        sql_file: Path,
        text: str,
        relations: Mapping[str, Files],
        params: Mapping[str, object],
    ) -> duckdb.DuckDBPyRelation:
        """Return the rows of a SELECT, which reads these relations and no others."""
        for name in {*self._bound} - {*relations}:
            del self._bound[name]
            self.con.execute(f'DROP VIEW "{name}"')
        for name, files in relations.items():
            if self._bound.get(name) != files:
                _bind(self.con, name, files)
                self._bound[name] = files
        with _named(sql_file):
            named = dict(params)
            order = {"order": list(cast("Sequence[str]", named.pop("systems", [])))}
            self.con.execute("SET VARIABLE systems = $order::VARCHAR[]", order)
            return self.con.sql(text, params=named)


@contextmanager
def _opened(
    beside: Path | None = None, memory_limit: str | None = None
) -> Generator[_Database, None, None]:
    """Yield an empty database that spills to a folder beside a file."""
    with _spill_folder(beside) as aside, duckdb.connect() as con:
        con.execute("SET python_enable_replacements = false")
        con.execute("SET temp_directory = $aside", {"aside": aside})
        con.execute("SET memory_limit = $limit", {"limit": memory_limit or f"{DUCKDB_MB}MB"})
        for function in _FUNCTIONS:
            con.create_function(function.__name__, function, ["VARCHAR"], "VARCHAR")
        for name, entries in (("wiki_codes", wiki_codes()), ("language_codes", codes_by_wiki())):
            both = {"keys": list(entries), "entries": list(entries.values())}
            con.execute(f"SET VARIABLE {name} = map($keys, $entries)", both)
        con.execute(_FILE_MACROS + _LANGUAGE_MACROS + _MACROS)
        yield _Database(con)


def _spill_folder(out: Path | None) -> tempfile.TemporaryDirectory[str]:
    if out is None:
        return tempfile.TemporaryDirectory(prefix="isotope-")
    out.parent.mkdir(parents=True, exist_ok=True)
    return tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent)


def _read(sql_file: Path) -> str:
    if not sql_file.is_file():
        raise MissingFile(sql_file, "no such query", "restore it from git")
    return sql_file.read_text(encoding="utf-8")


def _bind(con: duckdb.DuckDBPyConnection, name: str, files: Files) -> None:
    paths = [str(files)] if isinstance(files, str | Path) else [str(f) for f in files]
    if not paths:
        raise EmptyTable(name, "a relation without files", "run the phase that writes them")
    for path in paths:
        if not any(c in path for c in "*?[") and not Path(path).is_file():
            problem = f"no such file, wanted as {name}"
            raise MissingFile(path, problem, "run the phase that writes it")
    paths = [pattern(path) for path in paths]
    read = cast("_Reader", con.read_csv if paths[0].endswith(".csv") else con.read_parquet)
    options: dict[str, Any] = {"union_by_name": len(paths) > 1}
    try:
        rows = read(paths, **options)
        if "system" in rows.columns and paths[0].endswith(".csv"):
            # Looked at, `2023` would be a number.
            rows = read(paths, **options, dtype={"system": "VARCHAR"})
        rows.create_view(name, replace=True)
    except duckdb.Error as error:
        problem = _first_line(error)
        raise CorruptFile(paths[0], problem, "remove it and run the phase again") from error


def pattern(path: str | Path) -> str:
    """Return what DuckDB, which takes brackets for a pattern, reads as this file, if it is one."""
    return escape(str(path)) if Path(path).is_file() else str(path)


@contextmanager
def _named(sql_file: Path) -> Generator[None, None, None]:
    try:
        yield
    except (duckdb.Error, pa.ArrowException) as error:
        remedy = "mend the query, or the rule that names its relations and parameters"
        raise IsotopeError(sql_file, _first_line(error), remedy) from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def _extended(
    schema: pa.Schema | None, optional: Iterable[pa.Field], columns: Sequence[str]
) -> pa.Schema | None:
    """Return `schema` with the optional columns that were selected."""
    if schema is None:
        return None
    by_name = {field.name: field for field in optional}
    further = [by_name[c] for c in columns if c in by_name and c not in schema.names]
    return pa.schema([*schema, *further])


def _stream(
    sql_file: Path, rows: duckdb.DuckDBPyRelation, out: Path, schema: pa.Schema | None
) -> None:
    size = store.ROWS_PER_GROUP if schema is None else store.rows_per_group(schema)
    batches = rows.to_arrow_reader(size)
    if schema is not None and batches.schema.names != schema.names:
        problem = f"columns {batches.schema.names}"
        raise MissingColumn(sql_file, problem, f"select {schema.names}, in this order")
    with store.writer(out, batches.schema if schema is None else schema) as file:
        _write_groups(_named_batches(sql_file, batches), file)


def _named_batches(
    sql_file: Path, batches: pa.RecordBatchReader
) -> Generator[pa.RecordBatch, None, None]:
    """Yield the batches; Arrow reports a query that fails on the way as an OSError."""
    try:
        yield from batches
    except OSError as error:
        raise IsotopeError(sql_file, _first_line(error), "mend the query or its input") from error


def _write_groups(batches: Iterable[pa.RecordBatch], file: pq.ParquetWriter) -> None:
    """Regroup the rows, so that row groups do not depend on how the query was parallelised.

    Nor do their pages, which would end where a batch does.
    """
    size = store.rows_per_group(file.schema)
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        while sum(b.num_rows for b in waiting) >= size:
            table = pa.Table.from_batches(waiting)
            file.write_table(table.slice(0, size).combine_chunks().cast(file.schema))
            waiting = table.slice(size).to_batches()
    if waiting:
        file.write_table(pa.Table.from_batches(waiting).combine_chunks().cast(file.schema))


CATALOG = Path("results/catalog.duckdb")
_LOCKED = "Could not set lock"


@contextmanager
def opened(
    catalog: Path = CATALOG, *, threads: int | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a read-only connection whose views find their files from any working directory.

    DuckDB starts `threads`, one a core where it is None; few rows are looked up fastest with one.

    Raises:
        MissingFile: no catalog there.
        CorruptFile: a file that is no DuckDB database.
        Locked: a catalog that another program has open for writing.
        BadQuery: a question that DuckDB refuses.
    """
    if not catalog.is_file():
        raise MissingFile(catalog, "no catalog", "run `snakemake --cores all`")
    try:
        config: dict[str, str | bool | int | float | list[str]] = (
            {} if threads is None else {"threads": threads}
        )
        con = duckdb.connect(catalog, read_only=True, config=config)
    except duckdb.Error as error:
        if _LOCKED in str(error):
            holder = re.search(r"held in (.+?)(?: by user|\. |$)", str(error))
            problem = f"another program has it open: {holder[1]}" if holder else _cause(error)
            raise Locked(catalog, problem, "close it there, or open it there read-only") from error
        remedy = "run `snakemake --cores all tabulate`"
        raise CorruptFile(catalog, _cause(error), remedy) from error
    settings = {
        "file_search_path": str(catalog.resolve().parent.parent),
        # By this the views of tabulate.catalog know where they lie, whatever the file is called.
        "temp_directory": str(catalog.resolve().with_name("catalog.duckdb.tmp")),
        "enable_progress_bar": False,
        "parquet_metadata_cache": True,
    }
    try:
        for name, value in settings.items():
            con.execute(f"SET {name} = $value", {"value": value})
        yield con
    except duckdb.Error as error:
        remedy = "SHOW TABLES lists the views, and DESCRIBE the columns of one"
        raise BadQuery("isotope", _cause(error), remedy) from error
    finally:
        con.close()


def ask(
    con: duckdb.DuckDBPyConnection, name: str, params: Mapping[str, object]
) -> tuple[list[str], list[tuple[object, ...]]]:
    """Run workflow/sql/show/<name>.sql with those of `params` that it names; columns and rows."""
    file = SQL / "show" / f"{name}.sql"
    named = {key: value for key, value in params.items() if key in names(file).params}
    answer = con.execute(_read(file), named)
    return [column[0] for column in answer.description or []], answer.fetchall()


def _cause(error: Exception) -> str:
    return " ".join(str(error).partition("LINE ")[0].split())
