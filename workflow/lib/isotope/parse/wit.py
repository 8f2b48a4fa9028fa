"""WIT shards to the table of associations: every record is kept, here or among the rejected."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from isotope import tables
from isotope.core.errors import BadParams, MissingFile
from isotope.core.file_labels import labels
from isotope.core.parallel import ahead
from isotope.core.progress import Progress, log
from isotope.core.row_groups import grouped
from isotope.core.shards import WHOLE, Part, part_of
from isotope.parse.wit_blocks import Shard
from isotope.parse.wit_records import parse_block

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
    with grouped(out, tables.ASSOCIATIONS) as good, grouped(rejected, tables.REJECTED) as bad:
        for path, split in part_of(own, part):
            for associations, rejects in ahead(
                _parse_shard(Shard(Path(path), label=named[Path(path)]), split)
            ):
                progress.add(len(associations) + len(rejects))
                good.add(associations)
                if rejects:
                    bad.add(pa.Table.from_pylist(rejects, schema=tables.REJECTED))
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
        yield _labelled(found, own) if found else tables.ASSOCIATIONS.empty_table(), records.bad
    log.info("%s: %d records", shard.label, shard.rows)


def _labelled(table: pa.Table, own: dict[str, pa.Scalar]) -> pa.Table:
    for name, label in own.items():
        table = table.append_column(name, pa.repeat(label, len(table)))
    return table.select(tables.ASSOCIATIONS.names)


def _scalar(text: str) -> pa.Scalar:
    # `pa.scalar`, like `pa.array`, imports pandas first: as long as parsing 50,000 records takes.
    data = text.encode()
    held = [None, pa.py_buffer(np.array([0, len(data)], np.int32)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), 1, held)[0]
