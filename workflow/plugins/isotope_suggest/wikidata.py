"""Pictures and names that Wikidata has for a section's page, and for the pages it links to.

Wikimedia's section topics follow a section's links to the picture (P18) of their items; so do
these, with the item of the section's own page besides. `parse.wikidata` makes the tables.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

import polars as pl

from isotope.core import sql
from isotope.core.progress import log
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.store import rows_in
from isotope.core.uploads import decoded_name
from isotope_suggest.resources import SQL

_PICTURES = SQL / "wikidata.sql"
# ASSUME a name of fewer letters is part of too many other words to tell anything; no measurement
# says.
_SHORTEST = 4


def depict(relations: Mapping[str, sql.Files], folder: Path, depth: int) -> Path:
    """Make a table in `folder`: text_id, image_id, and this source's columns of schemas.CANDIDATES.

    Sections have at most `depth` pictures, and rows are sorted by both ids. `wikidata` is a share
    in (0, 1]: of an item with m pictures each has 1/m in the page's own lead; in its n other
    sections 1/(m n), and in a section that links to n pages with such an item 1/(m n) too. Shares
    of several pages are combined as those of `alignment.align`. `wikidata_on` are items and titles
    of their pages, the greatest share first.
    """
    tables = sql.run_chain([_PICTURES], relations, folder, params={"depth": depth})
    log.info("%d pictures of items in Wikidata", rows_in(tables["wikidata"]))
    return tables["wikidata"]


def page_names(relations: Mapping[str, sql.Files], folder: Path, _: int) -> Path:
    """Make a table in `folder`: text_id, and the `names` that Wikidata has for its page."""
    asked, titles, entities = (
        pl.scan_parquet(cast("Path", relations[name]), glob=False)
        for name in ("asked", "titles", "entities")
    )
    page = ["language", "page_id"]
    of_titles = entities.rename({"page_title": "link"}).drop_nulls("link")
    of_pages = titles.join(of_titles, on=["language", "link"]).select(*page, "names")
    named = asked.select("text_id", *page).join(of_pages, on=page).explode("names")
    out = folder / "names.parquet"
    named.unique().group_by("text_id").agg("names").sort("text_id").sink_parquet(out)
    return out


def said_of(images: Path, ids: pl.Series) -> pl.DataFrame:
    """Return image_id and `said` of some pictures: words of file and captions, without case."""
    asked = ids.unique().alias("image_id").to_frame().lazy()
    all_images = pl.scan_parquet(images, glob=False).select(
        "image_id", "image_url", *CAPTION_FIELDS
    )
    rows = all_images.join(asked, on="image_id", how="semi").collect(engine="streaming")
    files = rows["image_url"].str.split("/").list.last()
    named = files.map_elements(decoded_name, return_dtype=pl.String)
    captions = [pl.col(field).list.join(" ", ignore_nulls=True) for field in CAPTION_FIELDS]
    sentence = pl.concat_str("file", *captions, separator=" ", ignore_nulls=True)
    return rows.with_columns(file=named).select("image_id", said=_words(sentence))


def with_names(
    candidates: pl.DataFrame, names: pl.DataFrame, image_words: pl.DataFrame
) -> pl.DataFrame:
    """Add `is_named` to candidates: whether what is said of the picture has a name of the page.

    `names` has text_id and names, `image_words` is that of `said_of`. Names of fewer than four
    letters don't count; it is null where there is no other.
    """
    name_rows = names.explode("names").select("text_id", name=_words(pl.col("names")))
    name_rows = name_rows.filter(pl.col("name").str.len_chars() >= _SHORTEST + 2)
    pairs = candidates.select("text_id", "image_id").join(name_rows, on="text_id")
    pairs = pairs.join(image_words, on="image_id", how="left")
    is_named = pl.col("said").fill_null("").str.contains(pl.col("name"), literal=True).any()
    flags = pairs.group_by("text_id", "image_id").agg(is_named=is_named)
    return candidates.drop("is_named", strict=False).join(
        flags, on=["text_id", "image_id"], how="left", maintain_order="left"
    )


def _words(text: pl.Expr) -> pl.Expr:
    """Return a text's words in lower case, a space around each."""
    plain = text.str.to_lowercase().str.replace_all(r"[^\pL\pN\pM]+", " ").str.strip_chars()
    return pl.format(" {} ", plain)
