"""Systems answer queries: one call fills all cells (setting, split, task) of one system."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from isotope.core import lucene
from isotope.core.exact import top_k
from isotope.core.grid import Cell, document_ids, query_ids
from isotope.core.progress import log
from isotope.core.runs import empty, write_pieces, write_run
from isotope.core.sides import Encoded
from isotope.index.build import contents
from isotope.search import fuse
from isotope.search.random_system import random_run

Tables = Mapping[str, Path]
Answer = Callable[[Cell], pl.DataFrame]


def fill(outputs: Sequence[Path], answer: Answer) -> None:
    """Write one run for each output path, whose last parts name the cell."""
    for path in outputs:
        cell = Cell.of(path)
        hits = answer(cell)
        write_run(hits, path)
        log.info("%s %s %s: %d hits", cell.setting, cell.split, cell.task, hits.height)


def search_random(tables: Tables, outputs: Sequence[Path], *, depth: int, seed: int) -> None:
    """Rank each pool at random: the floor under every other system."""

    def answer(cell: Cell) -> pl.DataFrame:
        documents = document_ids(tables[cell.document_side], cell)
        return random_run(query_ids(tables["qrels"], cell), documents, depth=depth, seed=seed)

    fill(outputs, answer)


def search_bm25(  # noqa: PLR0913
    tables: Tables,
    indexes: Sequence[Path],
    outputs: Sequence[Path],
    spec: Mapping[str, Any],
    *,
    language: str,
    depth: int,
    threads: int,
    texts_in: str | None = None,
) -> None:
    """Search the Lucene indexes of `index.index_bm25` with the words of the other side.

    `spec` may hold k1, b and fields (params `systems.<name>`); `language` and `texts_in` are those
    of the index. Queries are read as the documents that they look for.
    """
    words = {
        side: contents(side, tables[side], language=language, fields=spec.get("fields"))
        for side in ("texts", "images")
    }
    spoken = {"texts": texts_in or language, "images": language}
    own = {k: spec[k] for k in ("k1", "b") if k in spec}
    folders = {folder.parts[-2]: folder for folder in indexes}
    for cells in by_index(outputs):
        place = folders[cells[0].setting] / cells[0].pool / cells[0].document_side
        asked = [query_ids(tables["qrels"], cell) for cell in cells]
        ids = pl.DataFrame({"id": sorted({i for a in asked for i in a})}, schema={"id": pl.String})
        queries = ids.join(words[cells[0].query_side], on="id").sort("id").select("id", "contents")
        hits = empty()
        if place.exists():
            rows = queries.iter_rows()
            model = lucene.Bm25(**own, language=spoken[cells[0].document_side])
            hits = lucene.search(place, rows, model, hits=depth, threads=threads)
        answers = dict(zip(cells, asked, strict=True))
        fill(
            [p for p in outputs if Cell.of(p) in answers],
            lambda cell, hits=hits, answers=answers: hits.filter(
                pl.col("query_id").is_in(answers[cell])
            ),
        )


def by_index(outputs: Sequence[Path]) -> list[list[Cell]]:
    """Group the cells that search the same index: a program is started once for each group."""
    groups: dict[tuple[str, str, str], list[Cell]] = {}
    for cell in map(Cell.of, outputs):
        groups.setdefault((cell.setting, cell.pool, cell.task), []).append(cell)
    return list(groups.values())


def search_dense(  # noqa: PLR0913
    qrels: Path,
    encoded: Mapping[str, Sequence[Path]],
    indexes: Sequence[Path],
    outputs: Sequence[Path],
    *,
    depth: int,
    memory_mb: int,
    device: str = "auto",
) -> None:
    """Search the vectors exactly by inner product, restricted to the rows of `index.index_dense`.

    `encoded` holds the shards of vectors (texts, images) and of ids (texts_ids, images_ids).
    """
    vectors = Encoded(encoded)
    folders = {folder.parts[-2]: folder for folder in indexes}

    def answer(cell: Cell) -> pl.DataFrame:
        rows = np.load(folders[cell.setting] / cell.pool / f"{cell.document_side}.npy")
        asked, queries = vectors.asked(qrels, cell)
        if not len(asked) or not len(rows):
            return empty()
        documents = vectors.shards[cell.document_side]
        scores, found = top_k(queries, documents, rows, depth, memory_mb, device=device)
        return vectors.hits(cell, asked, scores, found)

    fill(outputs, answer)


def search_fused(
    runs: Sequence[Path],
    outputs: Sequence[Path],
    spec: Mapping[str, Any],
    *,
    depth: int,
) -> None:
    """Fuse the runs of `spec["of"]` cell by cell: rrf (k) or wsum (weights over min-max scores)."""
    by_cell = {(p.stem, Cell.of(p)): p for p in runs}
    for path in outputs:
        cell = Cell.of(path)
        parts = [by_cell[name, cell] for name in spec["of"]]
        hits = write_pieces(fuse.fused(parts, spec, depth), path)
        log.info("%s %s %s: %d hits", cell.setting, cell.split, cell.task, hits)
