"""What others load: a collection as Parquet, TREC files, JSON lines and Croissant."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from isotope.core import sql, store
from isotope.release.croissant import CITATION, LICENCE, write_croissant
from isotope.release.parquet import write_parquet
from isotope.release.trec import write_jsonl, write_trec
from isotope.tabulate.table import rows

_README = """# {name}

Texts are sections of Wikipedia ({licence}). Every image keeps its own licence; what its
attribution captions say of it is in `attributions.parquet`, and where they say nothing it is
`unknown`: ask its page before reuse.

| licence | images |
| --- | --- |
{licences}

Please cite: {citation}
"""


def build(  # noqa: PLR0913
    *,
    collection: str,
    language: str,
    systems: Mapping[str, object],
    collected: Path,
    runs: Sequence[Path],
    shards: Sequence[Path],
    out: Path,
) -> None:
    """Fill the folder `out`; it appears when complete. Same input, same bytes.

    Raises:
        MissingFile, CorruptFile: a table, run or shard that is not there or not readable.
        DiskFull: no room for it.
    """
    with store.folder_aside(out) as part:
        write_parquet(collected, shards, part)
        write_trec(collected, runs, part, {"collection": collection, "systems": dict(systems)})
        write_jsonl(collected, part, language)
        write_croissant(collection, part)
        (part / "README.md").write_text(_readme(collection, part), encoding="utf-8")


def _readme(name: str, part: Path) -> str:
    told = {"attributions": part / "attributions.parquet"}
    counts = rows(sql.SQL / "release/licences.sql", told, {}).rows()
    lines = "\n".join(f"| {licence} | {n:,} |" for licence, n in counts)
    return _README.format(name=name, licence=LICENCE, licences=lines, citation=CITATION)
