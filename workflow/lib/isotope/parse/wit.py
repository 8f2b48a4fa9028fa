"""WIT shards to the table of associations: every record is kept, here or among the rejected.

A thread unzips a shard and cuts it into blocks where records start; Arrow parses a block at once,
and Python's csv module the records that keep Arrow from it. Format: Srinivasan et al., WIT
(SIGIR 2021), and https://github.com/google-research-datasets/wit/blob/main/DATA.md.
"""

import csv
import io
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv
from isal import igzip, isal_zlib

from isotope.core.errors import BadParams, CorruptFile, MissingColumn, MissingFile, TruncatedFile
from isotope.core.faults import naming
from isotope.core.files import labels
from isotope.core.manifest import placed
from isotope.core.parallel import AHEAD, ahead
from isotope.core.progress import Progress, log
from isotope.core.store import UNDIVIDED, Part, gather, grouped, part_of
from isotope.core.uploads import CANONICAL, canonical_url
from isotope.schemas.acquire import WIT_COLUMNS
from isotope.schemas.parse import ASSOCIATIONS, REJECTED

_SPLITS = {"train": "train", "val": "validation", "validation": "validation", "test": "test"}
_WIT = pa.schema([ASSOCIATIONS.field(name) for name in WIT_COLUMNS])
_TRUE, _FALSE = ["true", "True", "TRUE", "1"], ["false", "False", "FALSE", "0"]
_BOOLS = {**dict.fromkeys(_TRUE, True), **dict.fromkeys(_FALSE, False), "": None}
_INT32_MAX = 2**31 - 1
_PLAIN_URLS = pc.MatchSubstringOptions(f"^(?:{CANONICAL})$")
_TAB, _AT_A_TIME = ord("\t"), 1 << 20
_PARSE = pacsv.ParseOptions(delimiter="\t", newlines_in_values=True)
_CONVERT = pacsv.ConvertOptions(
    column_types=_WIT,
    include_columns=list(WIT_COLUMNS),
    null_values=[""],
    true_values=_TRUE,
    false_values=_FALSE,
)
# Small enough that memory just freed is used again: touching new pages costs as much as parsing.
READ_BYTES = 1 << 18
BLOCK_BYTES = 4 << 20
_TAIL_BYTES = 1 << 14
HEADER_LIMIT_BYTES = 1 << 20
RECORD_LIMIT_BYTES = 256 << 20
# A block in use, those ahead of it, and the beginning of the next.
_BUFFERS = 1 + AHEAD + 1
_AGAIN = "download the file again and compare its size with the published one"
# ASSUME a language code and a web address at these columns mark the start of a record; WIT's
# description does not say how quoted lines go on.
_ANY = rb"[^\t\n]*"
_ANCHORS = {
    "language": rb"[a-z][A-Za-z-]{1,19}",
    "page_url": rb"https?://[^\t\n]*",
    "image_url": rb"https?://[^\t\n]*",
}


def parse_source(*, manifest: Path, associations: Path, rejected: Path, part: Part) -> None:
    """Parse part (i, n) of the acquired part `wit`: see `parse_wit`."""
    parse_wit(placed(manifest, "wit"), out=associations, rejected=rejected, part=part)


