"""Anybody's pictures and texts as one table: rows of any form, their columns read by their roles.

A form's reader (`parse.forms`) yields rows as they stand in the data, `pair_rows` gives them roles
and types, and the queries of workflow/sql/parse/pairs name pictures and texts, decide splits, and
set aside what can't be used, with file, row and reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.errors import BadParams, EmptyTable, MissingColumn, MissingFile
from isotope.core.faults import named_after, naming
from isotope.core.manifest import placed, placed_if_any
from isotope.core.progress import Progress
from isotope.core.rejections import summary
from isotope.intake.limits import demand_share
from isotope.intake.relations import expand
from isotope.intake.texts import LINES, lines
from isotope.params import SPLITS
from isotope.params.messages import suggest
from isotope.params.pairs import DATA, IR_DATASETS, KARPATHY, LISTS, ROWS, PairSplits, Rows, listed
from isotope.parse.forms import Form, form_of
from isotope.parse.forms import lists as json_lists
from isotope.parse.forms.base import FILE, ROW, UNREADABLE, Rejection
from isotope.parse.forms.texts import split_of
from isotope.parse.pair_rows import NAMES, SEVERAL, Roles, staged
from isotope.schemas.parse import PAIRS, PAIRS_REJECTED, REJECTED

_STEPS = sql.SQL / "parse/pairs"
_LISTED = pa.schema([pa.field("split", pa.string()), *LINES])
_GROUPS = pa.schema([("image", pa.string()), ("root", pa.string())])


class UpstreamRows(NamedTuple):
    """Upstream rows: their files, form, options, and what their columns are."""

    paths: Sequence[Path]
    form: Form
    options: Mapping[str, Any]
    roles: Roles


def parse_pairs(
    *,
    manifest: Path,
    spec: Rows,
    pairs: Path,
    rejected: Path,
    parts: Sequence[str] = (DATA,),
) -> None:
    """Write PAIRS and PAIRS_REJECTED of an acquired source, as its collections say what rows are.

    Rows are in `parts` of the source.

    Raises:
        UnknownForm: a form that nobody knows, or files that no form recognises.
        MissingColumn: a role, or a column to keep, that the data lacks, with the likely spelling.
        EmptyTable: no row, or none that can be used, and why.
        As the form's reader.
    """
    with store.scratch(pairs) as folder:
        data = read_data(paths_of(manifest, spec, parts), spec)
        if data.form.queries:
            tables = _queried(data.form, data.form.queries, spec, manifest, folder)
        else:
            tables = divided(data, spec, manifest, folder)
        _demand_rows(tables["pairs"], tables["rejected"], manifest)
        tables["rejected"].replace(rejected)
        tables["pairs"].replace(pairs)


def divided(data: UpstreamRows, spec: Rows, manifest: Path | None, folder: Path) -> dict[str, Path]:
    """Write what can be used of rows and what can't to `folder`; return the tables by name.

    They are `pairs` (PAIRS) and `rejected` (PAIRS_REJECTED). Lists of splits are those of a source
    that was acquired to `manifest`.

    Raises:
        As `parse_pairs`.
    """
    by_hash = shares(spec.splits)
    names = ("rows", "unread", "lists", "groups")
    inputs: dict[str, sql.Files] = {name: folder / f"{name}.parquet" for name in names}
    carried = _stage(data, folder / "rows.parquet", folder / "unread.parquet")
    _write_lists(manifest, folder / "lists.parquet")
    settings = {**by_hash, "by_hash": bool(by_hash), "in_data": "split" in data.roles.columns}
    settings = {"validation": 0.0, "test": 0.0, "seed": "0", **settings}
    first = sql.run_chain([_STEPS / "10_named.sql"], inputs, folder)
    _write_groups(first["named"], folder / "groups.parquet", wanted=bool(by_hash))
    return sql.run_chain(
        sorted(_STEPS.glob("[2-9]*.sql")),
        {**inputs, **first},
        folder,
        params=settings,
        schemas={"pairs": PAIRS, "rejected": PAIRS_REJECTED},
        optional={"pairs": carried},
    )


def _queried(
    form: Form, queries: Path, spec: Rows, manifest: Path, folder: Path
) -> dict[str, Path]:
    """Write the tables of `divided` by the queries of a form.

    Raises:
        BadParams: a key that says what rows are, as the form does.
        As `intake.relations.expand`.
    """
    for key in (key for key in ROWS if key not in ("form", "options") and getattr(spec, key)):
        problem = f"{key!r} beside the form {form.name}, which has columns and parts of its own"
        raise BadParams("params collect", problem, "leave it out")
    return sql.run_chain(
        sorted(queries.glob("*.sql")),
        expand(manifest, folder),
        folder,
        schemas={"pairs": PAIRS, "rejected": PAIRS_REJECTED},
        optional={"pairs": form.records},
    )


def read_data(paths: Sequence[Path], spec: Rows) -> UpstreamRows:
    """Return what `spec` says of the rows of these files.

    Raises:
        UnknownForm: as `forms.form_of`.
        BadParams: an option that the form does not have.
    """
    is_local = str(paths[0]).startswith(IR_DATASETS)
    form = form_of(paths, spec.form or ("ir_datasets" if is_local else None))
    columns = {role: listed(columns_of_role) for role, columns_of_role in form.roles.items()}
    columns |= {
        role: listed(columns_of_role)
        for role, columns_of_role in spec.columns or ()
        if columns_of_role is not None
    }
    if spec.splits:
        columns.pop("split", None)
    extra = dict(spec.keep or ())
    keep = {s: [*form.keeps.get(s, ()), *(extra.get(s) or ())] for s in ("image", "text")}
    options = dict(spec.options or {})
    for name in options.keys() - form.options.keys():
        problem = f"the form {form.name} has no option {name!r}"
        raise BadParams("params collect, options", problem, suggest(name, form.options))
    if "strings" in form.options:
        text_columns = [name for role in (*NAMES, *SEVERAL) for name in columns.get(role, ())]
        options["strings"] = [*options.get("strings", ()), *text_columns]
    return UpstreamRows(
        paths, form, options, Roles(columns, **keep, languages=spec.languages or {})
    )


def paths_of(manifest: Path, spec: Rows, parts: Sequence[str] = (DATA,)) -> list[Path]:
    """Return the files with the rows: those acquired, or an id of `ir_datasets`, as a path.

    Raises:
        MissingFile: a source that has no part with rows; as `core.manifest.placed`.
    """
    if not parts:
        remedy = "add the files with the rows to params acquire"
        raise MissingFile(manifest, "no part but pictures and lists of splits", remedy)
    local = [Path(name) for name in listed(spec.data) if name.startswith(IR_DATASETS)]
    return local or [path for part in parts for path in placed(manifest, part)]


def shares(splits: PairSplits | None) -> dict[str, Any]:
    """Return the shares of validation and test by hash and the seed; nothing for other splits."""
    share_of = {name: getattr(splits, name, None) for name in ("validation", "test")}
    if not any(isinstance(share, int | float) for share in share_of.values()):
        return {}
    return {
        **{n: float(v or 0) for n, v in share_of.items()},
        "seed": str((splits and splits.seed) or 0),
    }


def _stage(data: UpstreamRows, rows: Path, unread: Path) -> list[pa.Field]:
    """Write the rows, and what no reader could read; return the two columns of records."""
    refused: list[Rejection] = []
    progress = Progress("rows of pairs")
    batches = named_after(data.form.read(data.paths, data.options, refused), _span)
    first = next(batches, None)
    if first is None:
        raise EmptyTable(data.paths[0], "no row", "give data with rows")
    _demand_columns(data, first.schema.names)
    schema = staged(first.slice(0, 0), data.roles).schema
    last: tuple[object, object, int] = ("", 0, 0)
    with store.grouped(rows, schema) as out:
        for batch in chain([first], batches):
            with naming(lambda: _span(batch)):  # noqa: B023 (called within the loop)
                table, last = _numbered(staged(batch, data.roles), last)
                out.add(table.cast(schema))
            progress.add(batch.num_rows)
    progress.finish()
    store.write_rows(refused, unread, REJECTED)
    _demand_share([r for r in refused if r["reason"] == UNREADABLE], store.rows_in(rows))
    fields = pq.read_schema(rows)
    return [fields.field(name) for name in ("image_own", "text_own")]


def _numbered(
    table: pa.Table, last: tuple[object, object, int]
) -> tuple[pa.Table, tuple[object, object, int]]:
    """Count `nth` over rows of one file and number that follow each other, those before as well.

    `last` is file, row and `nth` of what stands before; so are those of the end that is returned.
    """
    if not table.num_rows:
        return table, last
    files = table["file"].combine_chunks().dictionary_encode().indices.to_numpy()
    rows, at = table["row"].to_numpy(), np.arange(table.num_rows)
    begins = np.ones(table.num_rows, bool)
    begins[1:] = (files[1:] != files[:-1]) | (rows[1:] != rows[:-1])
    start = np.maximum.accumulate(np.where(begins, at, 0))
    goes_on = (table["file"][0].as_py(), table["row"][0].as_py()) == last[:2]
    numbers = at - start + np.where(start == 0, last[2] + 1, 0) * goes_on
    nth = table.schema.get_field_index("nth")
    end = (table["file"][-1].as_py(), table["row"][-1].as_py(), int(numbers[-1]))
    return table.set_column(nth, "nth", pa.array(numbers, pa.int32())), end


def _span(batch: pa.RecordBatch) -> str:
    return f"{batch[FILE][0]}, rows {batch[ROW][0]} to {batch[ROW][-1]}"


def _demand_share(refused: Sequence[Rejection], rows: int) -> None:
    if refused:
        first = refused[0]
        at = f"{first['file']}, row {first['row']}"
        demand_share(len(refused), len(refused) + rows, "records", (at, f"{first['detail']}"))


def _demand_columns(data: UpstreamRows, names: Sequence[str]) -> None:
    columns = [name for name in names if name not in (FILE, ROW)]
    for where, name in data.roles.names():
        if name not in columns:
            problem = f"no column {name!r}, which `{where}` names"
            raise MissingColumn(data.paths[0], problem, suggest(name, columns))
    roles = data.roles.columns
    if not {"image", "image_id"} & {*roles} or not {"text", "text_id"} & {*roles}:
        problem = f"columns {', '.join(columns)}, and none of them is said to be " + (
            "the text" if {"image", "image_id"} & {*roles} else "the image"
        )
        raise MissingColumn(
            data.paths[0], problem, "say which in `columns: {image: ..., text: ...}`"
        )


def _write_lists(manifest: Path | None, out: Path) -> None:
    """Write the lines of the lists of splits: split, file, row, line."""
    with store.grouped(out, _LISTED) as table:
        for split in (*SPLITS, KARPATHY):
            for path in placed_if_any(manifest, f"{LISTS}{split}") if manifest else ():
                numbered = ((split, row, line.strip()) for row, line in enumerate(lines(path), 1))
                rows = [
                    {"split": split_of_line, "file": path.name, "row": row, "line": line}
                    for split_of_line, row, line in (
                        numbered if split in SPLITS else _karpathys(path)
                    )
                    if line
                ]
                table.add(pa.Table.from_pylist(rows, schema=_LISTED))


def _karpathys(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield the pictures of Karpathy's file: split, row, and COCO's id or else the file's name."""
    for key, row, item in json_lists.items(path):
        if key == "images" and isinstance(item, dict):
            split = split_of(item.get("split"))
            if split in SPLITS:
                yield split, row, str(item.get("cocoid") or item.get("filename") or "")


