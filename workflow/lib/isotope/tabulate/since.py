"""What has changed between two snapshots: texts, images, judgements, and by what became of pages.

A section keeps its identity, in this order, (1) where page id and path of headings are the same,
(2) where its title is the only such one of the page on both sides: it has moved, (3) where two
share at least half of their words and more than with any other: it is renamed, (4) where it stands
between the same two sections.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import MissingFile
from isotope.tabulate.table import means, tabulate
from isotope.tabulate.tables import CHANGES, IDENTITIES

_SIZES = ("texts", "images", "qrels")


def write_newest(
    collected: Mapping[str, Path], scores: Path, headline: Path, survival: Path | None, folder: Path
) -> None:
    """Write `folder`/metrics.json and, a copy of `headline`, `folder`/headline.csv.

    The numbers are the rows of `collected` (texts, images, qrels); `score`, the mean of every
    measure by setting, split, task and system; and `held`, the share of the earlier snapshot's
    judgements that still hold, by split, where `survival` (snapshot_survival.csv) is given.

    Raises:
        EmptyTable: no score at all.
        MissingFile: a table that is not there.
    """
    for path in (*collected.values(), scores, headline, *([survival] if survival else [])):
        if not path.is_file():
            raise MissingFile(path, "no such table", "run the phases collect, score and tabulate")
    told: dict[str, Any] = {name: _height(collected[name]) for name in _SIZES}
    [told["score"]] = means([scores]).values()
    if survival:
        table = pl.read_csv(survival)
        told["held"] = dict(table.select("split", "held_share").rows())
    with store.aside(folder / "metrics.json") as part:
        part.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8", newline="\n")
    with store.aside(folder / "headline.csv") as part:
        shutil.copyfile(headline, part)


def _height(table: Path) -> int:
    return int(pl.scan_parquet(table).select(pl.len()).collect().item())


_SQL = sql.SQL / "tabulate"
_TABLES = ("texts", "images", "qrels")


def write_changes(
    before: Mapping[str, Path], after: Mapping[str, Path], changes: Path, identities: Path
) -> None:
    """Write tables.CHANGES and tables.IDENTITIES of two collections' texts, images and qrels.

    Raises:
        MissingFile: a table that was not collected.
    """
    relations: dict[str, sql.Files] = {
        f"{when}_{table}": of[table]
        for when, of in (("before", before), ("after", after))
        for table in _TABLES
    }
    schemas = {"changes": CHANGES, "identities": IDENTITIES}
    identities.parent.mkdir(parents=True, exist_ok=True)
    changes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=changes.parent, prefix=".since-") as folder:
        steps = sorted((_SQL / "since/changes").glob("*.sql"))
        made = sql.run_chain(steps, relations, Path(folder), schemas=schemas)
        made["identities"].replace(identities)
        made["changes"].replace(changes)


def tabulate_changes(changes: Path, stems: Sequence[Path]) -> None:
    """Write `snapshot_diff` and `snapshot_survival` (csv, md, tex) of tables.CHANGES to `stems`.

    Raises:
        MissingFile: no such table.
    """
    for stem in stems:
        tabulate(_SQL / f"tables/{stem.name}.sql", {"changes": changes}, {}, stem)


def compare_snapshots(
    before: Sequence[Path],
    later: Sequence[Path],
    *,
    changes: Path,
    identities: Path,
    stems: Sequence[str],
) -> None:
    """Write tables.CHANGES and tables.IDENTITIES, and the two tables of changes to `stems`.

    `before` and `later` are the files texts, images and qrels of either collection.

    Raises:
        As `write_changes`.
    """
    old, new = ({path.stem: path for path in tables} for tables in (before, later))
    write_changes(old, new, changes, identities)
    tabulate_changes(changes, [Path(stem) for stem in stems])
