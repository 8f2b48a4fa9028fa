"""Objects in pictures, read from tables and matched with WordNet's concepts."""

import json
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from isotope.core.errors import EmptyTable, MissingColumn, MissingFile
from isotope.intake.tables import frame
from isotope_explain.schemas import CONCEPTS
from isotope_explain.wordnet import WordNet, offset

BOX = ["x_min", "y_min", "x_max", "y_max"]
UNKNOWN, NO_BOX = "unknown synset", "empty box"


def read_objects(images: Path, facts: Path | None) -> pl.DataFrame:
    """Return image_id, synset and the box of every object: from a file, or from the images.

    `facts` has image_url, synset and perhaps boxes (schemas.OBJECTS); without it the images have a
    column `objects`. Only pictures of the collection are kept, in the order of the file; `row`
    counts from 1.

    Raises:
        MissingFile, MissingColumn: no such file, or no objects in it.
    """
    if facts is None:
        return _from_images(images)
    urls = pl.read_parquet(images, columns=["image_id", "image_url"], glob=False)
    return _from_facts(facts).join(urls, on="image_url")


def match_concepts(
    objects: pl.DataFrame, wordnet: WordNet, where: Path
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Split objects into those in WordNet (schemas.CONCEPTS) and the others (schemas.REJECTED).

    Two names of one synset are one concept; objects without a box have no area. `where` is the
    file that the rejected rows name.

    Raises:
        EmptyTable: not one object that is in WordNet.
    """
    names = objects["synset"].unique().to_list()
    entries = [wordnet.synset(str(name)) for name in names]
    synsets = pl.DataFrame(
        {"synset": names, "entry": entries, "offset": [e and offset(e) for e in entries]},
        schema={"synset": pl.String, "entry": pl.String, "offset": pl.Int64},
    )
    x_min, y_min, x_max, y_max = map(pl.col, BOX)
    area = ((x_max - x_min) * (y_max - y_min)).cast(pl.Float64)
    empty = ((x_max <= x_min) | (y_max <= y_min)).fill_null(value=False)
    reason = (
        pl.when(pl.col("entry").is_null()).then(pl.lit(UNKNOWN)).when(empty).then(pl.lit(NO_BOX))
    )
    rows = objects.join(synsets, on="synset", how="left", maintain_order="left")
    rows = rows.with_columns(area=area, reason=reason)
    usable = rows.filter(pl.col("reason").is_null())
    if usable.is_empty():
        remedy = "give synsets by name, such as dog.n.01"
        raise EmptyTable(where, f"none of {objects.height:,} objects is in WordNet", remedy)
    # ASSUME of several names of a synset the alphabetically first one will do to show: the paper's
    # objects come with one.
    usable = usable.with_columns(concept=pl.col("synset").min().over("entry"))
    return usable.select(CONCEPTS.names), _rejected(rows.drop_nulls("reason"), where)


def box_areas(objects: pl.DataFrame) -> dict[str, dict[str, list[float]]]:
    """Return box areas in px² of each picture's concepts in schemas.CONCEPTS, NaN for no box."""
    grouped = objects.group_by("image_id", "concept").agg(pl.col("area").fill_null(float("nan")))
    areas: dict[str, dict[str, list[float]]] = {}
    for image_id, concept, box_sizes in grouped.sort("image_id", "concept").iter_rows():
        areas.setdefault(image_id, {})[concept] = box_sizes
    return areas


def _from_images(images: Path) -> pl.DataFrame:
    if "objects" not in pq.read_schema(images).names:
        remedy = "name a file under tabulate.facts.<collection>.objects"
        raise MissingColumn(images, "no column 'objects'", remedy)
    rows = pl.read_parquet(images, columns=["image_id", "objects"], glob=False).explode("objects")
    return rows.drop_nulls("objects").unnest("objects").with_row_index("row", 1)


def _from_facts(facts: Path) -> pl.DataFrame:
    if not facts.is_file():
        raise MissingFile(facts, "no such file", "correct tabulate.facts")
    rows = frame(facts, "give csv or Parquet in tabulate.facts")
    lacking = {"image_url", "synset"} - set(rows.columns)
    if lacking:
        raise MissingColumn(facts, f"no column {min(lacking)!r}", "give image_url and synset")
    boxes = [c for c in BOX if c in rows.columns]
    blank = [pl.lit(None, pl.Int32).alias(c) for c in BOX if c not in boxes]
    return rows.select("image_url", "synset", *boxes, *blank).with_row_index("row", 1)


def _rejected(rows: pl.DataFrame, where: Path) -> pl.DataFrame:
    raw = [json.dumps(row) for row in rows.select("image_id", "synset", *BOX).iter_rows(named=True)]
    return rows.select(
        file=pl.lit(str(where)),
        row=pl.col("row").cast(pl.Int64),
        reason=pl.col("reason"),
        detail=pl.col("synset"),
        raw=pl.Series(raw, dtype=pl.String),
    )
