"""Pictures and sections of a collection, looked up by id while somebody waits.

What is shown of each picture, and how many captions have each word, is put together once: for a
large collection it is written below a folder, and mapped from there when the same tables are asked
for again.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql, store
from isotope.core.progress import Progress, log
from isotope.core.stopwords import stop_words
from isotope.report.site import excerpt
from isotope_suggest.ask.ids import ABSENT, Ids
from isotope_suggest.ask.sources import AskedCollection
from isotope_suggest.captions import without_language
from isotope_suggest.filters import shown
from isotope_suggest.reasons import CaptionWords, stem_of, words
from isotope_suggest.resources import SQL
from isotope_suggest.schemas import PICTURE_KINDS

# Tables of fewer pictures are put together anew each time.
_SMALL = 50_000
# Raise it when what is written changes.
_VERSION = 3
_MOST_PAGES = 5
_PICTURES, _WORDS = "pictures.arrow", "words.arrow"
_TITLES = ("text_id", "page_id", "language", "page_title")
_SHOWN = ("page_title", "section_title", "page_url", "context_section_description")
_BEGINNING = 300
_SHOWN_IMAGES = SQL / "ask/shown_images.sql"
_EMPTY = pl.DataFrame(PICTURE_KINDS.empty_table())


class PictureTable:
    """What is shown of the pictures of a collection, and the words of their captions.

    `frame` has image_id, image_url, captions, caption, `titles` of at most five pages that show
    it, and the columns of schemas.PICTURE_KINDS, null where the phase suggest was not run.
    """

    def __init__(
        self, rows: pl.DataFrame, counts: pl.DataFrame, stops: frozenset[str] = frozenset()
    ) -> None:
        """Take rows by image_id, columns `stem` and `pictures` by stem, and stop words."""
        self.frame, self.ids = rows, Ids(rows["image_id"])
        self.words = CaptionWords(len(rows), _Counts(counts), stops)

    @classmethod
    def load(cls, sources: AskedCollection, cache: Path) -> "PictureTable":
        """Put the table together, or map what was written of the same files before.

        Raises:
            DiskFull: no room for it.
        """
        described = sources.results / "pictures.parquet"
        files = [sources.images, sources.texts, sources.qrels, *sources.placed]
        files += [described] if described.is_file() else []
        cached, stops = cache / _state(files), stop_words(tuple(sources.origins.languages.values()))
        if not cached.is_dir():
            rows = _joined(sources, described)
            counts = count_words(rows["captions"])
            if len(rows) < _SMALL:
                return cls(rows, counts, stops)
            log.info("%d pictures are written to %s", len(rows), cached)
            with store.folder_aside(cached) as folder:
                # One batch: what is gathered of lists in several would copy them all each time.
                pictures = folder / _PICTURES
                rows = rows.rechunk()
                rows.write_ipc(pictures, compression="uncompressed", record_batch_size=len(rows))
                counts.write_ipc(folder / _WORDS, compression="uncompressed")
        return cls(
            *(pl.scan_ipc(cached / name, glob=False).collect() for name in (_PICTURES, _WORDS)),
            stops=stops,
        )

    def __len__(self) -> int:
        """Return how many pictures there are."""
        return len(self.frame)

    def rows(self, ids: pl.Series | Sequence[str], *columns: str) -> pl.DataFrame:
        """Return rows of those ids that are there, in the order of `ids`; all columns or some."""
        rows, some = self.ids.rows(ids), columns or self.frame.columns
        return self.frame.select(some)[rows[rows != ABSENT]]

    def named(self, name: str) -> str | None:
        """Return the id of a picture by its id, its URL, or that of its file's page."""
        if self.ids.row(name) != ABSENT:
            return name
        for column in ("image_url", "file_page"):
            matches = self.frame.filter(pl.col(column) == name)
            if len(matches):
                return matches["image_id"][0]
        return None


class _Counts(Mapping[str, int]):
    """How many pictures have a stem: columns that may be mapped, not a dictionary."""

    def __init__(self, counts: pl.DataFrame) -> None:
        self._stems, self._pictures = Ids(counts["stem"]), counts["pictures"]

    def __getitem__(self, stem: str) -> int:
        row = self._stems.row(stem)
        if row == ABSENT:
            raise KeyError(stem)
        return int(self._pictures[row])

    def __iter__(self) -> Iterator[str]:
        return iter(self._stems.all)

    def __len__(self) -> int:
        return len(self._stems)


