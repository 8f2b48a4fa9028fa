"""What a collection's queries read: tables, and the lines and documents of an acquired data set."""

import gzip
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa

from isotope import sql, store, tables
from isotope.acquire import parts, placed
from isotope.collect_judgements import write_judgements
from isotope.errors import BadParams, CorruptFile
from isotope.release_parquet import IMAGES, TEXTS

LINES = pa.schema([("file", pa.string()), ("row", pa.int64()), ("line", pa.string())])
DOCUMENTS = pa.schema([("file", pa.string()), ("document", pa.string())])
# What a data set may come without; its queries then see a table without rows.
ABSENT = {
    "urls": tables.URLS,
    "ledger": tables.LEDGER,
    "attributions": tables.ATTRIBUTIONS,
    "published_texts": TEXTS,
    "published_images": pa.schema([field for field in IMAGES if field.name != "image"]),
    "text_topics": LINES,
    "image_topics": LINES,
    "karpathy": DOCUMENTS,
    "ids": LINES,
}
_ROWS = 65_536
_Item = TypeVar("_Item")
_Form = Callable[[Mapping[Path, str], Path], sql.Files]


def expand(inputs: Mapping[str, sql.Files], folder: Path) -> dict[str, sql.Files]:
    """Return the relations of a collection's queries; converted ones are written to `folder`.

    An input called `manifest` stands for the acquired parts that queries can read, one relation
    each: Parquet and csv as they are; `.tsv`, `.jsonl` and `.txt` (also `.gz`) as raw lines (file,
    row from 1, line without its end); `.json` as documents (file, document). A file is called by
    its path below the part. Those of the part `judgements` may differ in form, see
    `collect_judgements`. Other parts, such as pictures, are passed over. Of ABSENT, what is not
    given is an empty table.

    Raises:
        BadParams: a part whose files are not all of one form.
        CorruptFile: a text that is not UTF-8, or a gzip that ends early.
        As `collect_judgements.write_judgements`.
    """
    found = {name: files for name, files in inputs.items() if name != "manifest"}
    if "manifest" in inputs:
        manifest = Path(cast(str, inputs["manifest"]))
        for part in parts(manifest):
            files, name = placed(manifest, part), part.replace("-", "_")
            form = _judgements if part == "judgements" else _form(manifest, part, files)
            if form is not None:
                named = {
                    path: path.relative_to(manifest.parent / part).as_posix() for path in files
                }
                found[name] = form(named, folder / f"{name}.parquet")
        for name in ABSENT.keys() - found.keys():
            store.write_rows([], folder / f"{name}.parquet", ABSENT[name])
            found[name] = folder / f"{name}.parquet"
    return found


def _form(manifest: Path, part: str, files: Sequence[Path]) -> _Form | None:
    suffixes = {Path(p.name.removesuffix(".gz")).suffix for p in files}
    forms = {_FORMS.get(s) for s in suffixes}
    if len(forms) > 1:
        found = f"part {part!r} mixes {', '.join(sorted(suffixes))}"
        raise BadParams(manifest, found, "give each form a part of its own in params acquire")
    return forms.pop()


def _as_they_are(files: Mapping[Path, str], _: Path) -> sql.Files:
    return list(files)


def _judgements(files: Mapping[Path, str], out: Path) -> sql.Files:
    return write_judgements(list(files), out)


def _lines(files: Mapping[Path, str], out: Path) -> sql.Files:
    with store.writer(out, LINES) as table:
        for path, file in files.items():
            numbered = enumerate(_text(path), 1)
            for rows in _batches((file, n, line.rstrip("\r\n")) for n, line in numbered):
                columns = [pa.array(c) for c in zip(*rows, strict=True)]
                table.write_batch(pa.RecordBatch.from_arrays(columns, schema=LINES))
    return out


def _documents(files: Mapping[Path, str], out: Path) -> sql.Files:
    with store.writer(out, DOCUMENTS) as table:
        for path, file in files.items():
            row = {"file": file, "document": "".join(_text(path))}
            table.write_batch(pa.RecordBatch.from_pylist([row], schema=DOCUMENTS))
    return out


def _text(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, ends included; only a newline ends a line."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for row, line in enumerate(file, 1):
                yield _decoded(path, row, line)
    except (EOFError, gzip.BadGzipFile) as error:
        raise CorruptFile(path, f"gzip ends early: {error}", _MEND) from error


def _decoded(path: Path, row: int, line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CorruptFile(f"{path}, row {row}", f"not UTF-8: {error.reason}", _MEND) from error


def _batches(rows: Iterator[_Item]) -> Iterator[list[_Item]]:
    while some := list(islice(rows, _ROWS)):
        yield some


_MEND = "replace it upstream, delete the manifest, and run again"
_FORMS: Mapping[str, _Form] = {
    ".parquet": _as_they_are,
    ".csv": _as_they_are,
    ".tsv": _lines,
    ".jsonl": _lines,
    ".txt": _lines,
    ".json": _documents,
}
