"""WIT shards to the table of associations: every record is kept, here or among the rejected."""

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from isotope.acquire.manifest import placed
from isotope.core.errors import BadParams, MissingFile
from isotope.core.files import labels
from isotope.core.parallel import ahead
from isotope.core.progress import Progress, log
from isotope.core.store import WHOLE, Part, gather, grouped, part_of
from isotope.parse.tables import ASSOCIATIONS, REJECTED, WIT_COLUMNS
from isotope.parse.wit_blocks import Shard

_WIT = pa.schema([ASSOCIATIONS.field(name) for name in WIT_COLUMNS])
_TRUE, _FALSE = ["true", "True", "TRUE", "1"], ["false", "False", "FALSE", "0"]
_BOOLS = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False), "": None}
_INT32_MAX = 2**31 - 1
_TAB, _AT_A_TIME = ord("\t"), 1 << 20
_PARSE = pacsv.ParseOptions(delimiter="\t", newlines_in_values=True)
_CONVERT = pacsv.ConvertOptions(
    column_types=_WIT,
    include_columns=list(WIT_COLUMNS),
    null_values=[""],
    true_values=_TRUE,
    false_values=_FALSE,
)


@dataclass
class Records:
    """Records of a block in file order: good ones as tables with a `row` column, bad ones kept."""

    good: list[pa.Table] = field(default_factory=list[pa.Table])
    bad: list[dict[str, object]] = field(default_factory=list[dict[str, object]])


def parse_block(block: memoryview, shard: Shard) -> Records:
    """Parse whole records; every one ends in `good` or in `bad`, and `shard.rows` counts both.

    The rows equal those of Python's csv module with a tab for delimiter, record by record: an
    unclosed quote can't reach into its neighbours.
    """
    records = Records()
    table = _fast(block, shard)
    if table is not None:
        records.good.append(_numbered(table, shard))
    else:
        _halves(block, shard, records)
    return records


def _halves(block: memoryview, shard: Shard, records: Records) -> None:
    """Find what keeps a block from being read at once; records before and after it are read so."""
    starts = [0, *(m.start() + 1 for m in shard.start.finditer(block)), len(block)]
    pending = [(0, len(starts) - 1)]
    while pending:
        first, last = pending.pop()
        part = block[starts[first] : starts[last]]
        table = _fast(part, shard)
        if table is not None:
            records.good.append(_numbered(table, shard))
        elif last - first == 1:
            _slow(bytes(part), shard, records)
        else:
            middle = (first + last) // 2
            pending += [(middle, last), (first, middle)]


def _numbered(table: pa.Table, shard: Shard) -> pa.Table:
    rows = np.arange(shard.rows + 1, shard.rows + 1 + len(table), dtype=np.int64)
    shard.rows += len(table)
    # `pa.array` imports pandas first: as long as parsing 50,000 records takes.
    held = [None, pa.py_buffer(rows)]
    return table.append_column("row", pa.Array.from_buffers(pa.int64(), len(rows), held))


def _fast(part: memoryview, shard: Shard) -> pa.Table | None:
    """Parse with Arrow; None unless no row swallows another, and the sentinel comes out last."""
    sentinel = "\t".join("http://end" if c == "page_url" else "" for c in shard.columns)
    end = b"" if bytes(part[-1:]) == b"\n" else b"\n"
    data = b"".join([part, end, sentinel.encode(), b"\n"])
    read = pacsv.ReadOptions(
        column_names=shard.columns, block_size=len(data) + 1, use_threads=False
    )
    source = pa.BufferReader(data)
    try:
        table = pacsv.read_csv(
            source, read_options=read, parse_options=_PARSE, convert_options=_CONVERT
        )
    except pa.ArrowInvalid:
        return None
    urls, rows = table["page_url"], len(table) - 1
    if _swallows(part, rows, shard) or urls[-1].as_py() != "http://end":
        return None
    starts = pc.call_function("starts_with", [urls], pc.MatchSubstringOptions("http"))
    return table.slice(0, rows) if pc.call_function("all", [starts]).as_py() else None