def parse_wit(files: Sequence[Path], *, out: Path, rejected: Path, part: Part = UNDIVIDED) -> None:
    """Read WIT shards (`.tsv.gz` or `.tsv`) in order, unzipped, parsed and written in threads.

    Memory is bounded by some blocks of 4 MiB and two row groups. Of the files, part (i, n) of n
    slices is read; the parts' tables are those of the whole in turn.

    `out` gets `schemas.ASSOCIATIONS`: WIT's columns (found by header name; missing numbers and
    truth values are null, missing texts empty), the split that the file name says, the file's
    name and the 1-based record number. `rejected` gets `schemas.REJECTED`, raw text included, with
    one of the reasons unclosed_quote, wrong_field_count, bad_number, bad_boolean, bad_url,
    bad_encoding. Rows equal those of Python's csv module.

    Raises:
        MissingFile: no shards given, or one that is not there.
        BadParams: a file name without a split.
        MissingColumn: a header without one of the 17 columns.
        TruncatedFile, CorruptFile: a damaged shard; nothing is written.
    """
    if not files:
        raise MissingFile("wit", "no shards", "name at least one WIT .tsv.gz file in the params")
    splits = [split_of(path) for path in files]
    shards = list(zip(files, splits, strict=True))
    names = labels([Path(path) for path in files])
    reasons: Counter[str] = Counter()
    progress = Progress("WIT records")
    with grouped(out, ASSOCIATIONS) as good, grouped(rejected, REJECTED) as bad:
        for path, split in part_of(shards, part):
            for associations, rejects in ahead(
                _parse_shard(Shard(Path(path), label=names[Path(path)]), split)
            ):
                progress.add(len(associations) + len(rejects))
                good.add(associations)
                if rejects:
                    bad.add(pa.Table.from_pylist(rejects, schema=REJECTED))
                reasons.update(str(row["reason"]) for row in rejects)
    progress.finish()
    log.info("WIT: %d records, %d rejected %s", progress.done, reasons.total(), dict(reasons))


def gather_parts(pieces: Mapping[str, Sequence[Path]], outputs: Mapping[str, Path]) -> None:
    """Write the tables of all parts of `parse_wit` in their order: associations and rejected."""
    good = gather(pieces["associations"], outputs["associations"], ASSOCIATIONS)
    bad = gather(pieces["rejected"], outputs["rejected"], REJECTED)
    log.info("WIT: %d records, %d rejected", good + bad, bad)


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


@dataclass
class Shard:
    """A shard being read: its header, the pattern that starts a record, and the position."""

    path: Path
    at_byte: int = 0
    rows: int = 0
    columns: list[str] = field(default_factory=list[str])
    start: re.Pattern[bytes] = re.compile(b"")
    label: str = ""

    def __post_init__(self) -> None:
        """Take the file's name as the label unless there is one."""
        self.label = self.label or self.path.name

    def damage(self, kind: type[CorruptFile] | type[TruncatedFile], damage_found: str) -> Exception:
        """Return the error that says how far the shard could be read."""
        problem = f"{damage_found} at byte {self.at_byte:,} after {self.rows:,} records"
        return kind(self.path, problem, _AGAIN)

    def blocks(self) -> Iterator[memoryview]:
        """Yield pieces of about 4 MiB, each one or more whole records, header left out.

        A thread unzips and cuts the next ones while one is in use.

        Raises:
            MissingFile: no such file.
            MissingColumn: the header lacks one of WIT's 17 columns.
            TruncatedFile, CorruptFile: the gzip stream ends early or is damaged.
        """
        try:
            for at, block in ahead(self._cut()):
                self.at_byte = at
                yield block
        except _Damage as damage:
            kind, fault, self.at_byte = damage.args
            raise self.damage(kind, fault) from damage

    def _cut(self) -> Iterator[tuple[int, memoryview]]:
        source = self._plain()
        at, remainder = self._read_header(source)
        buffers, enough = BlockBuffers(BLOCK_BYTES + READ_BYTES), BLOCK_BYTES
        buffers.add(remainder)
        for at, piece in source:
            buffers.add(piece)
            if buffers.size >= enough:
                cut = self._last_start(buffers.content(), at)
                if cut:
                    yield at, buffers.take(cut)
                enough = BLOCK_BYTES if cut else 2 * buffers.size
        if bytes(buffers.content()).strip(b"\r\n"):
            yield at, buffers.take(buffers.size)

    def _last_start(self, block: memoryview, at: int) -> int:
        reach = _TAIL_BYTES
        while reach < 4 * len(block):
            starts = list(self.start.finditer(block, max(len(block) - reach, 0)))
            if starts:
                return starts[-1].start() + 1
            reach *= 4
        if len(block) > RECORD_LIMIT_BYTES:
            raise _Damage(CorruptFile, f"no record start in {len(block):,} bytes", at)
        return 0

    def _read_header(self, source: Iterator[tuple[int, bytes]]) -> tuple[int, bytes]:
        at, head = 0, b""
        while b"\n" not in head and len(head) < HEADER_LIMIT_BYTES:
            at, piece = next(source, (at, None))
            if piece is None:
                break
            head += piece
        if not head:
            raise _Damage(TruncatedFile, "no header: the file is empty", at)
        line, _, remainder = head.partition(b"\n")
        text = line.decode("utf-8-sig", "backslashreplace").rstrip("\r")
        self.columns = [name.strip('"') for name in text.split("\t")]
        self._check_columns()
        self.start = _start_pattern(self.columns)
        return at, remainder

    def _check_columns(self) -> None:
        missing = [name for name in WIT_COLUMNS if name not in self.columns]
        if missing:
            problem = f"no column {', '.join(missing)} among {', '.join(self.columns)[:500]}"
            remedy = "give a WIT shard with a header and all 17 columns"
            raise MissingColumn(self.path, problem, remedy)
        if len(set(self.columns)) < len(self.columns):
            problem = f"a column twice in {', '.join(self.columns)[:500]}"
            raise CorruptFile(
                self.path, problem, "give a shard whose header names each column once"
            )

    def _plain(self) -> Iterator[tuple[int, bytes]]:
        if not self.path.is_file():
            raise MissingFile(self.path, "no such file", "check the path, or run `acquire` first")
        with self.path.open("rb") as file:
            zipped = file.peek(2)[:2] == b"\x1f\x8b"
            if not zipped and self.path.suffix == ".gz" and file.peek(1):
                raise _Damage(CorruptFile, "not a gzip file", 0)
            source = igzip.IGzipFile(fileobj=file, mode="rb") if zipped else file
            try:
                while piece := source.read(READ_BYTES):
                    yield file.tell(), piece
            except EOFError as error:
                fault = "the gzip stream ends before its end mark"
                raise _Damage(TruncatedFile, fault, file.tell()) from error
            except (igzip.BadGzipFile, isal_zlib.error) as error:  # pyright: ignore[reportGeneralTypeIssues]
                fault = f"damaged gzip data ({error})"
                raise _Damage(CorruptFile, fault, file.tell()) from error


