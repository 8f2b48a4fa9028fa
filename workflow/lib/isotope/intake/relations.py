"""What queries read of an acquired data set: its tables, and its lines and documents as tables."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa

from isotope.core import runs, sql, store
from isotope.core.errors import BadParams, MissingColumn
from isotope.core.faults import naming
from isotope.core.manifest import entries, parts, placed
from isotope.core.schemas import PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.intake import texts
from isotope.intake.tables import parquet_batches, parquet_file
from isotope.intake.texts import LINES, write_items, write_lines
from isotope.intake.topics import ASKED_IMAGES, ASKED_TEXTS, write_topics

JUDGEMENTS = pa.schema(
    [
        *(("file", pa.string()), ("row", pa.int64()), ("split", pa.string())),
        *((name, pa.string()) for name in ("query_id", "doc_id")),
        ("relevance", pa.int32()),
    ]
)
DOCUMENTS = pa.schema([("file", pa.string()), ("document", pa.string())])
ACQUIRED = pa.schema([("part", pa.string()), ("file", pa.string()), ("address", pa.string())])
# Relations that a data set may lack; its queries then read a table without rows.
ABSENT = {
    "judgements": JUDGEMENTS,
    "published_texts": PUBLISHED_TEXTS,
    "published_images": pa.schema([field for field in PUBLISHED_IMAGES if field.name != "image"]),
    "text_topics": LINES,
    "image_topics": LINES,
    "asked_texts": ASKED_TEXTS,
    "asked_images": ASKED_IMAGES,
}
_COLUMNS = ("text_id", "image_id", "rel")
_SPLITS = {"train": "train", "test": "test"} | dict.fromkeys(
    ("validation", "valid", "val", "dev"), "validation"
)
# TREC's judgements are of a test, though NIST's names, such as qrels.2023.t2i, do not say so.
_TREC = re.compile(r"qrels\.(?:[a-z-]+\.)?\d{4}\.(?:t2i|i2t)(?:\.(?:gz|bz2))?")
_SPLIT = re.compile(rf"(?<![a-z])(?:{'|'.join(_SPLITS)})(?![a-z])")
_ROWS = 65_536
# Topics of a track, which become two relations.
_ASKING = "asking"
_Item = TypeVar("_Item")
_Form = Callable[[Mapping[Path, str], Path], sql.Files]


def expand(manifest: Path, folder: Path) -> dict[str, sql.Files]:
    """Return the acquired parts that queries can read, a relation each; write some to `folder`.

    Parquet and csv are read as they are; `.tsv`, `.jsonl` and `.txt` as raw lines (file, row
    from 1, line without its end); `.json` as documents (file, document), or, where it is a list,
    its items as lines. Texts may be compressed: `.gz`, or a `.zip` of one file. The name of a file
    is its path below the part. Files of the part `judgements` may differ in form, see
    `write_judgements`. `asking` has topics, which become the
    relations `asked_texts` and `asked_images` (`intake.topics`). Other parts, such as pictures,
    have no relation. The relation `acquired` has the part, the path below it and the address of
    every file. A relation of ABSENT that there is no part for is an empty table.

    Raises:
        BadParams: a part whose files are not all of one form.
        CorruptFile: as `texts.lines` and `texts.items`; topics of another form.
        As `write_judgements`.
    """
    relations: dict[str, sql.Files] = {"acquired": _acquired(manifest, folder / "acquired.parquet")}
    for part in parts(manifest):
        files, name = placed(manifest, part), part.replace("-", "_")
        names = {path: path.relative_to(manifest.parent / part).as_posix() for path in files}
        if part == _ASKING:
            relations |= write_topics(names, folder)
        elif (form := _form(manifest, part, files)) is not None:
            relations[name] = form(names, folder / f"{name}.parquet")
    return {**blank(ABSENT, relations, folder), **relations}


def blank(
    schemas: Mapping[str, pa.Schema], present: Iterable[str], folder: Path
) -> dict[str, sql.Files]:
    """Write an empty table for each of the schemas whose relation is not there; return them."""
    lacking = {name: schemas[name] for name in {*schemas} - {*present}}
    for name, schema in lacking.items():
        store.write_rows([], folder / f"{name}.parquet", schema)
    return {name: folder / f"{name}.parquet" for name in lacking}


def _acquired(manifest: Path, out: Path) -> sql.Files:
    """Write ACQUIRED; a generated file has no address."""
    rows = [
        {"part": f["part"], "file": f["path"].partition("/")[2], "address": f.get("url")}
        for f in entries(manifest)
    ]
    store.write_rows(rows, out, ACQUIRED)
    return out


def _form(manifest: Path, part: str, files: Sequence[Path]) -> _Form | None:
    if part in _OF_PART:
        return _OF_PART[part]
    suffixes = {texts.suffix_of(p.name) for p in files}
    forms = {_form_of(p) for p in files}
    if len(forms) > 1:
        same = "lists and other documents" if suffixes == {".json"} else ", ".join(sorted(suffixes))
        remedy = "give each form a part of its own in params acquire"
        raise BadParams(manifest, f"part {part!r} mixes {same}", remedy)
    return forms.pop()


def _form_of(path: Path) -> _Form | None:
    suffix = texts.suffix_of(path.name)
    if suffix == ".json" and texts.is_list(path):
        return write_items
    return _FORMS.get(suffix)


def write_judgements(files: Sequence[Path], out: Path) -> Path:
    """Write JUDGEMENTS, the rows of all files in their order; return `out`.

    A Parquet file has AToMiC's columns text_id, image_id and rel; its query is the text. Anything
    else is TREC qrels, plain or gzipped, whose query may be the text or the image. `row` counts
    from 1.

    Raises:
        BadParams: a file without a split in its name or in that of its folder.
        MissingColumn: a Parquet file without one of the columns.
        CorruptFile: what is neither Parquet nor TREC qrels, with the line.
    """
    split_by_path = {path: split_of(path) for path in files}
    with store.writer(out, JUDGEMENTS) as table:
        for path, split in split_by_path.items():
            row = 1
            for piece in _read(path):
                with naming(lambda: f"{path}, the rows from {row} on"):  # noqa: B023
                    table.write_table(_numbered(piece, path, split, row))
                row += piece.num_rows
    return out


def _numbered(piece: pa.Table, path: Path, split: str, row: int) -> pa.Table:
    n = piece.num_rows
    names = (f"{path.parent.name}/{path.name}", split)
    file, splits = (pa.repeat(pa.scalar(name, pa.string()), n) for name in names)
    rows = pa.array(range(row, row + n), pa.int64())
    columns = [file, rows, splits, *(piece.column(c) for c in piece.schema.names)]
    return pa.table(columns, names=JUDGEMENTS.names).cast(JUDGEMENTS)


def split_of(path: Path) -> str:
    """Return the split in the name of a file, such as `qrels.atomic.validation.t2i.trec.gz`.

    That of a TREC track, such as `qrels.2023.t2i`, is `test`.

    Raises:
        BadParams: no split in the name, nor in that of the folder.
    """
    for name in (path.name, path.parent.name):
        match = _SPLIT.search(name.lower())
        if match:
            return _SPLITS[match[0]]
    if _TREC.fullmatch(path.name.lower()):
        return "test"
    remedy = "put train, validation or test into its name, such as validation.parquet"
    raise BadParams(path, "judgements of a split that the name does not tell", remedy)


def _read(path: Path) -> Iterator[pa.Table]:
    """Yield query_id, doc_id and relevance."""
    if path.suffix != ".parquet":
        yield runs.read_trec_qrels(path).to_arrow().select(JUDGEMENTS.names[3:])
        return
    with parquet_file(path) as file:
        names = file.schema_arrow.names
    lacking = [name for name in _COLUMNS if name not in names]
    if lacking:
        problem = f"no column {', '.join(lacking)} among {', '.join(names)}"
        raise MissingColumn(path, problem, "give qrels with text_id, image_id and rel")
    for batch in parquet_batches(path, _COLUMNS, _ROWS):
        qrels = pa.Table.from_batches([batch]).select(list(_COLUMNS))
        yield qrels.rename_columns(JUDGEMENTS.names[3:])


def _as_they_are(files: Mapping[Path, str], _: Path) -> sql.Files:
    return list(files)


def _judgements(files: Mapping[Path, str], out: Path) -> sql.Files:
    return write_judgements(list(files), out)


def _documents(files: Mapping[Path, str], out: Path) -> sql.Files:
    with store.writer(out, DOCUMENTS) as table:
        for path, file in files.items():
            row = {"file": file, "document": "".join(texts.lines(path))}
            table.write_batch(pa.RecordBatch.from_pylist([row], schema=DOCUMENTS))
    return out


_FORMS: Mapping[str, _Form] = {
    ".parquet": _as_they_are,
    ".csv": _as_they_are,
    ".tsv": write_lines,
    ".jsonl": write_lines,
    ".txt": write_lines,
    ".json": _documents,
}
_OF_PART: Mapping[str, _Form] = {"judgements": _judgements}
