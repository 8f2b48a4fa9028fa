"""The labels of a classification data set find the articles of a snapshot that they name."""

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from isotope.acquire.manifest import placed_if_any
from isotope.core import lucene, sql
from isotope.core.errors import EmptyTable, MissingFile
from isotope.core.files import write_lines
from isotope.core.progress import log
from isotope.project.tables import PROJECTION

_SQL = sql.SQL / "project/labels"


def project_labels(  # noqa: PLR0913
    *,
    manifest: Path,
    sections: Path,
    left_out: Path,
    spec: Mapping[str, Any],
    projection: Path,
    threads: int,
) -> None:
    """Write tables.PROJECTION: each label, its article's lead, and how they met.

    The acquired part `labels` has lines with tabs and a header that names a column `label`. Methods
    are, in this order, `title`, `redirect`, and `bm25` over the articles' names, whose score is
    kept; `none` found nothing. `sections` and `left_out` are a snapshot's: its parsed sections, and
    the pages that were left out, among them redirects; a disambiguation page is no article, so no
    label finds one. `spec` has k1, b and tokenizer (see `lucene.find_names`).

    Raises:
        MissingFile: no part `labels`.
        EmptyTable: no label in it, or no article in the snapshot.
    """
    with tempfile.TemporaryDirectory(dir=_made(projection.parent), prefix=".labels-") as folder:
        here = Path(folder)
        paths = {p: p.name for p in placed_if_any(manifest, "labels")}
        if not paths:
            raise MissingFile(manifest, "no part `labels`", "name it in acquire.<source>.files")
        files: dict[str, sql.Files] = {
            "labels": write_lines(paths, here / "labels"),
            "sections": sections,
            "left_out": left_out,
        }
        made = sql.run_chain([_SQL / "asked.sql", _SQL / "titled.sql"], files, here)
        labels, titled = (pl.read_parquet(made[table]) for table in ("asked", "titled"))
        rest = labels.join(titled, on="label", how="anti")
        if labels.is_empty():
            raise EmptyTable(manifest, "no label", "name a column `label` in the header")
        ranked = _by_name(rest["label"], sections, spec, here / "index", threads)
        ranked.write_parquet(here / "ranked.parquet")
        last: dict[str, sql.Files] = {**made, "ranked": here / "ranked.parquet"}
        sql.query(_SQL / "projection.sql", last, {}, out=projection, schema=PROJECTION)
        log.info("%d labels asked BM25, %d found a name", len(rest), ranked.height)


def _by_name(
    labels: pl.Series, sections: Path, spec: Mapping[str, Any], index: Path, threads: int
) -> pl.DataFrame:
    leads = pl.scan_parquet(sections).filter(section=0).select("text_id", "page_title")
    named = leads.sort("text_id").collect().iter_rows()
    lucene.index_names(named, index, tokenizer=spec["tokenizer"], threads=threads)
    asked = pl.DataFrame({"id": [str(n) for n in range(len(labels))], "text": labels})
    found = lucene.find_names(asked, index, spec, hits=1, threads=threads)
    # A run's format knows no spaces, and labels do.
    label = labels.gather(found["query_id"].cast(pl.UInt32))
    return found.with_columns(label.alias("query_id"))


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
