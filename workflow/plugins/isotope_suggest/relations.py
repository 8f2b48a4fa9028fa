"""What a collection's pages have, for the queries that align sections and follow links.

Tables of parse come with one file a source; here they have the ids of the collection, and files are
pictures of it (`origins.parsed`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.manifest import placed_if_any
from isotope.core.progress import Progress
from isotope.core.schemas import schema
from isotope.core.sql import Files, run_chain
from isotope.core.titles import Capitals, file_name
from isotope.core.uploads import decoded_name, file_of
from isotope.parse.langlinks import read_langlinks
from isotope.schemas.parse import ASSOCIATIONS
from isotope_suggest.origins import Origins
from isotope_suggest.resources import SQL

STEPS = SQL / "pages"
# Candidates of each source for a section, of which ten at most are ranked.
SOURCE_DEPTH = 50
HIDDEN_SPLITS = ("validation", "test")
LANGLINKS = schema(language=pa.string(), page_id=pa.int64(), other=pa.string(), title=pa.string())
_ROWS = 100_000
_FILES = {"file": pl.String, "image_id": pl.String}
_REDIRECTS = {"language": pl.String, "title": pl.String, "target": pl.String}


@dataclass(frozen=True)
class Inputs:
    """The collection's tables, and those of parse, one of each source in one order.

    `langlinks` are those of `language_links`; `redirects` are the rejected pages of parse, and
    `entities` the tables of Wikidata, each with its wiki's language.
    """

    texts: Path
    images: Path
    qrels: Path
    sections: Path
    outlines: Sequence[Path]
    placed: Sequence[Path]
    associations: Sequence[Path] = ()
    langlinks: Sequence[tuple[str, Path]] = ()
    redirects: Sequence[Path] = ()
    entities: Sequence[tuple[str, Path]] = ()


def asked_sections(sections: Path, minimum_need: float) -> pl.DataFrame:
    """Return text_id, language and page_id of the sections that get candidates, by text_id.

    They are the judged ones of validation and test, and the open ones that ought to have a picture.
    """
    judged = (pl.col("role") == "judged") & pl.col("split").is_in(HIDDEN_SPLITS)
    is_open = (pl.col("role") == "open") & (pl.col("probability") >= minimum_need)
    rows = pl.scan_parquet(sections, glob=False).filter(judged | is_open)
    return rows.select("text_id", "language", "page_id", "role").sort("text_id").collect()


def write_relations(
    inputs: Inputs, asked: pl.DataFrame, folder: Path, origins: Origins
) -> dict[str, Files]:
    """Write into `folder` what the queries read; return the files by relation.

    Besides the collection's own: outlines, placed (with image_id), associations, langlinks,
    redirects and, where there are any, entities and depictions; `asked` sections, and those of them
    that are `hidden`; all `pages`, the `titles` that lead to them, and those that sections have
    `linked`.

    Raises:
        As `parse.langlinks.read_langlinks`.
    """
    files = folder / "files.parquet"
    _write_files(inputs.images, files)
    written = {name: folder / f"{name}.parquet" for name in ("outlines", "placed", "redirects")}
    outlines = origins.parsed(inputs.outlines)
    columns = ("text_id", "page_id", "language", "place", "heading", "links", "languages")
    outlines.select(columns).sink_parquet(written["outlines"])
    placed = origins.parsed(inputs.placed)
    pictures = placed.join(pl.scan_parquet(files, glob=False), on="file")
    shown = pictures.select("text_id", "page_id", "language", "image_id", "origin")
    shown.sink_parquet(written["placed"])
    _redirects(inputs.redirects, origins).sink_parquet(written["redirects"])
    asked.write_parquet(folder / "asked.parquet")
    hidden = asked.filter(pl.col("role") == "judged").select("text_id")
    hidden.write_parquet(folder / "hidden.parquet")
    _write_langlinks(inputs.langlinks, folder / "langlinks.parquet")
    written |= _write_entities(inputs.entities, files, folder)
    store.write(ASSOCIATIONS.empty_table(), folder / "none.parquet", ASSOCIATIONS)
    paths = {name: folder / f"{name}.parquet" for name in ("asked", "hidden", "langlinks")}
    tables: dict[str, Files] = {n: getattr(inputs, n) for n in ("texts", "images", "qrels")}
    associations = list(inputs.associations) or [folder / "none.parquet"]
    relations = {**tables, **written, **paths, "associations": associations}
    return relations | run_chain(sorted(STEPS.glob("*.sql")), relations, folder)


def _write_files(images: Path, out: Path) -> None:
    """Write file and image_id of every picture; of two with a file's name the smaller id counts."""
    rows = pl.scan_parquet(images, glob=False).select("image_id", "image_url")
    names = pl.col("image_url").map_elements(_names, return_dtype=pl.List(pl.String))
    named = rows.with_columns(file=names).explode("file").drop_nulls("file")
    first = named.group_by("file").agg(pl.col("image_id").min()).sort("file")
    first.select(*_FILES).sink_parquet(out)


