"""Texts of WIT, and labels, find what they are about in a snapshot (AToMiC paper, section 4.2).

A text of WIT finds a section by page and section title, or by BM25 over the five fields of all
sections; in parts, where the data are in shards. A label of a classification data set finds an
article by its title or a redirect, or by BM25 over the articles' names.
"""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.bm25 import postings, words
from isotope.bm25.names import find_names, index_names
from isotope.bm25.nearest import find_nearest
from isotope.core import lucene, sql, store
from isotope.core.errors import EmptyTable, MissingFile
from isotope.core.fields import text_of
from isotope.core.languages import lead_title
from isotope.core.manifest import placed_if_any
from isotope.core.progress import log
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.store import UNDIVIDED, Part, bounds, gather, rows_in, write_slice
from isotope.intake.texts import write_lines
from isotope.params.project import Project
from isotope.schemas.project import MEMBERS, PROJECTION

_SQL = sql.SQL / "project"
_ROWS = 10_000
# Of so many ids the bounds of the index's parts are taken.
_IDS_SORTED = 100_000
NATIVE, LUCENE = "native", "lucene"
# The heaps of their Java: one that cuts texts into words, and one that indexes and searches, too.
_HEAPS_MB = {NATIVE: words.HEAP_MB, LUCENE: lucene.HEAP_MB}


def project_source(  # noqa: PLR0913
    *,
    associations: Path,
    sections: Path,
    members: Path,
    projection: Path,
    spec: Project,
    language: str,
    threads: int,
) -> None:
    """Write schemas.MEMBERS and schemas.PROJECTION of a source whose phases have no shards.

    Raises:
        As `prepare_queries` and `index_sections`.
    """
    with store.scratch(projection.with_name("project")) as folder:
        queries, index = folder / "queries.parquet", folder / "index"
        prepare_queries(
            associations=associations, members=members, queries=queries, language=language
        )
        engine = spec.engine
        index_sections(sections, index, threads=threads, language=language, engine=engine)
        project(queries, sections, index, spec, projection, threads=threads, language=language)


def prepare_queries(*, associations: Path, members: Path, queries: Path, language: str) -> None:
    """Write the members of `associations` that are in `language`, and their texts as queries.

    Raises:
        As `write_queries`.
    """
    name_members(associations=associations, members=members, language=language)
    write_queries(associations, members, queries, language)


def name_members(*, associations: Path, members: Path, language: str) -> None:
    """Write schemas.MEMBERS: the rows of `associations` in `language`, and the id of their text."""
    tables = {"associations": associations}
    query = _SQL / "members.sql"
    sql.query(query, tables, {"language": language}, out=members, schema=MEMBERS)


def write_queries(associations: Path, members: Path, queries: Path, language: str = "en") -> None:
    """Write the texts of the members of `associations` as queries, by source_text_id.

    A section without a title is the lead, called by `languages.lead_title` in `language`.

    Raises:
        EmptyTable: no text is in the collection's language.
    """
    tables = {"associations": associations, "members": members}
    sql.query(_SQL / "queries.sql", tables, {"lead": lead_title(language)}, out=queries)
    if not rows_in(queries):
        raise EmptyTable(members, "no text in this language", "see collect.language")


def index_sections(  # noqa: PLR0913
    sections: Path,
    index: Path,
    *,
    threads: int,
    memory_mb: int | None = None,
    language: str = "en",
    engine: str = NATIVE,
    part: Part = UNDIVIDED,
) -> None:
    """Index the five fields of the sections of part (i, n) of the dump, which is in `language`.

    Parts are cut by text_id: the ids of one are below those of the next. The folder of a part
    without sections stays empty; `gather_index` skips it.

    Raises:
        EmptyTable: the dump has no sections.
        CorruptFile: two sections of one text_id, which `native` refuses.
        ToolFailed: Java could not analyse or index them.
    """
    first, end = id_range(sections, part)
    with store.scratch(index) as folder:
        documents, new_index = folder / "documents.parquet", folder / "index"
        limits = {"first_id": first, "limit_id": end}
        most = f"{sql.SORT_MB}MB"
        tables = {"sections": sections}
        sql.query(_SQL / "documents.sql", tables, limits, out=documents, memory_limit=most)
        pairs = iter_pairs(documents, "id", "contents")
        heap_mb = memory_mb or _HEAPS_MB[engine]
        options: dict[str, Any] = {"threads": threads, "memory_mb": heap_mb}
        if part != UNDIVIDED and not rows_in(documents):
            new_index.mkdir()
        elif engine == LUCENE:
            lucene.build_index(pairs, new_index, language=language, **options)
        else:
            options |= {"analyzer": words.analyzer(language), "by_bound": True}
            postings.write_index(pairs, new_index, **options)
        shutil.rmtree(index, ignore_errors=True)
        new_index.replace(index)


