"""Each WIT text finds its section in the dump (AToMiC paper, section 4.2)."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from isotope.core import lucene, sql, store
from isotope.core.errors import EmptyTable
from isotope.core.lucene import HEAP_MB
from isotope.core.progress import log
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.store import WHOLE, Part, bounds, gather, rows_in, write_slice
from isotope.parse.tables import lead_title
from isotope.project.tables import MEMBERS, PROJECTION

_SQL = sql.SQL / "project"
_ROWS = 10_000


def project_source(  # noqa: PLR0913
    *,
    associations: Path,
    sections: Path,
    members: Path,
    projection: Path,
    spec: Mapping[str, Any],
    language: str,
    threads: int,
) -> None:
    """Write tables.MEMBERS and tables.PROJECTION of a source whose phases have no shards.

    Raises:
        As `prepare_queries` and `index_sections`.
    """
    with tempfile.TemporaryDirectory(dir=projection.parent, prefix=".project-") as folder:
        queries, index = Path(folder) / "queries.parquet", Path(folder) / "lucene"
        prepare_queries(
            associations=associations, members=members, queries=queries, language=language
        )
        index_sections(sections, index, threads=threads, language=language)
        project(queries, sections, index, spec, projection, threads=threads, language=language)


def index_sections(  # noqa: PLR0913
    sections: Path,
    index: Path,
    *,
    threads: int,
    memory_mb: int = HEAP_MB,
    language: str = "en",
    part: Part = WHOLE,
) -> None:
    """Index the five fields of the dump's sections, which are in `language`: those of part (i, n).

    The folder of a part without sections stays empty; `merge_indexes` then passes it over.

    Raises:
        EmptyTable: the dump has no sections.
    """
    index.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=index.parent, prefix=".sections-") as folder:
        own, documents = (Path(folder) / f"{name}.parquet" for name in ("own", "documents"))
        there = part == WHOLE or write_slice(sections, part, own)
        tables_in = {"sections": sections if part == WHOLE else own}
        sql.query(_SQL / "documents.sql", tables_in, {}, out=documents)
        pairs = iter_pairs(documents, "id", "contents")
        how: dict[str, Any] = {"threads": threads, "memory_mb": memory_mb, "language": language}
        with store.folder_aside(index) as made:
            if there:
                lucene.build_index(pairs, made, **how)


def gather_index(pieces: Sequence[Path], index: Path) -> None:
    """Merge the indexes of all parts of `index_sections`."""
    lucene.merge_indexes(pieces, index, memory_mb=HEAP_MB)


def iter_pairs(table: Path, first: str, second: str) -> Iterator[tuple[str, str]]:
    """Stream two text columns of a Parquet file."""
    with pq.ParquetFile(table) as file:
        for batch in file.iter_batches(_ROWS, columns=[first, second]):
            yield from zip(batch[first].to_pylist(), batch[second].to_pylist(), strict=True)


def prepare_queries(*, associations: Path, members: Path, queries: Path, language: str) -> None:
    """Write the members of `associations` that are in `language`, and their texts as queries.

    Raises:
        As `write_queries`.
    """
    name_members(associations=associations, members=members, language=language)
    write_queries(associations, members, queries, language)


def name_members(*, associations: Path, members: Path, language: str) -> None:
    """Write tables.MEMBERS: the rows of `associations` in `language`, and the id of their text."""
    tables = {"associations": associations}
    query = _SQL / "members.sql"
    sql.query(query, tables, {"language": language}, out=members, schema=MEMBERS)


def write_queries(associations: Path, members: Path, queries: Path, language: str = "en") -> None:
    """Write the texts of the members of `associations` as queries, by source_text_id.

    A section without a title is the lead, called by `parse.tables.lead_title` in `language`.

    Raises:
        EmptyTable: no text is in the collection's language.
    """
    tables = {"associations": associations, "members": members}
    sql.query(_SQL / "queries.sql", tables, {"lead": lead_title(language)}, out=queries)
    if not rows_in(queries):
        raise EmptyTable(members, "no text in this language", "see collect.language")


def project(  # noqa: PLR0913
    queries: Path,
    sections: Path,
    index: Path,
    spec: Mapping[str, Any],
    projection: Path,
    *,
    threads: int,
    part: Part = WHOLE,
    language: str = "en",
) -> None:
    """Write tables.PROJECTION for part (i, n) of n slices of the queries of `write_queries`.

    Mode `bm25` asks the index for every text; `exact-then-bm25` joins on page and section title
    first and asks for the rest. A text that finds nothing has method `none`.
    """
    with tempfile.TemporaryDirectory(dir=projection.parent, prefix=".queries-") as folder:
        own, exact, ranked = (Path(folder) / f"{n}.parquet" for n in ("own", "exact", "ranked"))
        start, stop = bounds(rows_in(queries), part)
        asked = pl.scan_parquet(queries).slice(start, stop - start).collect()
        asked.write_parquet(own)
        found = exact_matches(own, sections, spec["mode"])
        found.write_parquet(exact)
        rest = asked.join(found, on="source_text_id", how="anti")
        log.info("%d texts: %d match exactly, %d ask BM25", asked.height, found.height, rest.height)
        model = lucene.Bm25(spec["k1"], spec["b"], language=language)
        best_sections(rest, index, model, threads).write_parquet(ranked)
        tables_in = {"queries": own, "exact": exact, "ranked": ranked}
        sql.query(_SQL / "projection.sql", tables_in, {}, out=projection, schema=PROJECTION)


def gather_projection(pieces: Sequence[Path], projection: Path) -> None:
    """Write the rows of all parts of `project` in their order."""
    gather(pieces, projection, PROJECTION)


def exact_matches(queries: Path, sections: Path, mode: str) -> pl.DataFrame:
    """Return (source_text_id, text_id) where titles name one section; nothing in mode bm25."""
    if mode == "bm25":
        return pl.DataFrame(schema={"source_text_id": pl.String, "text_id": pl.String})
    found = sql.query(_SQL / "exact.sql", {"queries": queries, "sections": sections}, {})
    return found if found is not None else pl.DataFrame()


def best_sections(
    asked: pl.DataFrame, index: Path, model: lucene.Bm25, threads: int
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the top section for each text."""
    texts = asked.select(
        "source_text_id",
        text=pl.concat_str(pl.col(FIVE_FIELDS).fill_null(""), separator=" "),
    )
    return lucene.search(index, texts.iter_rows(), model, hits=1, threads=threads)