def _names(address: str) -> list[str]:
    """Return what parse may call a file: all of its address's name, or what it is a size of."""
    full_name = file_name(decoded_name(address.rpartition("/")[2]))
    return [full_name] if (name := file_of(address)) in (None, full_name) else [full_name, name]


@cache
def _capitals(language: str) -> Capitals:
    return Capitals(language)


def _redirects(rejected: Sequence[Path], origins: Origins) -> pl.LazyFrame:
    """Return language, title and target of the pages that parse left out as redirects.

    A source whose parse names no target, such as a ZIM file's, has the rows of the others.
    """
    none = pl.LazyFrame(schema=_REDIRECTS)
    if not rejected:
        return none
    rows = origins.parsed(rejected)
    is_redirect = (pl.col("reason") == "redirect") & (pl.col("raw") != "")
    named = rows.filter(is_redirect).select("language", title="detail", target="raw")
    return named.unique().sort("language", "title", "target")


def _write_entities(
    tables: Sequence[tuple[str, Path]], files: Path, folder: Path
) -> dict[str, Path]:
    """Write `entities`, and `depictions`: their pictures that the collection has.

    Columns of the first are language, page_title, item and names, the category's among them; of the
    second language, page_title, item and image_id.
    """
    if not tables:
        return {}
    paths = {name: folder / f"{name}.parquet" for name in ("entities", "depictions")}
    rows = pl.concat(
        [pl.scan_parquet(p, glob=False).with_columns(language=pl.lit(c)) for c, p in tables]
    )
    key = ["language", "page_title", "item"]
    category = pl.concat_list("category").list.drop_nulls()
    names = pl.col("names").list.concat(category).list.unique(maintain_order=True)
    rows.select(*key, names).sink_parquet(paths["entities"])
    pictures = rows.select(*key, file="pictures").explode("file").drop_nulls("file")
    shown = (
        pictures.join(pl.scan_parquet(files, glob=False), on="file")
        .select(*key, "image_id")
        .unique()
    )
    shown.sort(*key, "image_id").sink_parquet(paths["depictions"])
    return paths


def _write_langlinks(files: Sequence[tuple[str, Path]], out: Path) -> None:
    progress = Progress("language links")
    with store.writer(out, LANGLINKS) as table:
        for language, file in files:
            rows = read_langlinks(file)
            while some := list(islice(rows, _ROWS)):
                pages, other_languages, titles = zip(*some, strict=True)
                named = [
                    _capitals(o).target(t) for o, t in zip(other_languages, titles, strict=True)
                ]
                columns = [[language] * len(some), list(pages), list(other_languages), named]
                table.write_table(pa.table(columns, schema=LANGLINKS))
                progress.add(len(some))
    progress.finish()


def language_links(manifests: Sequence[Path], origins: Origins) -> list[tuple[str, Path]]:
    """Return the acquired tables of language links, each with its wiki's language.

    They are the part `langlinks` of a source, whose folder has its name.

    Raises:
        As `core.manifest.placed_if_any`.
    """
    return [
        (origins.languages[manifest.parent.name], file)
        for manifest in manifests
        for file in placed_if_any(manifest, "langlinks")
    ]


def entity_tables(tables: Sequence[Path], origins: Origins) -> list[tuple[str, Path]]:
    """Return the tables of Wikidata, each with its wiki's language; its folder has its source."""
    return [(origins.languages[table.parent.name], table) for table in tables]


def between(table: pl.LazyFrame, ids: pl.Series) -> pl.LazyFrame:
    """Return the rows of some sections, whose ids are sorted; a sorted file is read there only."""
    first, last = (ids[0], ids[-1]) if len(ids) else ("", "")
    return table.filter(
        pl.col("text_id").is_between(pl.lit(first), pl.lit(last)),
        pl.col("text_id").is_in(ids.implode()),
    )


def pieces(ids: pl.Series, size: int) -> Iterator[pl.Series]:
    """Yield the ids in their order, `size` at a time."""
    for first in range(0, len(ids), size):
        yield ids.slice(first, size)