def _swallows(part: memoryview, rows: int, shard: Shard) -> bool:
    """Tell whether a cell holds the start of another record, which has a tab within.

    Starts are looked for only where tabs are more than the borders of the cells: that is rare, and
    counting tabs is ten times as fast.
    """
    codes = np.frombuffer(part, np.uint8)
    pieces = (codes[at : at + _AT_A_TIME] for at in range(0, len(codes), _AT_A_TIME))
    tabs = sum(int(np.count_nonzero(piece == _TAB)) for piece in pieces)
    borders = rows * (len(shard.columns) - 1)
    return tabs != borders and 1 + sum(1 for _ in shard.start.finditer(part)) != rows


def _slow(raw: bytes, shard: Shard, records: Records) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        kept = raw.decode("utf-8", "backslashreplace")
        _reject(kept, ("bad_encoding", str(error)), shard, records)
        return
    for cells, lines in _csv_rows(text):
        row = dict(zip(shard.columns, cells, strict=False))
        fault = _fault(cells, lines, shard.columns) or _bad_value(row)
        if fault:
            _reject(lines, fault, shard, records)
        else:
            table = pa.Table.from_pylist([_typed(row)], schema=_WIT)
            records.good.append(_numbered(table, shard))


def _csv_rows(text: str) -> Iterator[tuple[list[str], str]]:
    """Yield the cells of each row, and the text they were read from."""
    csv.field_size_limit(sys.maxsize)
    taken: list[str] = []

    def tee() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            taken.append(line)
            yield line

    for cells in csv.reader(tee(), delimiter="\t"):
        if cells:
            yield cells, "".join(taken)
        taken.clear()


def _fault(cells: list[str], lines: str, columns: list[str]) -> tuple[str, str] | None:
    """Name what is wrong with the shape of a row."""
    probe = list(csv.reader(io.StringIO(lines.rstrip("\r\n") + "\n\0", newline=""), delimiter="\t"))
    if probe[-1:] != [["\0"]]:
        return "unclosed_quote", f"{lines.count(chr(9)) + 1} fields when split at tabs"
    if len(cells) != len(columns):
        return "wrong_field_count", f"{len(cells)} fields, not {len(columns)}"
    return None


def _bad_value(row: dict[str, str]) -> tuple[str, str] | None:
    for name, kind in zip(_WIT.names, _WIT.types, strict=True):
        value = row[name]
        if pa.types.is_boolean(kind) and value not in _BOOLS:
            return "bad_boolean", f"{name}: {value[:80]!r}"
        if pa.types.is_integer(kind) and value and not _is_int32(value):
            return "bad_number", f"{name}: {value[:80]!r}"
    url = row["page_url"]
    return None if url.startswith("http") else ("bad_url", f"page_url: {url[:80]!r}")


def _is_int32(value: str) -> bool:
    return bool(re.fullmatch(r"-?[0-9]{1,10}", value)) and abs(int(value)) <= _INT32_MAX


def _typed(row: dict[str, str]) -> dict[str, object]:
    typed: dict[str, object] = {}
    for name, kind in zip(_WIT.names, _WIT.types, strict=True):
        if pa.types.is_boolean(kind):
            typed[name] = _BOOLS[row[name]]
        elif pa.types.is_integer(kind):
            typed[name] = int(row[name]) if row[name] else None
        else:
            typed[name] = row[name]
    return typed


def _reject(raw: str, fault: tuple[str, str], shard: Shard, records: Records) -> None:
    shard.rows += 1
    reason, detail = fault
    records.bad.append(
        {"file": shard.label, "row": shard.rows, "reason": reason, "detail": detail, "raw": raw}
    )


_SPLITS = {"train": "train", "val": "validation", "validation": "validation", "test": "test"}


