"""Where the right answers stand when a query's words are exchanged: dense systems and BM25."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from isotope.bm25.format import open_index
from isotope.bm25.search import search
from isotope.bm25.words import analyzer
from isotope.core import lucene, store
from isotope.core.exact import Encoded, Rows, Vectors, VectorShards
from isotope.core.grid import RunKey
from isotope.core.lucene import contents
from isotope.core.prepare import NONE
from isotope.core.progress import Progress
from isotope.core.runs import ranked, read_run
from isotope.core.vectors import read_sealed
from isotope.encode.cache import Encoding
from isotope.encode.shard import ShardFiles, encode_texts
from isotope.models.kinds._bases import FieldReader
from isotope.search.kinds.bm25 import Bm25
from isotope_explain.schemas import INTACT, RANKS

_DOCUMENTS, _QUERIES = 1 << 16, 256
_CHANGED = ["perturbation", "query_id"]


class PerturbedQueries(NamedTuple):
    """The perturbed texts, the judgements, and the run of the intact ones at its place."""

    perturbed: Path
    qrels: Path
    run: Path


class Tower(NamedTuple):
    """What encodes texts: an entry of `models`, learned weights, texts at a time."""

    model: FieldReader
    weights: Path | None
    batch: int


def rank_perturbed_dense(  # noqa: PLR0913
    perturbations: Path,
    qrels: Path,
    run: Path,
    *,
    encoded: Mapping[str, Sequence[Path]],
    index: Path,
    model: FieldReader,
    weights: Path | None,
    batch: int,
    out: Path,
) -> None:
    """Write what `perturbed_dense` does.

    Raises:
        As `perturbed_dense`.
    """
    tower = Tower(model, weights, batch)
    perturbed_dense(PerturbedQueries(perturbations, qrels, run), encoded, index, tower, out)


def rank_perturbed_bm25(  # noqa: PLR0913
    perturbations: Path,
    qrels: Path,
    run: Path,
    *,
    index: Path,
    spec: Bm25,
    language: str,
    threads: int,
    out: Path,
) -> None:
    """Write what `perturbed_bm25` does.

    Raises:
        As `perturbed_bm25`.
    """
    queries = PerturbedQueries(perturbations, qrels, run)
    perturbed_bm25(queries, index, spec, out, threads=threads, language=language)


def perturbed_dense(
    inputs: PerturbedQueries,
    encoded: Mapping[str, Sequence[Path]],
    index: Path,
    tower: Tower,
    out: Path,
) -> None:
    """Write schemas.RANKS for a dense system, ranks counted in the whole pool before and after.

    Every judged query has a row as it is too, `schemas.INTACT`. `encoded` is that of
    `search.systems.search_dense`, `index` the setting's folder of rows. Among equal scores the
    later id comes first, as in a run.

    Raises:
        IsotopeError: what `encode.shard.encode_texts` raises.
    """
    vectors, cell = Encoded(encoded), RunKey.from_path(inputs.run)
    queries, right = _queries(inputs), _answers(inputs)
    pool = read_sealed(index / cell.pool / f"{cell.document_side}.npy")
    places = vectors.ids["images"].gather(pool)
    intact = right.select("query_id").unique().sort("query_id")
    rows = _rows_of(intact["query_id"], vectors.ids["texts"])
    with TemporaryDirectory(dir=out.parent, prefix=".perturbed-") as folder:
        changed = _encoded(inputs.perturbed, tower, Path(folder))

        def placed(queries: pl.DataFrame, query_vectors: Vectors) -> pl.DataFrame:
            targets = _targets(queries, right, places)
            ranks = _ranks(query_vectors, targets, vectors.shards["images"], pool)
            return queries.with_columns(rank=pl.Series(ranks, dtype=pl.Int32))

        before = placed(intact, vectors.shards["texts"].take(rows))
        _write(before, placed(queries, changed), inputs, out)


def perturbed_bm25(  # noqa: PLR0913
    inputs: PerturbedQueries,
    index: Path,
    spec: Bm25,
    out: Path,
    *,
    threads: int,
    language: str = "en",
) -> None:
    """Write schemas.RANKS for a BM25 system, null where the right answer has no word of the query.

    Every judged query has a row as it is too, `schemas.INTACT`. `language` is that of the captions,
    and so of the index.

    Raises:
        ToolFailed: Java failed.
        CorruptFile, MissingFile: an index that can't be read.
    """
    reads: dict[str, Any] = {"fields": spec.fields, "prepare": spec.prepare or NONE}
    words = contents("texts", inputs.perturbed, language="", **reads)
    cell, queries = RunKey.from_path(inputs.run), _queries(inputs)
    topics = words.sort("id").select("id", "contents").iter_rows()
    index_folder, before = index / cell.pool / cell.document_side, read_run(inputs.run)
    depth = max(before["rank"].to_list(), default=1)
    hits = _hits(index_folder, topics, spec, language, hits=depth, threads=threads)
    after = ranked(hits).rename({"query_id": "text_id"})
    answers = _answers(inputs)
    changed = answers.join(queries, on="query_id")
    _write(
        _first_rank(answers, before, ["query_id"]),
        _first_rank(changed, after, ["text_id", *_CHANGED]),
        inputs,
        out,
    )


def _hits(  # noqa: PLR0913
    index: Path,
    queries: Iterator[tuple[str, str]],
    spec: Bm25,
    language: str,
    *,
    hits: int,
    threads: int,
) -> pl.DataFrame:
    """Return query_id, doc_id and score."""
    model: dict[str, Any] = {"k1": spec.k1, "b": spec.b}
    if spec.engine == "lucene":
        ranking = lucene.Bm25Parameters(**model, language=language)
        return lucene.search(index, queries, ranking, hits=hits, threads=threads)
    opened = open_index(index, analyzer=analyzer(language))
    batches = search(opened, queries, **model, hits=hits, threads=threads)
    return pl.concat([pl.DataFrame(schema=lucene.HITS), *batches])


def _first_rank(answers: pl.DataFrame, run: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return the rank of each query's first right answer, null without one in the run."""
    hits = run.select(keys[0], "doc_id", "rank")
    joined = answers.join(hits, on=[keys[0], "doc_id"], how="left")
    return joined.group_by(keys).agg(pl.col("rank").min())


