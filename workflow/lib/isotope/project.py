"""Each WIT text finds its section in the dump (AToMiC paper, section 3.1)."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from isotope import lucene, sql, store, tables
from isotope.errors import EmptyTable
from isotope.progress import log

_SQL = sql.SQL / "project"
_ROWS = 10_000


def index_sections(sections: Path, index: Path, *, threads: int, memory_mb: int) -> None:
    """Index the five fields of every section of the dump.

    Raises:
        EmptyTable: the dump has no sections.
    """
    with tempfile.TemporaryDirectory(dir=index.parent, prefix=".sections-") as folder:
        documents = Path(folder) / "documents.parquet"
        sql.query(_SQL / "documents.sql", {"sections": sections}, {}, out=documents)
        pairs = iter_pairs(documents, "id", "contents")
        with store.folder_aside(index) as part:
            lucene.build_index(pairs, part, threads=threads, memory_mb=memory_mb)


def iter_pairs(table: Path, first: str, second: str) -> Iterator[tuple[str, str]]:
    """Stream two text columns of a Parquet file."""
    with pq.ParquetFile(table) as file:
        for batch in file.iter_batches(_ROWS, columns=[first, second]):
            yield from zip(batch[first].to_pylist(), batch[second].to_pylist(), strict=True)


def project(
    relations: Mapping[str, Path], index: Path, spec: Mapping[str, Any], out: Path, *, threads: int
) -> None:
    """Write tables.PROJECTION for the texts of `relations` (associations, members, sections).

    Mode `bm25` asks the index for every text; `exact-then-bm25` joins on page and section title
    first and asks for the rest. A text that finds nothing has method `none`.

    Raises:
        EmptyTable: no text is in the collection's language.
    """
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".queries-") as folder:
        queries, exact, ranked = (
            Path(folder) / f"{n}.parquet" for n in ("queries", "exact", "ranked")
        )
        wit = {k: relations[k] for k in ("associations", "members")}
        sql.query(_SQL / "queries.sql", wit, {}, out=queries)
        asked = pl.read_parquet(queries)
        if asked.is_empty():
            raise EmptyTable(
                relations["members"], "no text in this language", "see collect.language"
            )
        found = exact_matches(queries, relations["sections"], spec["mode"])
        found.write_parquet(exact)
        rest = asked.join(found, on="source_text_id", how="anti")
        log.info("%d texts: %d match exactly, %d ask BM25", asked.height, found.height, rest.height)
        best_sections(rest, index, spec, threads).write_parquet(ranked)
        tables_in = {"queries": queries, "exact": exact, "ranked": ranked}
        sql.query(_SQL / "projection.sql", tables_in, {}, out=out, schema=tables.PROJECTION)


def exact_matches(queries: Path, sections: Path, mode: str) -> pl.DataFrame:
    """Return (source_text_id, text_id) where titles name one section; nothing in mode bm25."""
    if mode == "bm25":
        return pl.DataFrame(schema={"source_text_id": pl.String, "text_id": pl.String})
    found = sql.query(_SQL / "exact.sql", {"queries": queries, "sections": sections}, {})
    return found if found is not None else pl.DataFrame()


def best_sections(
    asked: pl.DataFrame, index: Path, spec: Mapping[str, Any], threads: int
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the top section for each text."""
    texts = asked.select(
        "source_text_id",
        text=pl.concat_str(pl.col(tables.FIVE_FIELDS).fill_null(""), separator=" "),
    )
    bm25 = lucene.Bm25(spec["k1"], spec["b"])
    return lucene.search(index, texts.iter_rows(), bm25, hits=1, threads=threads)
