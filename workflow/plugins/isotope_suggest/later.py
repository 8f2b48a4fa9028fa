"""What became of suggestions: the same sections in later snapshots, and the pictures there now.

Suggestions are frozen with the snapshot that they were made of. Nobody who edits the encyclopedia
has seen them, so a section that shows the suggested file later agrees with them independently.

A page keeps its id. On a page, a section of the earlier snapshot is the one of the later that has
the same path of headings, if each has it once; else the same heading, if the rest of the page has
it once in each; else the one between the same two sections, which was renamed. `tabulate.diff`
goes the same way, and compares words besides, which outlines do not have.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.core.progress import Progress, log
from isotope.core.titles import file_name
from isotope.core.uploads import file_of
from isotope.params.sections import Section
from isotope_suggest.origins import Origins
from isotope_suggest.schemas import DELTA, FEED, TAKEN_UP

TAKEN, OTHER, WITHOUT, GONE = "taken up", "other picture", "without picture", "section gone"
OUTCOMES = (TAKEN, OTHER, WITHOUT, GONE)
# The suggestions above the threshold, beside what each system of `scored` puts first.
PUBLISHED = "feed"
CHANGES = ("new", "taken up", "withdrawn")
_PAGE = ["language", "page_id"]
_PLACES = [*_PAGE, "text_id", "place", "level", "heading"]
_LEVELS = range(1, 7)
_SEPARATOR = "\x1f"
_KEY = ["text_id", "image_id"]


class Later(Section):
    """A later snapshot: its date, and its tables of parse, a file a source."""

    date: str
    outlines: list[str]
    placed: list[str]


def follow(  # noqa: PLR0913
    scored: Path,
    feed: Path,
    sections: Path,
    images: Path,
    *,
    outlines: Sequence[Path],
    later: Mapping[str, Later],
    origins: Origins,
    snapshot: str,
    maximum_usage: int,
    most: int,
    out: Path,
) -> None:
    """Write schemas.TAKEN_UP: each frozen suggestion for an open section, in each later snapshot.

    They are the first `most` of every system, and those of the feed as system `feed`.
    `later` has the later collections by name, their files in the order of `origins`. `days` are
    null where a date is none.
    """
    frozen = frozen_suggestions(scored, feed, sections, images, most=most)
    frozen_pages = frozen.select(_PAGE).unique()
    before = _outline(origins.parsed(outlines), frozen_pages)
    progress = Progress("later snapshots", total=len(later))
    parts = [pl.DataFrame(TAKEN_UP.empty_table())]
    for name, files in sorted(later.items(), key=lambda item: (item[1].date, item[0])):
        after = origins.parsed([Path(file) for file in files.outlines])
        same = identify(before, _outline(after, frozen_pages))
        placed = origins.parsed([Path(file) for file in files.placed])
        shown = shown_files(placed, maximum_usage=maximum_usage)
        until = files.date, days_between(snapshot, files.date)
        parts.append(_judged(frozen, same, shown, snapshot, until))
        log.info("%s: %s", name, _counted(parts[-1]))
        progress.add()
    progress.finish()
    rows = pl.concat(parts).sort("later", "system", "text_id", "rank", "image_id")
    store.write(rows.to_arrow(), out, TAKEN_UP)


def frozen_suggestions(
    scored: Path, feed: Path, sections: Path, images: Path, *, most: int
) -> pl.DataFrame:
    """Return what was suggested for open sections: columns of SCORED, the page, and the file."""
    opened = pl.scan_parquet(sections, glob=False).filter(role="open").select("text_id", *_PAGE)
    columns = ["system", *_KEY, "rank", "probability", "kind"]
    first = pl.scan_parquet(scored, glob=False).filter(pl.col("rank") <= most).select(columns)
    published = (
        pl.scan_parquet(feed, glob=False).with_columns(system=pl.lit(PUBLISHED)).select(columns)
    )
    rows = pl.concat([first, published]).join(opened, on="text_id").collect()
    urls = pl.scan_parquet(images, glob=False).select("image_id", "image_url")
    named = urls.join(rows.lazy().select("image_id").unique(), on="image_id", how="semi").collect()
    files = named.with_columns(file=_file(pl.col("image_url"))).drop("image_url")
    return rows.join(files, on="image_id", how="left")


def _file(address: pl.Expr) -> pl.Expr:
    return address.map_elements(file_of, return_dtype=pl.String)


def _outline(rows: pl.LazyFrame, pages: pl.DataFrame) -> pl.DataFrame:
    return rows.select(_PLACES).join(pages.lazy(), on=_PAGE, how="semi").collect()


def identify(before: pl.DataFrame, after: pl.DataFrame) -> pl.DataFrame:
    """Return before_id, after_id of the sections that are the same in two outlines, sorted.

    Both have language, page_id, text_id, place, level and heading.
    """
    earlier, current = _with_paths(before), _with_paths(after)
    parts: list[pl.DataFrame] = []
    for name in ("path", "heading"):
        matched = _once_in_each(earlier, current, [*_PAGE, name])
        parts.append(matched)
        earlier = earlier.join(matched, left_on="text_id", right_on="before_id", how="anti")
        current = current.join(matched, left_on="text_id", right_on="after_id", how="anti")
    same = pl.concat(parts)
    return pl.concat([same, _between(before, after, same)]).sort("before_id")


def _with_paths(outline: pl.DataFrame) -> pl.DataFrame:
    """Add `path`: the headings from the page's title down to the section."""
    level, heading = pl.col("level"), pl.col("heading").fill_null("")
    steps = {
        f"h{n}": pl.when(level == n)
        .then(heading)
        .when(level < n)
        .then(pl.lit(""))
        .forward_fill()
        .over(_PAGE)
        for n in _LEVELS
    }
    rows = outline.sort(*_PAGE, "place").with_columns(**steps)
    # A lead has the level 0 and a path of its heading alone.
    parts = [
        pl.when(level > n).then(pl.col(f"h{n}").fill_null("")).otherwise(pl.lit(""))
        for n in _LEVELS
    ]
    path = pl.concat_str([*parts, level.cast(pl.String), heading], separator=_SEPARATOR)
    return rows.with_columns(path=path, heading=heading).select(
        *_PAGE, "text_id", "path", "heading"
    )


