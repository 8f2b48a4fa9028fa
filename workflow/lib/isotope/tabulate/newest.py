"""What `dvc metrics diff` and `dvc plots diff` compare two revisions by: the newest collection.

Its file has one name whatever the collection is called, so two revisions can be compared though
each month's collection has a name of its own.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.tabulate.table import means

_SIZES = ("texts", "images", "qrels")


def write_newest(
    collected: Mapping[str, Path], scores: Path, headline: Path, survival: Path | None, out: Path
) -> None:
    """Write `out`/metrics.json and, a copy of `headline`, `out`/headline.csv.

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
    with store.aside(out / "metrics.json") as part:
        part.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8", newline="\n")
    with store.aside(out / "headline.csv") as part:
        shutil.copyfile(headline, part)


def _height(table: Path) -> int:
    return int(pl.scan_parquet(table).select(pl.len()).collect().item())