class _Damage(Exception):
    """Damage of a shard met while reading ahead: kind of error, description, byte."""


def _start_pattern(columns: list[str]) -> re.Pattern[bytes]:
    """Match a newline before the columns up to and including the second of the anchors."""
    last = sorted(columns.index(name) for name in _ANCHORS)[1]
    cells = [_ANCHORS.get(name, _ANY) for name in columns[: last + 1]]
    return re.compile(rb"\n(?=" + rb"\t".join(cells) + rb"(?:\t|\r?\n|$))")


class BlockBuffers:
    """Buffers filled in turn: a block stays as it is while `parallel.ahead` makes others."""

    def __init__(self, most: int) -> None:
        """Start empty; a block of more than `most` bytes enlarges its buffer."""
        self._buffers = deque(np.empty(most, np.uint8) for _ in range(_BUFFERS))
        self.size = 0

    def add(self, piece: bytes | memoryview) -> None:
        """Append bytes to the present block."""
        end = self.size + len(piece)
        if end > len(self._buffers[0]):
            more = np.empty(2 * end, np.uint8)
            more[: self.size] = self._buffers[0][: self.size]
            self._buffers[0] = more
        self._buffers[0].data[self.size : end] = piece
        self.size = end

    def content(self) -> memoryview:
        """Return the bytes of the present block."""
        return self._buffers[0].data[: self.size]

    def take(self, cut: int) -> memoryview:
        """Return the first `cut` bytes; the next block begins with the others."""
        block = self.content()
        self._buffers.rotate(-1)
        self.size = 0
        self.add(block[cut:])
        return block[:cut]


def _parse_shard(shard: Shard, split: str) -> Iterator[tuple[pa.Table, list[dict[str, object]]]]:
    labels_of_shard = {"split": _scalar(split), "file": _scalar(shard.label)}
    for block in shard.blocks():
        records = parse_block(block, shard)
        table = pa.concat_tables(records.good) if records.good else None
        yield (
            _labelled(table, labels_of_shard) if table else ASSOCIATIONS.empty_table(),
            records.bad,
        )
    log.info("%s: %d records", shard.label, shard.rows)


