"""The feed of a wiki: for sections without a picture the few suggestions that are sure enough.

Candidates pass through twice, some sections at a time: those of the validation sections to learn
weights, probabilities and thresholds, then all, to be ranked and written. Memory follows the
sections of the collection, in narrow columns, and the feed, not the candidates.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import store
from isotope.core.progress import Progress, log
from isotope.schemas.suggest import FEED, FILTERED, SCORED
from isotope.suggest import learn, rank, score, verdicts
from isotope.suggest.describe import Described, describe
from isotope.suggest.filters import Filters, shown
from isotope.suggest.likeness import Likeness
from isotope.suggest.rank import KEY, SUGGEST, WIKIMEDIA, Ranker
from isotope.suggest.score import KIND

_SECTIONS = ("text_id", "page_id", "language", "split", "role", "page_class", "place")
_OPEN = (SUGGEST, WIKIMEDIA)
_MEASURED = 3
_INDENT = 1


class _Tables(NamedTuple):
    """What is in memory while candidates pass."""

    sections: pl.DataFrame
    pictures: pl.DataFrame
    qrels: pl.DataFrame
    ranker: Ranker
    filters: Filters
    likeness: Likeness


def write_feed(  # noqa: PLR0913, PLR0917 (a rule's inputs and outputs)
    texts: Path,
    images: Path,
    qrels: Path,
    sections: Path,
    candidates: Path,
    pictures: Path,
    placed: Sequence[Path],
    image_vectors: Sequence[Path],
    image_ids: Sequence[Path],
    judgements: Sequence[Path],
    scored: Path,
    rejected: Path,
    calibration: Path,
    feed: Path,
    lines: Path,
    spec: dict[str, Any],
) -> None:
    """Write SCORED, FILTERED, what was learned (JSON), and FEED as Parquet and as JSON lines.

    SCORED has the ten best of each system for the judged sections of validation and test, and for
    open sections the best of suggest and wikimedia, as many as a feed may have. Validation sections
    are scored by weights that never saw their page. FEED has open sections alone, in the order of
    wiki, page, section and rank; it is empty where no threshold is certified. `image_vectors` and
    `image_ids` are shards, none without a dense system. Keys of `spec`: collection, sources,
    languages, union, wikis, snapshot, precision, confidence, most, diversity, and those of
    `filters.Filters`.

    Raises:
        BrokenPromise: candidates that are not sorted by section.
        CorruptFile: judgements that nobody can read.
        As `core.vectors.load_vectors`.
    """
    tables = _read(
        (sections, pictures, qrels), (placed, image_vectors, image_ids), judgements, spec
    )
    learned = _learn(candidates, tables, spec)
    with ExitStack() as stack:
        parts = [stack.enter_context(store.aside(path)) for path in (calibration, feed, lines)]
        outs = (stack.enter_context(store.grouped(scored, SCORED)),)
        outs += (stack.enter_context(store.grouped(rejected, FILTERED)),)
        chosen = _write_ranked(candidates, tables, learned, outs, spec)
        chosen = learned.raise_for(chosen)
        learned.log()
        about = Described(texts, images, tables.sections, tables.pictures, tables.qrels)
        rows = describe(
            chosen,
            about,
            tables.likeness if image_vectors else None,
            {**spec, "caution": learned.calibration["caution"]},
        )
        parts[0].write_text(_json(learned.calibration), "utf-8")
        store.write(rows.to_arrow(), parts[1], FEED)
        with parts[2].open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(json_lines(rows))
    log.info("%s: %d suggestions for %d sections", *_counted(rows, spec))


def _counted(rows: pl.DataFrame, spec: dict[str, Any]) -> tuple[str, int, int]:
    return spec["collection"], len(rows), rows["text_id"].n_unique()


def _json(calibration: dict[str, Any]) -> str:
    return json.dumps(calibration, ensure_ascii=False, allow_nan=False, indent=_INDENT) + "\n"


def json_lines(rows: pl.DataFrame) -> Iterator[str]:
    """Yield the rows of a feed as JSON objects, one a line, with the columns of FEED."""
    for row in rows.select(FEED.names).iter_rows(named=True):
        yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def _read(
    about: tuple[Path, Path, Path],
    shards: tuple[Sequence[Path], Sequence[Path], Sequence[Path]],
    judgements: Sequence[Path],
    spec: dict[str, Any],
) -> _Tables:
    sections = pl.read_parquet(about[0], columns=list(_SECTIONS))
    pictures, qrels = pl.read_parquet(about[1]), pl.read_parquet(about[2])
    likeness = Likeness(pictures, *shards[1:])
    own = Filters(
        pictures,
        sections=sections,
        shown=shown(shards[0], pictures, spec),
        qrels=qrels,
        rejections=verdicts.rejections(judgements),
        likeness=likeness,
        spec=spec,
    )
    return _Tables(sections, pictures, qrels, Ranker(own, likeness, spec), own, likeness)


def _learn(candidates: Path, tables: _Tables, spec: dict[str, Any]) -> learn.Learned:
    examples, judged = learn.Examples(), learn.judged(tables.sections)
    for block in rank.blocks(candidates):
        own = block.join(judged.select("text_id"), on="text_id", how="semi")
        if len(own):
            examples.add(tables.filters.reject(own).left, tables.pictures, judged)
    return learn.learn(examples, tables.qrels, len(judged), tables.ranker, spec)


def _write_ranked(
    candidates: Path,
    tables: _Tables,
    learned: learn.Learned,
    outs: tuple[store.Grouped, ...],
    spec: dict[str, Any],
) -> pl.DataFrame:
    """Write SCORED and FILTERED; return the candidates of the feed, with their `rank`."""
    folds = learn.judged(tables.sections).select("text_id", "fold")
    sections = tables.sections.join(folds, on="text_id", how="left").select(
        "text_id", "role", "page_class", "fold"
    )
    progress = Progress("sections with candidates ranked")
    feed = list[pl.DataFrame]()
    for block in rank.blocks(candidates):
        left, gone = tables.filters.reject(block)
        own = left.join(sections, on="text_id", how="left", maintain_order="left")
        ranked, duplicates, chosen = _ranked(own, tables, learned, spec)
        outs[0].add(ranked.to_arrow().cast(SCORED))
        every = pl.concat([gone.select(FILTERED.names), duplicates])
        outs[1].add(every.sort(KEY).to_arrow().cast(FILTERED))
        feed.append(chosen)
        progress.add(block["text_id"].n_unique())
    progress.finish()
    return pl.concat(feed) if feed else pl.DataFrame()


def _ranked(
    own: pl.DataFrame, tables: _Tables, learned: learn.Learned, spec: dict[str, Any]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return SCORED and FILTERED of some sections, and the candidates that the feed shows."""
    every = tables.ranker.others(own)
    duplicates, chosen = pl.DataFrame(FILTERED.empty_table()), own.clear()
    if learned.calibration["weights"] is not None:
        matrix = score.features(own, tables.pictures)
        scored = learned.scored(own.with_columns(KIND), matrix)
        best = tables.ranker.suggested(scored)
        every, duplicates = pl.concat([every, best.scored]), best.rejected
        named = best.scored.select(*KEY, "rank").join(scored, on=KEY, maintain_order="left")
        chosen = learned.shown(named.filter(pl.col("role") == "open"))
    most = max(_MEASURED, spec["most"])
    roles = own.select("text_id", "role").unique()
    is_measured = pl.col("system").is_in(_OPEN) & (pl.col("rank") <= most)
    kept = every.join(roles, on="text_id").filter((pl.col("role") != "open") | is_measured)
    return kept.sort("text_id", "system", "rank").select(SCORED.names), duplicates, chosen