def _queries(inputs: PerturbedQueries) -> pl.DataFrame:
    """Return text_id, perturbation and query_id, in the order that they are encoded in."""
    return pl.read_parquet(inputs.perturbed, columns=["text_id", *_CHANGED], glob=False).sort(
        "text_id"
    )


def _answers(inputs: PerturbedQueries) -> pl.DataFrame:
    qrels = pl.read_parquet(inputs.qrels, glob=False)
    relevant = qrels.filter(
        pl.col("split") == RunKey.from_path(inputs.run).split, pl.col("relevance") > 0
    )
    return relevant.select(query_id="text_id", doc_id="image_id")


def _targets(queries: pl.DataFrame, answers: pl.DataFrame, pool: pl.Series) -> list[Rows]:
    """Return for each query the places of its right answers in the pool."""
    places = pl.DataFrame({"doc_id": pool}).with_row_index("place")
    right = answers.join(places, on="doc_id").group_by("query_id").agg("place")
    joined = queries.join(right, on="query_id", how="left", maintain_order="left")
    return [np.array(positions or [], np.int64) for positions in joined["place"].to_list()]


def _rows_of(ids: pl.Series, encoded: pl.Series) -> Rows:
    """Return the row of each of `ids` among those of the vectors, `encoded`."""
    numbers = pl.DataFrame({"id": encoded}).with_row_index("row")
    rows = pl.DataFrame({"id": ids}).join(numbers, on="id", how="left", maintain_order="left")
    return rows["row"].cast(pl.Int64).to_numpy()


def _encoded(texts: Path, tower: Tower, folder: Path) -> Vectors:
    files = ShardFiles(folder / "texts.npy", folder / "ids.parquet")
    encoding = Encoding(tower.model, tower.weights, tower.batch)
    encode_texts(texts, encoding, files, tower.model.fields)
    return np.load(files.vectors)


def _ranks(
    queries: Vectors, targets: list[Rows], shards: VectorShards, pool: Rows
) -> list[int | None]:
    progress = Progress("queries ranked", len(queries))
    ranks: list[int | None] = []
    for start in range(0, len(queries), _QUERIES):
        some = slice(start, start + _QUERIES)
        ranks += _group(queries[some], targets[some], shards, pool)
        progress.add(len(ranks) - progress.done)
    return ranks


def _group(
    queries: Vectors, targets: list[Rows], shards: VectorShards, pool: Rows
) -> Iterator[int | None]:
    """Yield the best rank among each query's right answers, None without one in the pool."""
    scores = np.concatenate(
        [
            queries @ shards.take(pool[start : start + _DOCUMENTS]).T
            for start in range(0, len(pool), _DOCUMENTS)
        ],
        axis=1,
    )
    for row, query_targets in zip(scores, targets, strict=True):
        if not len(query_targets):
            yield None
            continue
        best = max((float(row[t]), int(t)) for t in query_targets)
        ahead = np.count_nonzero(row > best[0])
        yield 1 + int(ahead + np.count_nonzero(row[best[1] + 1 :] == best[0]))


def _write(before: pl.DataFrame, after: pl.DataFrame, inputs: PerturbedQueries, out: Path) -> None:
    """Write the ranks of the queries as they are, then those of the perturbed ones beside them."""
    labels = {**vars(RunKey.from_path(inputs.run)), "system": inputs.run.stem}
    ranks = before.select("query_id", rank_before="rank")
    intact = before.sort("query_id").with_columns(perturbation=pl.lit(INTACT), rank_before="rank")
    changed = after.join(ranks, on="query_id", how="left").sort("text_id")
    columns = {name: pl.lit(value) for name, value in labels.items()}
    both = [ranks.with_columns(**columns).select(RANKS.names) for ranks in (intact, changed)]
    store.write(pl.concat(both).to_arrow(), out, RANKS)
