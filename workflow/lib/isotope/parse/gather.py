"""The shards of a parsed dump become its tables."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from isotope import tables
from isotope.core import store
from isotope.core.gathered import gather
from isotope.core.progress import log
from isotope.parse.dump import PAGES

_TABLES = {
    "sections": tables.SECTIONS,
    "links": tables.LINKS,
    "rejected": tables.REJECTED,
    "infoboxes": tables.INFOBOXES,
    "pictures": tables.PICTURES,
}


def gather_dump(parts: Mapping[str, Sequence[Path]], out: Mapping[str, Path]) -> None:
    """Write the tables and counts of all shards of `dump.parse_dump`.

    A rejected page's row, its ordinal in its file, goes on from the shard before.
    """
    told = [json.loads(path.read_text("utf-8")) for path in parts["counts"]]
    before = [Counter[str]()]
    for counts in told:
        before.append(before[-1] + Counter(counts.pop(PAGES, {})))

    def numbered(part: int, rows: pa.Table) -> pa.Table:
        row = [
            r + before[part][f]
            for r, f in zip(rows["row"].to_pylist(), rows["file"].to_pylist(), strict=True)
        ]
        at = rows.schema.get_field_index("row")
        return rows.set_column(
            at, rows.schema.field(at), [pa.array(row, rows.schema.field(at).type)]
        )

    for name, schema in _TABLES.items():
        mended = {"mend": numbered} if name == "rejected" else {}
        gather(parts[name], out[name], schema, **mended)
    sums = {name: sum(counts[name] for counts in told) for name in told[0]}
    with store.aside(out["counts"]) as part:
        part.write_text(json.dumps(sums, indent=2) + "\n", "utf-8")
    log.info("dump: %s", sums)