def _once_in_each(before: pl.DataFrame, after: pl.DataFrame, key: list[str]) -> pl.DataFrame:
    once = [side.filter(~pl.struct(key).is_duplicated()) for side in (before, after)]
    joined = once[0].join(once[1], on=key, suffix="_after", nulls_equal=True)
    return joined.select(before_id="text_id", after_id="text_id_after")


def _between(before: pl.DataFrame, after: pl.DataFrame, same: pl.DataFrame) -> pl.DataFrame:
    """Return the other sections that stand between the same two, or at the same end of a page."""
    identified = same.with_columns(identity="before_id")
    earlier, current = (
        _neighbours(before, identified, "before_id"),
        _neighbours(after, identified, "after_id"),
    )
    return _once_in_each(earlier, current, [*_PAGE, "above", "below"])


def _neighbours(outline: pl.DataFrame, same: pl.DataFrame, id_column: str) -> pl.DataFrame:
    identities = same.select(pl.col(id_column).alias("text_id"), "identity")
    rows = outline.join(identities, on="text_id", how="left").sort(*_PAGE, "place")
    first, last = pl.int_range(pl.len()) == 0, pl.int_range(pl.len(), 0, -1) == 1
    above = pl.when(first).then(pl.lit("")).otherwise(pl.col("identity").shift(1))
    below = pl.when(last).then(pl.lit("")).otherwise(pl.col("identity").shift(-1))
    placed = rows.with_columns(above=above.over(_PAGE), below=below.over(_PAGE))
    unknown = placed.filter(pl.col("identity").is_null())
    return unknown.drop_nulls(["above", "below"]).select(*_PAGE, "text_id", "above", "below")


def shown_files(placed: pl.LazyFrame, *, maximum_usage: int) -> pl.DataFrame:
    """Return text_id and file of what sections show, each pair once; `placed` is parse's PICTURES.

    A file on more than `maximum_usage` pages is an icon, and illustrates nothing.
    """
    rows = placed.drop_nulls(["text_id", "file"])
    pages = rows.group_by("file").agg(pages=pl.struct(_PAGE).n_unique())
    few = pages.filter(pl.col("pages") <= maximum_usage)
    shown = rows.join(few, on="file", how="semi").select("text_id", "file").unique().collect()
    return shown.with_columns(pl.col("file").map_elements(file_name, return_dtype=pl.String))


def _judged(
    frozen: pl.DataFrame,
    same: pl.DataFrame,
    shown: pl.DataFrame,
    snapshot: str,
    until: tuple[str, int | None],
) -> pl.DataFrame:
    rows = with_outcomes(frozen, same, shown)
    labels = {"snapshot": pl.lit(snapshot), "later": pl.lit(until[0])}
    return rows.with_columns(**labels, days=pl.lit(until[1], pl.Int32)).select(TAKEN_UP.names)


