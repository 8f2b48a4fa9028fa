"""What has changed between two snapshots: texts, images, judgements, and by what became of pages.

A section keeps its identity, in this order, (1) where page id and path of headings are the same,
(2) where its title is the only such one of the page on both sides: it has moved, (3) where two
share at least half of their words and more than with any other: it is renamed, (4) where it stands
between the same two sections.
"""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from isotope import tables
from isotope.core import sql
from isotope.tabulate.table import tabulate

_SQL = sql.SQL / "tabulate"
_TABLES = ("texts", "images", "qrels")


def write_changes(
    before: Mapping[str, Path], after: Mapping[str, Path], changes: Path, identities: Path
) -> None:
    """Write tables.CHANGES and tables.IDENTITIES of two collections' texts, images and qrels.

    Raises:
        MissingFile: a table that was not collected.
    """
    made: dict[str, sql.Files] = {
        f"{when}_{table}": of[table]
        for when, of in (("before", before), ("after", after))
        for table in _TABLES
    }
    kept = {"changes": (changes, tables.CHANGES), "identities": (identities, tables.IDENTITIES)}
    changes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=changes.parent, prefix=".since-") as folder:
        for step in sorted((_SQL / "since").glob("*.sql")):
            name, text = step.stem.partition("_")[2], step.read_text(encoding="utf-8")
            used = {t: path for t, path in made.items() if re.search(rf"\b{t}\b", text)}
            out, schema = kept.get(name, (Path(folder) / f"{name}.parquet", None))
            sql.query(step, used, {}, out=out, schema=schema)
            made[name] = out


def tabulate_changes(changes: Path, stems: Sequence[Path]) -> None:
    """Write `snapshot_diff` and `snapshot_survival` (csv, md, tex) of tables.CHANGES to `stems`.

    Raises:
        MissingFile: no such table.
    """
    for stem in stems:
        tabulate(_SQL / f"{stem.name}.sql", {"changes": changes}, {}, stem)