def id_range(sections: Path, part: Part) -> tuple[str, str | None]:
    """Return where the ids of part (i, n) begin, and where those of the next part do, or None.

    The sections of a large table are cut by some of their ids, into parts of nearly one size.

    Raises:
        BadParams: no such part.
    """
    if part == UNDIVIDED:
        return "", None
    step = rows_in(sections) // _IDS_SORTED + 1
    some = [pl.Series(dtype=pl.String)]
    with pq.ParquetFile(sections) as file:
        for batch in file.iter_batches(_ROWS, columns=["text_id"]):
            some.append(pl.Series(batch["text_id"]).gather_every(step))
    ids = pl.concat(some).sort()
    start, stop = bounds(len(ids), part)
    return ids[start] if start else "", ids[stop] if stop < len(ids) else None


def gather_index(
    pieces: Sequence[Path], index: Path, *, language: str = "en", engine: str = NATIVE
) -> None:
    """Merge the indexes of all parts of `index_sections`, in their order.

    Raises:
        EmptyTable: no part has a section.
        CorruptFile, MissingFile, ToolFailed: a part that can't be read.
    """
    if engine == LUCENE:
        lucene.merge_indexes(pieces, index, memory_mb=lucene.HEAP_MB)
    else:
        filled = [piece for piece in pieces if any(piece.iterdir())]
        postings.merge(filled, index, analyzer=words.analyzer(language))


def project(  # noqa: PLR0913
    queries: Path,
    sections: Path,
    index: Path,
    spec: Project,
    projection: Path,
    *,
    threads: int,
    part: Part = UNDIVIDED,
    language: str = "en",
) -> None:
    """Write schemas.PROJECTION for part (i, n) of n slices of the queries of `write_queries`.

    Mode `bm25` searches the index for every text; `exact-then-bm25` joins on page and section title
    first and searches for the rest. A text without a section has method `none`.
    """
    with store.scratch(projection) as folder:
        queries_of_part, exact, ranked = (
            folder / f"{n}.parquet" for n in ("own", "exact", "ranked")
        )
        count = write_slice(queries, part, queries_of_part)
        matched = exact_matches(queries_of_part, sections, spec.mode)
        matched.write_parquet(exact)
        counts = count, matched.height, count - matched.height
        log.info("%d texts: %d match exactly, %d are searched by BM25", *counts)
        remaining = iter_texts(queries_of_part, frozenset(matched["source_text_id"]))
        options: dict[str, Any] = {"threads": threads, "language": language}
        options |= {"total": counts[-1], "beside": folder / "counts"}
        best_sections(remaining, index, spec, **options).write_parquet(ranked)
        tables_in = {"queries": queries_of_part, "exact": exact, "ranked": ranked}
        sql.query(_SQL / "projection.sql", tables_in, {}, out=projection, schema=PROJECTION)


def exact_matches(queries: Path, sections: Path, mode: str) -> pl.DataFrame:
    """Return (source_text_id, text_id) where titles name one section; nothing in mode bm25."""
    if mode == "bm25":
        return pl.DataFrame(schema={"source_text_id": pl.String, "text_id": pl.String})
    rows = sql.query(_SQL / "exact.sql", {"queries": queries, "sections": sections}, {})
    return rows if rows is not None else pl.DataFrame()


