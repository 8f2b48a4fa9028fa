"""The rows of a feed: what a wiki needs to know of a suggestion, in words and names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from isotope.core.exact import by_faiss
from isotope.core.schemas import CAPTION_FIELDS
from isotope.core.stopwords import stop_words
from isotope.schemas.suggest import FEED
from isotope.suggest.captions import without_language
from isotope.suggest.credit import credit_line
from isotope.suggest.likeness import Likeness
from isotope.suggest.rank import KEY
from isotope.suggest.reasons import Words, reasons

_TEXTS = ("text_id", "page_title", "section_title", "context_section_description")
_PICTURES = ("image_id", "file", "author", "licence", "file_page")
# ASSUME captions of a million pictures tell how rare words are as well as those of all would; no
# measurement says.
_MOST_CAPTIONED = 1_000_000
# Pictures of judged sections among which those that look alike are found, how many near ones are
# looked at for one of another page, and how many pictures are looked up at once.
_MOST_ALIKE, _NEAR, _AT_ONCE = 100_000, 5, 4_096


class Described(NamedTuple):
    """Tables that describe sections and pictures; the first two are read as far as needed."""

    texts: Path
    images: Path
    sections: pl.DataFrame
    pictures: pl.DataFrame
    qrels: pl.DataFrame


def describe(
    shown: pl.DataFrame, about: Described, likeness: Likeness | None, spec: Mapping[str, Any]
) -> pl.DataFrame:
    """Return FEED of the candidates that are shown, in its order.

    `shown` has CANDIDATES' columns, rank, probability, low, high and kind; ranks of a section are
    counted anew, as its second suggestion may lack where its third is sure enough. `likeness` is
    None without vectors. Keys of `spec`: languages, wikis, snapshot; `caution` is that of what was
    learned.
    """
    empty = pl.DataFrame(FEED.empty_table())
    if shown.is_empty():
        return empty
    rows = _joined(shown, about).join(
        _pages(shown, about, likeness), on=KEY, how="left", maintain_order="left"
    )
    words = Words.of(_captions(about.images), stop_words(tuple(spec["languages"])))
    # Of two sources in one language the first one's wiki counts.
    wikis = dict(zip(reversed(spec["languages"]), reversed(spec["wikis"]), strict=True))
    named = (
        {
            **{**_named(row, words), "wiki": wikis[row["language"]]},
            **{"snapshot": spec["snapshot"], "caution": spec["caution"]},
        }
        for row in rows.iter_rows(named=True)
    )
    feed = pl.DataFrame(named, schema=empty.schema)
    ordered = feed.sort("wiki", "page_id", "section_index", "text_id", "rank")
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("text_id")
    return ordered.with_columns(rank.alias("rank"))


def _joined(shown: pl.DataFrame, about: Described) -> pl.DataFrame:
    """Add what sections, texts, images and pictures say of the candidates."""
    sections = about.sections.select("text_id", "page_id", "language", "place")
    texts = _rows(about.texts, _TEXTS, shown["text_id"])
    columns = ("image_id", "image_url", *CAPTION_FIELDS)
    images = _rows(about.images, columns, shown["image_id"]).with_columns(
        pl.col(field).list.eval(without_language(pl.element())) for field in CAPTION_FIELDS
    )
    names = (
        "rank",
        "probability",
        "low",
        "high",
        "kind",
        "dense",
        "alignment",
        "alignment_on",
        "links_on",
        "wikidata_on",
    )
    rows = shown.select(*KEY, *names)
    for key, table in (("text_id", sections), ("text_id", texts)):
        rows = rows.join(table, on=key, how="left", maintain_order="left")
    for table in (images, about.pictures.select(_PICTURES)):
        rows = rows.join(table, on="image_id", how="left", maintain_order="left")
    return rows


def _rows(table: Path, columns: Sequence[str], ids: pl.Series) -> pl.DataFrame:
    own = ids.unique().to_frame().lazy()
    wanted = pl.scan_parquet(table).select(columns).join(own, on=ids.name, how="semi")
    return wanted.collect(engine="streaming")


def _named(row: Mapping[str, Any], words: Words) -> dict[str, Any]:
    """Return the fields of FEED that a candidate alone decides."""
    text = "\n".join(row[name] or "" for name in (*_TEXTS[2:], "page_title"))
    captions = [caption for name in CAPTION_FIELDS for caption in row[name] or ()]
    shown_on = [row["like"]] if row["is_shown_there"] else []
    found_on = [
        *(row["alignment_on"] or ()),
        *(row["links_on"] or ()),
        *(row["wikidata_on"] or ()),
        *shown_on,
    ]
    names = ("page_id", "page_title", "section_title", "image_url", "kind", "rank")
    names += ("probability", "low", "high")
    return {
        **{name: row[name] for name in (*names, *KEY)},
        "section_index": row["place"],
        "image": row["file"],
        "found_on": list(dict.fromkeys(found_on)),
        "reasons": reasons(row, text, captions, words, like=row["like"]),
        "credit": credit_line(row["author"], row["licence"], row["file_page"]),
    }


def _captions(images: Path) -> Iterator[list[str]]:
    """Yield the captions of pictures, of many those of every n-th."""
    rows = pl.scan_parquet(images).select(CAPTION_FIELDS)
    count = pl.scan_parquet(images).select(pl.len()).collect().item()
    for fields in rows.gather_every(1 + count // _MOST_CAPTIONED).collect().iter_rows():
        yield [caption for field in fields for caption in field or ()]


def _pages(shown: pl.DataFrame, about: Described, likeness: Likeness | None) -> pl.DataFrame:
    """Return, for candidates, `like`: the title of a page that shows the picture, or one like it.

    These are pages of judged sections, and not the candidate's own; `is_shown_there` tells which.
    """
    pages = about.sections.select("text_id", "language", "page_id")
    owners = about.qrels.rename({"text_id": "owner", "image_id": "near"}).join(
        pages.rename({name: f"owner_{name}" for name in pages.columns}).rename(
            {"owner_text_id": "owner"}
        ),
        on="owner",
    )
    near = _near(shown["image_id"].unique().sort(), owners["near"].unique().sort(), likeness)
    own = shown.select(KEY).join(pages, on="text_id").join(near, on="image_id")
    page = pl.struct("language", "page_id")
    others = own.join(owners, on="near").filter(
        page != pl.struct(language="owner_language", page_id="owner_page_id")
    )
    best = others.sort(*KEY, "place", "owner").unique(KEY, keep="first", maintain_order=True)
    titles = _rows(about.texts, ("text_id", "page_title"), best["owner"].alias("text_id"))
    named = best.join(titles.rename({"text_id": "owner", "page_title": "like"}), on="owner")
    return named.select(*KEY, "like", is_shown_there=pl.col("place") == 0)


def _near(pictures: pl.Series, judged: pl.Series, likeness: Likeness | None) -> pl.DataFrame:
    """Return image_id, near and place: judged pictures are near themselves, at place 0.

    Others are near the judged pictures whose vectors are nearest, if there are vectors.
    """
    there = pictures.is_in(judged.implode())
    same = pictures.filter(there)
    found = [pl.DataFrame({"image_id": same, "near": same}).with_columns(place=pl.lit(0))]
    others = pictures.filter(~there)
    if likeness is not None and len(others) and len(judged):
        some = judged.gather_every(1 + len(judged) // _MOST_ALIKE)
        ask, most = by_faiss(likeness.vectors(some)), min(_NEAR, len(some))
        for start in range(0, len(others), _AT_ONCE):
            part = others[start : start + _AT_ONCE]
            _, places = ask(likeness.vectors(part), most)
            near = some.gather(places.ravel())
            nth = pl.Series(np.tile(np.arange(1, most + 1, dtype=np.int32), len(part)))
            ids = part.gather(np.repeat(np.arange(len(part)), most))
            found.append(pl.DataFrame({"image_id": ids, "near": near, "place": nth}))
    return pl.concat(found)
