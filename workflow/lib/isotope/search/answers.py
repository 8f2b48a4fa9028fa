"""Systems whose answers come as files: entities, or names that BM25 maps to texts.

OVEN (Hu et al., ICCV 2023, sections 2 and 4.2) maps so what a generative model says to an entity.
"""

import gzip
import json
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO, cast

import polars as pl

from isotope.bm25.names import find_names
from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.core.grid import RunKey, pool_splits, query_ids
from isotope.core.progress import log
from isotope.core.runs import empty
from isotope.schemas.parse import REJECTED
from isotope.schemas.search import ANSWERED
from isotope.search.kinds.answers import Answers
from isotope.search.systems import by_index, share

_SCHEMA = {"query_id": pl.String, "text": pl.String}
_LOCATION = {"file": pl.String, "row": pl.Int64, "raw": pl.String}


class Read(NamedTuple):
    """Answers by the image they are on, and rows of schemas.REJECTED.

    `answers` have query_id and text, to be mapped to an entity; `chosen` have query_id and the
    `entity` that they name, with the file, row and raw line. `answered` are the images that some
    line is on, sorted: those of answers without a word are among them.
    """

    answers: pl.DataFrame
    rejected: list[dict[str, object]]
    chosen: pl.DataFrame
    answered: list[str]


class _Answer(NamedTuple):
    data_id: str
    text: str
    is_entity: bool


def read_answers(files: Sequence[Path], images: pl.DataFrame) -> Read:
    """Read objects with `data_id` and `prediction` or `pred_entity_id`, one a line, for `images`.

    Files are plain or gzip. `data_id` is the `source_image_id` of an image, where the collection
    has that column, or its `image_id`. A line with `pred_entity_id`, the form of OVEN's official
    scorer (edchengg/oven_eval), names its entity itself, whatever else it has. Put aside are: lines
    that are no such object (bad_json), answers without a word (empty_answer), on no image of the
    collection (unknown_query), or on one that has an answer already (answered_before).

    Raises:
        MissingFile: a file that is not there.
    """
    image_ids = dict(_image_ids(images))
    answers: dict[str, _Answer] = {}
    places: dict[str, dict[str, object]] = {}
    answered: set[str] = set()
    rejected: list[dict[str, object]] = []
    for path, row, line in _lines(files):
        answer = _parsed(line)
        image_id = image_ids.get(answer.data_id) if answer else None
        reason = _reason(answer, image_id, answers)
        location: dict[str, object] = {"file": path.name, "row": row, "raw": line}
        if reason:
            detail = answer.data_id if answer else ""
            rejected.append({**location, "reason": reason, "detail": detail})
        elif answer and image_id:
            answers[image_id] = answer
            places[image_id] = location
        if image_id:
            answered.add(image_id)
    log.info("%d answers, %d put aside", len(answers), len(rejected))
    return Read(_texts(answers), rejected, _chosen(answers, places), sorted(answered))


def _texts(answers: Mapping[str, _Answer]) -> pl.DataFrame:
    rows = [(i, answer.text) for i, answer in answers.items() if not answer.is_entity]
    return pl.DataFrame(rows, schema=_SCHEMA, orient="row").sort("query_id")


def _chosen(
    answers: Mapping[str, _Answer], places: Mapping[str, Mapping[str, object]]
) -> pl.DataFrame:
    named = [(i, answer.text) for i, answer in answers.items() if answer.is_entity]
    rows = [{"query_id": i, "entity": entity, **places[i]} for i, entity in named]
    schema = {"query_id": pl.String, "entity": pl.String, **_LOCATION}
    return pl.DataFrame(rows, schema=schema).sort("query_id")


def _image_ids(images: pl.DataFrame) -> Iterator[tuple[str, str]]:
    """Pair every id that a line may use for an image with its image_id."""
    yield from ((i, i) for i in images["image_id"])
    if "source_image_id" in images.columns:
        rows = images.drop_nulls("source_image_id").select("source_image_id", "image_id")
        yield from rows.iter_rows()