def iter_texts(queries: Path, matched: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield id and the five fields of each text that is not matched yet."""
    fields = text_of(FIVE_FIELDS)
    with pq.ParquetFile(queries) as file:
        for batch in file.iter_batches(_ROWS):
            texts = pl.DataFrame(pa.Table.from_batches([batch]))
            pairs = texts.select("source_text_id", text=fields).iter_rows()
            yield from (pair for pair in pairs if pair[0] not in matched)


def best_sections(  # noqa: PLR0913
    texts: Iterable[tuple[str, str]],
    index: Path,
    spec: Project,
    *,
    threads: int,
    memory_mb: int | None = None,
    language: str = "en",
    total: int | None = None,
    beside: Path | None = None,
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the top section for each (id, text).

    `spec` has k1, b, and the engine, which made the index of sections in `language`. `total` and
    `beside` are those of `nearest.find_nearest`.

    Raises:
        ToolFailed: Java could not analyse the texts, or search.
        CorruptFile, MissingFile: as `postings.open_index`.
    """
    heap_mb = memory_mb or _HEAPS_MB[spec.engine]
    if spec.engine == LUCENE:
        model = lucene.Bm25Parameters(spec.k1, spec.b, memory_mb=heap_mb, language=language)
        return lucene.search(index, texts, model, hits=1, threads=threads)
    # Without a text to search for, as where titles name all, no index need be there.
    listed = iter(texts)
    first = next(listed, None)
    if first is None:
        return pl.DataFrame(schema=lucene.HITS)
    opened = postings.open_index(index, analyzer=words.analyzer(language))
    limits: dict[str, Any] = {"threads": threads, "memory_mb": heap_mb}
    limits |= {"total": total, "beside": beside}
    return find_nearest(opened, chain([first], listed), k1=spec.k1, b=spec.b, **limits)


def gather_projection(pieces: Sequence[Path], projection: Path) -> None:
    """Write the rows of all parts of `project` in their order."""
    gather(pieces, projection, PROJECTION)


def iter_pairs(table: Path, first: str, second: str) -> Iterator[tuple[str, str]]:
    """Stream two text columns of a Parquet file."""
    with pq.ParquetFile(table) as file:
        for batch in file.iter_batches(_ROWS, columns=[first, second]):
            yield from zip(batch[first].to_pylist(), batch[second].to_pylist(), strict=True)


def project_labels(
    *,
    manifest: Path,
    sections: Path,
    left_out: Path,
    projection: Path,
    threads: int,
) -> None:
    """Write schemas.PROJECTION: each label of a classification data set and its article's lead.

    The acquired part `labels` has lines with tabs and a header that names a column `label`. Methods
    are tried in this order: `title`, `redirect`, and `bm25` over the articles' names, which alone
    has a score; `none` is a label without an article. `sections` and `left_out` are a snapshot's:
    its parsed sections, and the pages that are not articles, among them redirects; disambiguation
    pages are no articles, so no label finds one. Labels are searched by `names.find_names`.

    Raises:
        MissingFile: no part `labels`.
        EmptyTable: no label in it, or no article in the snapshot.
    """
    with store.scratch(projection) as folder:
        paths = {p: p.name for p in placed_if_any(manifest, "labels")}
        if not paths:
            raise MissingFile(manifest, "no part `labels`", "name it in acquire.<source>.files")
        files: dict[str, sql.Files] = {
            "labels": write_lines(paths, folder / "labels"),
            "sections": sections,
            "left_out": left_out,
        }
        steps = [_SQL / "labels/names.sql", _SQL / "labels/titled.sql"]
        tables = sql.run_chain(steps, files, folder)
        labels, titled = (
            pl.read_parquet(tables[table], glob=False) for table in ("names", "titled")
        )
        remaining = labels.join(titled, on="label", how="anti")
        if labels.is_empty():
            raise EmptyTable(manifest, "no label", "name a column `label` in the header")
        index_names(_leads(sections), folder / "index", threads=threads)
        # Ids of a run have no spaces, and labels do: the queries are numbered.
        asked = remaining.select(pl.int_range(pl.len()).cast(pl.String).alias("id"), text="label")
        hits = find_names(asked, folder / "index", hits=1, threads=threads)
        asked_labels = remaining["label"].gather(hits["query_id"].cast(pl.UInt32))
        ranked = hits.with_columns(asked_labels.alias("query_id"))
        ranked.write_parquet(folder / "ranked.parquet")
        last: dict[str, sql.Files] = {**tables, "ranked": folder / "ranked.parquet"}
        sql.query(_SQL / "labels/projection.sql", last, {}, out=projection, schema=PROJECTION)
        log.info("%d labels searched by BM25, %d found a name", len(remaining), ranked.height)


def _leads(sections: Path) -> Iterator[tuple[str, str]]:
    """Yield text_id and title of every article, by text_id."""
    leads = pl.scan_parquet(sections, glob=False).filter(section=0).select("text_id", "page_title")
    yield from leads.sort("text_id").collect().iter_rows()