def parse_wit(files: Sequence[Path], *, out: Path, rejected: Path, part: Part = WHOLE) -> None:
    """Read WIT shards (`.tsv.gz` or `.tsv`) in order, unzipped, parsed and written in threads.

    Memory is bounded by some blocks of 4 MiB and two row groups. Of the files, part (i, n) of n
    slices is read; the parts' tables are those of the whole in turn.

    `out` gets `tables.ASSOCIATIONS`: WIT's columns (found by header name; missing numbers and
    truth values are null, missing texts empty), the split that the file name says, the file's
    name and the 1-based record number. `rejected` gets `tables.REJECTED`, raw text included, with
    one of the reasons unclosed_quote, wrong_field_count, bad_number, bad_boolean, bad_url,
    bad_encoding. Rows equal those of Python's csv module. Format: Srinivasan et al., WIT
    (SIGIR 2021), and https://github.com/google-research-datasets/wit/blob/main/DATA.md.

    Raises:
        MissingFile: no shards given, or one that is not there.
        BadParams: a file name that does not tell its split.
        MissingColumn: a header without one of the 17 columns.
        TruncatedFile, CorruptFile: a damaged shard; nothing is written.
    """
    if not files:
        raise MissingFile("wit", "no shards", "name at least one WIT .tsv.gz file in the params")
    splits = [split_of(path) for path in files]
    own = list(zip(files, splits, strict=True))
    named = labels([Path(path) for path in files])
    reasons: Counter[str] = Counter()
    progress = Progress("WIT records")
    with grouped(out, ASSOCIATIONS) as good, grouped(rejected, REJECTED) as bad:
        for path, split in part_of(own, part):
            for associations, rejects in ahead(
                _parse_shard(Shard(Path(path), label=named[Path(path)]), split)
            ):
                progress.add(len(associations) + len(rejects))
                good.add(associations)
                if rejects:
                    bad.add(pa.Table.from_pylist(rejects, schema=REJECTED))
                reasons.update(str(row["reason"]) for row in rejects)
    progress.finish()
    log.info("WIT: %d records, %d rejected %s", progress.done, reasons.total(), dict(reasons))


def split_of(path: Path) -> str:
    """Tell the split from a shard's name, e.g. `wit_v1.val.all-00000-of-00005.tsv.gz`.

    Raises:
        BadParams: no part of the name says train, val(idation) or test.
    """
    for part in re.split(r"[._-]", Path(path).name):
        if part in _SPLITS:
            return _SPLITS[part]
    remedy = "rename it as wit_v1.{train,val,test}.NAME.tsv.gz"
    raise BadParams(path, "its name tells no split", remedy)


def _parse_shard(shard: Shard, split: str) -> Iterator[tuple[pa.Table, list[dict[str, object]]]]:
    own = {"split": _scalar(split), "file": _scalar(shard.label)}
    for block in shard.blocks():
        records = parse_block(block, shard)
        found = pa.concat_tables(records.good) if records.good else None
        yield _labelled(found, own) if found else ASSOCIATIONS.empty_table(), records.bad
    log.info("%s: %d records", shard.label, shard.rows)


def _labelled(table: pa.Table, own: dict[str, pa.Scalar]) -> pa.Table:
    for name, label in own.items():
        table = table.append_column(name, pa.repeat(label, len(table)))
    return table.select(ASSOCIATIONS.names)


def _scalar(text: str) -> pa.Scalar:
    # `pa.scalar`, like `pa.array`, imports pandas first: as long as parsing 50,000 records takes.
    data = text.encode()
    held = [None, pa.py_buffer(np.array([0, len(data)], np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), 1, held)[0]


def parse_source(*, manifest: Path, associations: Path, rejected: Path, part: Part) -> None:
    """Parse part (i, n) of the acquired part `wit`: see `parse_wit`."""
    parse_wit(placed(manifest, "wit"), out=associations, rejected=rejected, part=part)


def gather_parts(pieces: Mapping[str, Sequence[Path]], outputs: Mapping[str, Path]) -> None:
    """Write the tables of all parts of `parse_wit` in their order: associations and rejected."""
    good = gather(pieces["associations"], outputs["associations"], ASSOCIATIONS)
    bad = gather(pieces["rejected"], outputs["rejected"], REJECTED)
    log.info("WIT: %d records, %d rejected", good + bad, bad)