def _lines(files: Sequence[Path]) -> Iterator[tuple[Path, int, str]]:
    for path in files:
        if not path.is_file():
            raise MissingFile(path, "no such file of answers", "correct `systems.<system>.files`")
        with _opened(path) as file:
            yield from ((path, n, line.rstrip("\r\n")) for n, line in enumerate(file, 1))


def _opened(path: Path) -> TextIO:
    read = gzip.open if path.suffix == ".gz" else open
    return cast(TextIO, read(path, "rt", encoding="utf-8", errors="replace"))


def _parsed(line: str) -> _Answer | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict):
        return None
    fields = cast(dict[str, object], row)
    key, entity, text = (fields.get(k) for k in ("data_id", "pred_entity_id", "prediction"))
    answer = text if entity is None else entity
    if not (isinstance(key, str) and isinstance(answer, str)):
        return None
    return _Answer(key, answer, entity is not None)


def _reason(answer: _Answer | None, image_id: str | None, answers: Container[str]) -> str | None:
    if answer is None:
        return "bad_json"
    if not answer.text.strip():
        return "empty_answer"
    if image_id is None:
        return "unknown_query"
    return "answered_before" if image_id in answers else None


def search_answers(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    answers: Sequence[Path],
    indexes: Sequence[Path],
    runs: Sequence[Path],
    rejected: Path,
    answered: Path,
    spec: Answers,
    depth: int,
    threads: int,
) -> None:
    """Rank texts for the images that the files `answers` answer; the runs of t2m have no hit.

    An answer that names its entity has that one hit, with score 1, where it is in the pool.
    `rejected` gets schemas.REJECTED: the rows that `read_answers` puts aside, and those whose
    entity no text is (unknown_entity). `answered` gets schemas.ANSWERED: the images that some line
    is on.
    """
    read = read_answers(answers, pl.read_parquet(images, glob=False))
    chosen, strange = _entities(read.chosen, texts)
    in_order = sorted([*read.rejected, *strange], key=_location)
    store.write_rows(in_order, rejected, REJECTED)
    ids = pl.DataFrame({"query_id": read.answered}, schema={"query_id": pl.String})
    store.write(ids.to_arrow(), answered, ANSWERED)
    folders = {folder.parts[-2]: folder for folder in indexes}
    for paths in by_index(runs):
        cell = RunKey.from_path(paths[0])
        index = folders[cell.setting] / cell.pool / cell.document_side
        queries = {
            RunKey.from_path(path): query_ids(qrels, RunKey.from_path(path)) for path in paths
        }
        hits = empty().drop("rank")
        if cell.task == "m2t":
            answered_ids = sorted({ident for ids in queries.values() for ident in ids})
            names = read.answers.filter(pl.col("query_id").is_in(answered_ids))
            names = names.rename({"query_id": "id"})
            entities = chosen.filter(pl.col("split").is_in(pool_splits(cell.setting, cell.pool)))
            if index.exists() and names.height:
                limits = {"hits": depth, "threads": threads}
                hits = find_names(names, index, tokenizer=spec.tokenizer, **limits)
            hits = pl.concat([hits, entities.select(hits.columns)])
        share(hits, queries, paths)


def _location(row: Mapping[str, object]) -> tuple[str, int]:
    return str(row["file"]), int(str(row["row"]))


def _entities(chosen: pl.DataFrame, texts: Path) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Return the hits of answers that name an entity, with its split, and rows of REJECTED."""
    by_source = pl.scan_parquet(texts, glob=False).select(
        "text_id", "split", entity="source_text_id"
    )
    by_id = by_source.with_columns(entity=pl.col("text_id"))
    both = pl.concat([by_id, by_source]).join(chosen.lazy(), on="entity", how="semi").collect()
    entities = both.unique("entity", keep="first", maintain_order=True)
    joined = chosen.join(entities, on="entity", how="left")
    hits = joined.drop_nulls("text_id").select(
        "query_id", pl.col("text_id").alias("doc_id"), "split", score=pl.lit(1.0)
    )
    strange = joined.filter(pl.col("text_id").is_null()).select(
        "file", "row", pl.lit("unknown_entity").alias("reason"), pl.col("entity").alias("detail"),
        "raw",
    )  # fmt: skip
    return hits, strange.to_dicts()
