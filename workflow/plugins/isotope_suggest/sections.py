"""The sections of a collection: what they have, which have a picture, and which ought to.

A training page has no judged text of validation or test. The model of `ought` learns from those
pages; a section of one gets its probability from weights that never saw the page, a section of any
other page from those of all training pages.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.errors import EmptyTable, MissingFile
from isotope.core.progress import Progress, log
from isotope.intake.wiki_files import FILES
from isotope.schemas.project import PROJECTION
from isotope_suggest.need import FOLDS, Floats, NeedModel, learn
from isotope_suggest.origins import Origins
from isotope_suggest.resources import SQL
from isotope_suggest.schemas import SECTION_ROLES

# Training pages are drawn by a hash where they have more sections than the model is to learn from.
LEARNED = 200_000
_STEPS = (sql.SQL / "parse/wikitext/10_uses.sql", SQL / "traits.sql")
_ROWS = 65_536
_NO_TOPICS = pa.schema(
    [(name, pa.string()) for name in ("wiki_db", "qid", "pid", "num_outlinks")]
    + [("topic", pa.float64())]
)


def describe_sections(  # noqa: PLR0913
    *,
    texts: Path,
    qrels: Path,
    outlines: Sequence[Path],
    placed: Sequence[Path],
    topics: Sequence[Path],
    out: Path,
    model: Path,
    origins: Origins,
    maximum_usage: int,
    projections: Sequence[Path] = (),
) -> None:
    """Write schemas.SECTION_ROLES to `out` and `need.NeedModel` as JSON to `model`.

    `outlines` and `placed` have a table (OUTLINE and PICTURES of parse) a source; `topics` are
    Wikimedia's article-topic predictions, or none. `projections`, one a source or none, name the
    sections that are texts of WIT: these had a picture, and count as illustrated.
    A file on more than `maximum_usage` pages illustrates nothing.

    Raises:
        MissingFile: a source without an outline.
        EmptyTable: texts without their row in the outlines, or no training page to learn from.
    """
    for file in outlines:
        if not file.is_file():
            problem = "no outline of this snapshot's sections"
            raise MissingFile(file, problem, "run the phase parse again")
    with store.scratch(out) as folder:
        relations = _relations(outlines, placed, projections, origins, folder)
        relations |= {"texts": texts, "qrels": qrels}
        relations["topics"] = topics or _empty(_NO_TOPICS, folder)
        # Redirects of files that the dump itself has are followed by parse.
        relations["files"] = _empty(FILES, folder)
        params = {"pages": maximum_usage, "folds": FOLDS}
        traits = sql.run_chain(_STEPS, relations, folder, params=params)["traits"]
        _check_outlined(traits, texts, outlines)
        learned, apart = learn_pages(traits)
        _write(traits, learned, apart, out)
        learned.save(model)


def learn_pages(traits: Path, most: int = LEARNED) -> tuple[NeedModel, pl.DataFrame]:
    """Return the model, and (text_id, apart): probabilities of the rows that it learned from.

    `traits` is the table of sql/suggest/traits.sql. At most about `most` sections of
    training pages are learned from, whole pages.

    Raises:
        EmptyTable: as `ought.learn`.
    """
    training = pl.scan_parquet(traits, glob=False).filter(pl.col("page_split") == "train")
    count = training.select(pl.len()).collect().item()
    share = min(1.0, most / max(count, 1))
    rows = training.filter(pl.col("draw") < share).collect()
    log.info("%d of %d sections of training pages are learned from", rows.height, count)
    model, apart = learn(rows)
    return model, rows.select("text_id", apart=pl.Series(apart))


def _relations(
    outlines: Sequence[Path],
    placed: Sequence[Path],
    projections: Sequence[Path],
    origins: Origins,
    folder: Path,
) -> dict[str, sql.Files]:
    """Write outlines, pictures and projections of all sources under the collection's ids."""
    relations: dict[str, sql.Files] = {"outline": folder / "outline.parquet"}
    relations["pictures"] = folder / "pictures.parquet"
    origins.parsed(outlines).drop("languages").sink_parquet(folder / "outline.parquet")
    origins.parsed(placed).sink_parquet(folder / "pictures.parquet")
    if not projections:
        return {**relations, "projected": _empty(PROJECTION, folder)}
    relations["projected"] = folder / "projected.parquet"
    origins.parsed(projections).sink_parquet(folder / "projected.parquet")
    return relations


def _empty(schema: pa.Schema, folder: Path) -> Path:
    out = folder / f"without_{schema.names[-1]}.parquet"
    store.write_rows([], out, schema)
    return out


def _check_outlined(traits: Path, texts: Path, outlines: Sequence[Path]) -> None:
    """Refuse texts of which the outlines have no row."""
    missing = store.rows_in(texts) - store.rows_in(traits)
    if missing:
        described = pl.scan_parquet(traits, glob=False).select("text_id")
        lost = (
            pl.scan_parquet(texts, glob=False)
            .select("text_id")
            .join(described, on="text_id", how="anti")
        )
        first = lost.select(pl.col("text_id").min()).collect().item()
        where = ", ".join(str(file) for file in outlines)
        problem = f"no row of {missing} of the collection's texts, the first {first}"
        raise EmptyTable(where, problem, "parse the sources, and collect, from the same snapshots")


def _write(traits: Path, model: NeedModel, apart: pl.DataFrame, out: Path) -> None:
    """Write SECTION_ROLES in the order of `traits`."""
    progress = Progress("sections", store.rows_in(traits))
    with store.writer(out, SECTION_ROLES) as table, pq.ParquetFile(traits) as file:
        for batch in file.iter_batches(_ROWS):
            rows = pl.DataFrame(pa.Table.from_batches([batch]))
            by_folds = rows.select("text_id").join(
                apart, on="text_id", how="left", maintain_order="left"
            )
            chance = _chosen(by_folds["apart"].to_numpy(), model.probability(rows))
            described = rows.with_columns(probability=pl.Series(chance)).select(SECTION_ROLES.names)
            table.write_table(described.to_arrow().cast(SECTION_ROLES))
            progress.add(rows.height)
    progress.finish()


def _chosen(by_folds: Floats, by_all: Floats) -> Floats:
    return np.where(np.isnan(by_folds), by_all, by_folds)