def _write_groups(named: Path, out: Path, *, wanted: bool) -> None:
    """Write for each picture the first of those that hang together with it by shared texts.

    These get one split by its hash, so that no text and no picture gets into two.
    """
    both = pl.scan_parquet(named, glob=False).select("image", "text_id").drop_nulls().unique()
    names = both.select(pl.col("image").unique().sort()).collect()["image"] if wanted else []
    if not len(names):
        store.write_rows([], out, _GROUPS)
        return
    roots = _roots(both.collect(), pl.Series("image", names))
    store.write(pa.table({"image": names, "root": roots}), out, _GROUPS)


def _roots(both: pl.DataFrame, names: pl.Series) -> pl.Series:
    from scipy.sparse import coo_array  # noqa: PLC0415 (slow to import)
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415 (with it)

    images = names.to_frame("image").with_row_index("picture")
    texts = both.select(pl.col("text_id").unique().sort()).with_row_index("text")
    edges = both.join(images, on="image").join(texts, on="text_id")
    size = images.height + texts.height
    ends = (edges["picture"].to_numpy(), edges["text"].to_numpy() + images.height)
    graph = coo_array((pl.repeat(1, edges.height, eager=True).to_numpy(), ends), (size, size))
    _, labels = connected_components(graph, directed=False)
    labelled = pl.DataFrame({"name": names, "label": labels[: len(names)]})
    return labelled.select(pl.col("name").first().over("label"))["name"]


def _demand_rows(pairs: Path, rejected: Path, manifest: Path) -> None:
    if not store.rows_in(pairs):
        problem = f"no row can be used: {summary(rejected)}"
        remedy = "check `columns` and `splits` of the collection"
        raise EmptyTable(manifest.parent, problem, remedy)
