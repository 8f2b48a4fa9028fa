"""The objects of pictures as WordNet's concepts; what WordNet lacks is kept aside."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.core.errors import EmptyTable, MissingColumn, MissingFile
from isotope.explain.tables import CONCEPTS
from isotope.explain.wordnet import WordNet

BOX = ["x_min", "y_min", "x_max", "y_max"]
UNKNOWN, NO_BOX = "unknown synset", "empty box"


class Pictures(NamedTuple):
    """Box areas in px² by image and concept, and the offset in WordNet of each concept."""

    areas: Mapping[str, Mapping[str, Sequence[float]]]
    offsets: Mapping[str, int]


def read_objects(images: Path, facts: Path | None) -> pl.DataFrame:
    """Return image_id, synset and the box of every object: from a file, or from the images.

    `facts` has image_url, synset and perhaps boxes (tables.OBJECTS); without it the images have a
    column `objects`. Only pictures of the collection are kept, in the order of the file; `row`
    counts from 1.

    Raises:
        MissingFile, MissingColumn: no such file, or no objects in it.
    """
    known = pl.read_parquet(images, columns=["image_id", "image_url"])
    return _own(images) if facts is None else _told(facts).join(known, on="image_url")


def _own(images: Path) -> pl.DataFrame:
    if "objects" not in pl.read_parquet_schema(images):
        remedy = "name a file under tabulate.facts.<collection>.objects"
        raise MissingColumn(images, "no column 'objects'", remedy)
    rows = pl.read_parquet(images, columns=["image_id", "objects"]).explode("objects")
    return rows.drop_nulls("objects").unnest("objects").with_row_index("row", 1)


def _told(facts: Path) -> pl.DataFrame:
    if not facts.is_file():
        raise MissingFile(facts, "no such file", "correct tabulate.facts")
    read = pl.read_csv if facts.suffix == ".csv" else pl.read_parquet
    rows = read(facts)
    lacking = {"image_url", "synset"} - set(rows.columns)
    if lacking:
        raise MissingColumn(facts, f"no column {min(lacking)!r}", "give image_url and synset")
    boxes = [c for c in BOX if c in rows.columns]
    blank = [pl.lit(None, pl.Int32).alias(c) for c in BOX if c not in boxes]
    return rows.select("image_url", "synset", *boxes, *blank).with_row_index("row", 1)


def concepts(
    objects: pl.DataFrame, wordnet: WordNet, where: Path
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split objects into those of known synsets (tables.CONCEPTS) and the others (tables.REJECTED).

    Two names of one synset are one concept; objects without a box have no area. `where` is the
    file that the rejected rows are told of.

    Raises:
        EmptyTable: not one object that WordNet knows.
    """
    names = objects["synset"].unique().to_list()
    found = pl.DataFrame(
        {"synset": names, "offset": [wordnet.synset(str(name)) for name in names]},
        schema={"synset": pl.String, "offset": pl.Int64},
    )
    x_min, y_min, x_max, y_max = map(pl.col, BOX)
    area = ((x_max - x_min) * (y_max - y_min)).cast(pl.Float64)
    empty = ((x_max <= x_min) | (y_max <= y_min)).fill_null(value=False)
    reason = (
        pl.when(pl.col("offset").is_null()).then(pl.lit(UNKNOWN)).when(empty).then(pl.lit(NO_BOX))
    )
    sorted_out = objects.join(found, on="synset", how="left", maintain_order="left").with_columns(
        area=area, reason=reason
    )
    kept = sorted_out.filter(pl.col("reason").is_null())
    if kept.is_empty():
        remedy = "give synsets by name, such as dog.n.01"
        raise EmptyTable(where, f"none of {objects.height:,} objects is in WordNet", remedy)
    # ASSUME of several names of a synset the alphabetically first one will do to show: the paper's
    # objects come with one.
    named = kept.with_columns(concept=pl.col("synset").min().over("offset"))
    return named.select(CONCEPTS.names), _rejected(sorted_out.drop_nulls("reason"), where)


def _rejected(rows: pl.DataFrame, where: Path) -> pl.DataFrame:
    raw = [json.dumps(row) for row in rows.select("image_id", "synset", *BOX).iter_rows(named=True)]
    return rows.select(
        file=pl.lit(str(where)),
        row=pl.col("row").cast(pl.Int64),
        reason=pl.col("reason"),
        detail=pl.col("synset"),
        raw=pl.Series(raw, dtype=pl.String),
    )


def pictures(kept: pl.DataFrame) -> Pictures:
    """Group the objects, tables.CONCEPTS, by picture and concept."""
    grouped = kept.group_by("image_id", "concept").agg(pl.col("area").fill_null(float("nan")))
    areas: dict[str, dict[str, list[float]]] = {}
    for image_id, concept, own in grouped.sort("image_id", "concept").iter_rows():
        areas.setdefault(image_id, {})[concept] = own
    offsets = dict(kept.select("concept", "offset").unique().sort("concept").iter_rows())
    return Pictures(areas, offsets)