def _labelled(table: pa.Table, labels_of_shard: dict[str, pa.Scalar]) -> pa.Table:
    table = _with_canonical_urls(table)
    for name, label in labels_of_shard.items():
        table = table.append_column(name, pa.repeat(label, len(table)))
    return table.select(ASSOCIATIONS.names)


def _with_canonical_urls(table: pa.Table) -> pa.Table:
    """Return rows whose `image_url` is the canonical address of a file of Wikimedia's."""
    urls = table["image_url"]
    plain = pc.call_function("match_substring_regex", [urls], _PLAIN_URLS)
    if pc.call_function("all", [plain]).as_py():
        return table
    column = table.schema.get_field_index("image_url")
    canonical = [canonical_url(url) for url in urls.to_pylist()]
    return table.set_column(column, "image_url", _strings(canonical))


def _scalar(text: str) -> pa.Scalar:
    return _strings([text])[0]


def _strings(texts: Sequence[str]) -> pa.Array:
    # `pa.scalar`, like `pa.array`, imports pandas first: as long as parsing 50,000 records takes.
    encoded = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers)


@dataclass
class WitRecords:
    """Records of a block in file order: good ones as tables with a `row` column, bad ones kept."""

    good: list[pa.Table] = field(default_factory=list[pa.Table])
    bad: list[dict[str, object]] = field(default_factory=list[dict[str, object]])


def parse_block(block: memoryview, shard: Shard) -> WitRecords:
    """Parse whole records; every one ends in `good` or in `bad`, and `shard.rows` counts both.

    The rows equal those of Python's csv module with a tab for delimiter, record by record: an
    unclosed quote can't reach into its neighbours.
    """
    records = WitRecords()
    table = _parse_fast(block, shard)
    if table is not None:
        records.good.append(_numbered(table, shard))
    else:
        _bisect(block, shard, records)
    return records


def _bisect(block: memoryview, shard: Shard, records: WitRecords) -> None:
    """Halve a block until only the records that Arrow can't parse are parsed one by one."""
    starts = [0, *(m.start() + 1 for m in shard.start.finditer(block)), len(block)]
    pending = [(0, len(starts) - 1)]
    while pending:
        first, last = pending.pop()
        part = block[starts[first] : starts[last]]
        table = _parse_fast(part, shard)
        if table is not None:
            records.good.append(_numbered(table, shard))
        elif last - first == 1:
            _parse_slow(bytes(part), shard, records)
        else:
            middle = (first + last) // 2
            pending += [(middle, last), (first, middle)]


def _numbered(table: pa.Table, shard: Shard) -> pa.Table:
    rows = np.arange(shard.rows + 1, shard.rows + 1 + len(table), dtype=np.int64)
    shard.rows += len(table)
    # `pa.array` imports pandas first: as long as parsing 50,000 records takes.
    buffers = [None, pa.py_buffer(rows)]
    return table.append_column("row", pa.Array.from_buffers(pa.int64(), len(rows), buffers))


def _parse_fast(part: memoryview, shard: Shard) -> pa.Table | None:
    """Parse with Arrow; None if a row swallows another, or the sentinel is not the last row."""
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


def _parse_slow(raw: bytes, shard: Shard, records: WitRecords) -> None:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        text = raw.decode("utf-8", "backslashreplace")
        _reject(text, ("bad_encoding", str(error)), shard, records)
        return
    for cells, lines in _csv_rows(text):
        with naming(lambda: f"{shard.label}, row {shard.rows + 1}"):
            _add_row(cells, lines, shard, records)


def _add_row(cells: list[str], lines: str, shard: Shard, records: WitRecords) -> None:
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
    lines: list[str] = []

    def tee() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line

    for cells in csv.reader(tee(), delimiter="\t"):
        if cells:
            yield cells, "".join(lines)
        lines.clear()


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


def _reject(raw: str, fault: tuple[str, str], shard: Shard, records: WitRecords) -> None:
    shard.rows += 1
    reason, detail = fault
    records.bad.append(
        {"file": shard.label, "row": shard.rows, "reason": reason, "detail": detail, "raw": raw}
    )
