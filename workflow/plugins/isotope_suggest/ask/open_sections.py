"""Sections that show no picture, and what the feed suggests for them."""

from functools import cached_property

import polars as pl

from isotope.core.errors import MissingFile, UnknownId
from isotope_suggest.ask.answers import AnswerList, SectionAnswer
from isotope_suggest.ask.lookup import TextTable
from isotope_suggest.ask.sources import AskedCollection
from isotope_suggest.schemas import FEED

_OPEN = "open"
_CHANCE = ("probability", "low", "high")
_ANSWERED = ("text_id", "image_id", *_CHANCE)


class OpenSections:
    """What the phase suggest says of a collection's sections; little where it was not run."""

    def __init__(self, sources: AskedCollection, texts: TextTable) -> None:
        """Take where its tables lie; they are read when they are needed."""
        self._sources, self._texts = sources, texts

    @cached_property
    def _feed(self) -> pl.DataFrame:
        """The pairs of the feed, none where the phase was not run."""
        path = self._sources.results / "feed.parquet"
        if not path.is_file():
            return pl.DataFrame(FEED.empty_table()).select(_ANSWERED)
        return pl.read_parquet(path, columns=list(_ANSWERED), glob=False)

    def chances(self, image_id: str) -> dict[str, tuple[float, float, float]]:
        """Return, for each section for which the feed has a picture, probability, low and high."""
        picture_rows = self._feed.filter(pl.col("image_id") == image_id)
        return {
            text_id: tuple(chance)
            for text_id, *chance in picture_rows.select("text_id", *_CHANCE).iter_rows()
        }

    def among(self, text_ids: pl.Series) -> set[str]:
        """Return those of some sections that show no picture; judged ones have one."""
        path = self._sources.results / "sections.parquet"
        mine = pl.col("text_id").is_in(text_ids.implode())
        if path.is_file():
            open_rows = pl.scan_parquet(path, glob=False).filter(mine & (pl.col("role") == _OPEN))
            return set(open_rows.select("text_id").collect()["text_id"])
        judged = (
            pl.scan_parquet(self._sources.qrels, glob=False)
            .filter(mine)
            .select("text_id")
            .collect()
        )
        return set(text_ids) - set(judged["text_id"])

    def listed(
        self, *, search: str = "", after: str = "", most: int = 50
    ) -> AnswerList[SectionAnswer]:
        """Return open sections, the likeliest to need a picture first, after the section `after`.

        `reasons` counts the feed's suggestions, if there are any; `search` is a part of a page's or
        section's title. `notes` say how many there are, and how many of them ought to have a
        picture.

        Raises:
            MissingFile: the phase suggest was not run.
            UnknownId: no open section `after`.
        """
        rows = self._open
        if after:
            at = rows["text_id"].index_of(after)
            if at is None:
                raise UnknownId(f"section {after}", "it is not in the list", "begin anew")
            rows = rows[at + 1 :]
        if search.strip():
            rows = rows.join(
                self._texts.with_title(search.strip()).to_frame(),
                on="text_id",
                how="semi",
                maintain_order="left",
            )
        some = rows.head(most)
        shown = self._texts.listed(some["text_id"].to_list())
        places = (
            SectionAnswer.from_row(
                shown[row[0]], (row[1], None, None), _counted(row[2]), is_open=True
            )
            for row in some.iter_rows()
            if row[0] in shown
        )
        return AnswerList(places, [self._summary])

    @property
    def _summary(self) -> str:
        open_sections, minimum = self._open, self._sources.asked.minimum_need
        enough = int((open_sections["probability"] >= minimum).sum())
        answered = int((open_sections["suggestions"] > 0).sum())
        count = len(open_sections)
        return (
            f"{count:,} section{'' if count == 1 else 's'} without a picture; {enough:,} "
            f"of them ought to have one, with a probability of at least {minimum:g}; the feed has "
            f"suggestions for {answered:,}"
        )

    @cached_property
    def _open(self) -> pl.DataFrame:
        """Open sections: text_id, probability, suggestions; the likeliest to need one first."""
        path = self._sources.results / "sections.parquet"
        if not path.is_file():
            problem = "the phase suggest was not run, which says what sections lack a picture"
            raise MissingFile(path, problem, "run `snakemake --cores all suggest`")
        open_rows = pl.scan_parquet(path, glob=False).filter(pl.col("role") == _OPEN)
        counts = self._feed.lazy().group_by("text_id").len("suggestions")
        rows = open_rows.select("text_id", "probability").join(counts, on="text_id", how="left")
        ordered = rows.sort("probability", "text_id", descending=[True, False])
        return ordered.with_columns(pl.col("suggestions").fill_null(0)).collect()


def _counted(suggestions: int) -> list[str]:
    some = f"{suggestions} sure suggestion{'' if suggestions == 1 else 's'}"
    return [some] if suggestions else []