def count_words(captions: pl.Series) -> pl.DataFrame:
    """Return how many of some lists of captions have each stem: `stem` and `pictures`, by stem.

    They are `CaptionWords.from_captions(captions).counts`; a word is cut and stemmed once.
    """
    rows = pl.DataFrame({"captions": captions}).with_row_index("row")
    progress = Progress("captions counted", len(rows))
    parts = list[pl.DataFrame]()
    stems = dict[str, list[str]]()
    for part in rows.iter_slices(1 << 18):
        split = (
            pl.col("captions")
            .list.eval(pl.element().str.split(" "))
            .list.eval(pl.element().explode())
        )
        tokens = part.select("row", token=split).explode("token").drop_nulls().unique()
        for token in tokens["token"].unique():
            if token not in stems:
                stems[token] = [stem_of(word) for word in words(token)]
        stem_table = pl.DataFrame(
            {"token": list(stems), "stem": list(stems.values())},
            schema={"token": pl.String, "stem": pl.List(pl.String)},
        )
        stemmed = tokens.join(stem_table, on="token").explode("stem").drop_nulls("stem")
        parts.append(stemmed.select("row", "stem").unique().group_by("stem").len("pictures"))
        progress.add(len(part))
    progress.finish()
    empty = pl.DataFrame(schema={"stem": pl.String, "pictures": pl.UInt32})
    all_counts = pl.concat([empty, *parts])
    return all_counts.group_by("stem").agg(pl.col("pictures").sum()).sort("stem")


def _state(files: Iterable[Path]) -> str:
    """Return a name for the state of files: their places, sizes and times."""
    states = [(str(path.resolve()), path.stat()) for path in files]
    rows = [(name, state.st_size, state.st_mtime_ns) for name, state in states]
    text = json.dumps([_VERSION, rows])
    return f"pictures-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


def _joined(sources: AskedCollection, described: Path) -> pl.DataFrame:
    language = {"language": sources.captions}
    images = sql.query(_SHOWN_IMAGES, {"images": sources.images}, language)
    descriptions = pl.read_parquet(described, glob=False) if described.is_file() else _EMPTY
    rows = (images if images is not None else pl.DataFrame()).join(
        descriptions, on="image_id", how="left", maintain_order="left"
    )
    completed = rows.with_columns(
        pl.coalesce("width", "image_width").alias("width"),
        pl.coalesce("height", "image_height").alias("height"),
        without_language(pl.col("caption")).alias("caption"),
        pl.col("captions").list.eval(without_language(pl.element())),
    ).drop("image_width", "image_height")
    titles = _titles(sources, descriptions)
    return completed.join(titles, on="image_id", how="left", maintain_order="left").with_columns(
        pl.col("titles").fill_null([])
    )


def _titles(sources: AskedCollection, pictures: pl.DataFrame) -> pl.DataFrame:
    """Return image_id and titles: the pages that show a picture, or that are judged to."""
    texts = pl.read_parquet(sources.texts, columns=list(_TITLES), glob=False)
    qrels = pl.read_parquet(sources.qrels, columns=["text_id", "image_id"], glob=False)
    judged = qrels.join(texts, on="text_id").select("image_id", "page_title")
    title_tables = [judged]
    if len(pictures) and sources.placed:
        pages = texts.select("page_id", "language", "page_title").unique(["page_id", "language"])
        on = shown(sources.placed, pictures, sources.origins)
        title_tables.append(
            on.join(pages, on=["language", "page_id"]).select("image_id", "page_title")
        )
    all_titles = pl.concat(title_tables).drop_nulls().unique().sort("image_id", "page_title")
    return all_titles.group_by("image_id", maintain_order=True).agg(
        pl.col("page_title").head(_MOST_PAGES).alias("titles")
    )


class TextTable:
    """The sections of a collection, read from their table as they are asked for."""

    def __init__(self, texts: Path) -> None:
        """Take the table, which is in the order of its ids."""
        self._texts = pl.scan_parquet(texts, glob=False)

    def rows(self, ids: Sequence[str], *columns: str) -> dict[str, Mapping[str, Any]]:
        """Return some columns of those of `ids` that are there, by text_id."""
        if not ids:
            return {}
        # Bounds tell which row groups hold none of them.
        within = pl.col("text_id").is_between(pl.lit(min(ids)), pl.lit(max(ids)))
        matching = self._texts.filter(within & pl.col("text_id").is_in([*ids]))
        rows = matching.select("text_id", *columns).collect()
        return {row["text_id"]: row for row in rows.iter_rows(named=True)}

    def shown(self, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return what is shown of sections: title, heading, URL, and `text`, all of it."""
        return {
            key: {**row, "text": " ".join((row["context_section_description"] or "").split())}
            for key, row in self.rows(ids, *_SHOWN).items()
        }

    def listed(self, ids: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return what a list shows of sections: as `shown`, of texts the beginning."""
        return {
            key: {**row, "text": excerpt(row["text"], _BEGINNING)}
            for key, row in self.shown(ids).items()
        }

    def with_title(self, part: str) -> pl.Series:
        """Return the ids of sections in whose title, or page's title, a part stands, sorted."""
        low = part.casefold()
        contains = (
            pl.col(name).str.to_lowercase().str.contains(low, literal=True) for name in _SHOWN[:2]
        )
        return (
            self._texts.filter(pl.any_horizontal(*contains)).select("text_id").collect()["text_id"]
        )