def with_outcomes(rows: pl.DataFrame, same: pl.DataFrame, shown: pl.DataFrame) -> pl.DataFrame:
    """Add `outcome`, one of OUTCOMES, to rows with text_id and file.

    `same` is of `identify`, `shown` of `shown_files` in the later snapshot.
    """
    placed = rows.join(same, left_on="text_id", right_on="before_id", how="left")
    illustrated = shown.select("text_id").unique().with_columns(is_illustrated=True)
    taken = shown.unique().with_columns(is_taken=True)
    joined = placed.join(
        illustrated, left_on="after_id", right_on="text_id", how="left", maintain_order="left"
    ).join(taken, left_on=["after_id", "file"], right_on=["text_id", "file"], how="left")
    outcome = (
        pl.when(pl.col("after_id").is_null())
        .then(pl.lit(GONE))
        .when(pl.col("is_taken"))
        .then(pl.lit(TAKEN))
        .when(pl.col("is_illustrated"))
        .then(pl.lit(OTHER))
        .otherwise(pl.lit(WITHOUT))
    )
    return joined.with_columns(outcome=outcome).drop("is_taken", "is_illustrated")


def days_between(earlier: object, later: object) -> int | None:
    """Return the days from one date YYYYMMDD to another; None where either is none."""
    dates = [_date(str(date)) for date in (earlier, later)]
    return (dates[1] - dates[0]).days if dates[0] and dates[1] else None


def _date(text: str) -> date | None:
    try:
        return datetime.strptime(text, "%Y%m%d").date()  # noqa: DTZ007 (a day has no zone)
    except ValueError:
        return None


def _counted(rows: pl.DataFrame) -> str:
    counts = dict(rows.filter(system=PUBLISHED)["outcome"].value_counts().iter_rows())
    summary = ", ".join(f"{counts[name]:,} {name}" for name in OUTCOMES if name in counts)
    return f"of the feed's suggestions {summary}" if summary else "the feed had no suggestion"


def write_delta(  # noqa: PLR0913
    before_feed: Path,
    feed: Path,
    before_sections: Path,
    sections: Path,
    *,
    placed: Sequence[Path],
    origins: Origins,
    maximum_usage: int,
    out: Path,
) -> None:
    """Write schemas.DELTA: how the feed of a later snapshot differs from an earlier one.

    A suggestion is the same where section and file are. Of the earlier ones that the later feed
    lacks, those are taken up whose section now shows the file (`placed`, of the later snapshot),
    and all others are withdrawn.
    """
    earlier, current = (pl.read_parquet(path, glob=False) for path in (before_feed, feed))
    tables = [pl.scan_parquet(path, glob=False) for path in (before_sections, sections)]
    page_tables = [
        table.join(rows.lazy().select("text_id"), on="text_id", how="semi").select(_PAGE)
        for table, rows in zip(tables, (earlier, current), strict=True)
    ]
    all_pages = pl.concat(page_tables).unique().collect()
    same = identify(_outline(tables[0], all_pages), _outline(tables[1], all_pages))
    shown = shown_files(origins.parsed(placed), maximum_usage=maximum_usage)
    rows = changes(earlier, current, same, shown).select(DELTA.names)
    order = ["wiki", "page_id", "section_index", "change", "rank", "image_id"]
    store.write(rows.sort(order).to_arrow(), out, DELTA)


def changes(
    earlier: pl.DataFrame, current: pl.DataFrame, same: pl.DataFrame, shown: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of two feeds (schemas.FEED) that differ, with the column `change` first."""
    earlier = earlier.with_columns(file=_file(pl.col("image_url")))
    current = current.with_columns(file=_file(pl.col("image_url")))
    judged = with_outcomes(earlier, same, shown)
    repeated = current.select(after_id="text_id", file="file")
    left = judged.join(repeated, on=["after_id", "file"], how="anti")
    is_taken = pl.col("outcome") == TAKEN
    change = pl.when(is_taken).then(pl.lit("taken up")).otherwise(pl.lit("withdrawn"))
    before = judged.select("after_id", "file").drop_nulls("after_id")
    new = current.join(
        before, left_on=["text_id", "file"], right_on=["after_id", "file"], how="anti"
    )
    columns = ["change", *FEED.names]
    parts = [left.with_columns(change=change), new.with_columns(change=pl.lit("new"))]
    return pl.concat([part.select(columns) for part in parts])
