"""The page of suggestions: whether they are any good, in tables, figures and examples.

Its tables lie in `results/tables/<collection>/suggest/`, its figures in
`results/figures/<collection>/suggest/`. Same input, same bytes.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import store
from isotope.report.content import Display, Scope, figure_element, on_page, thumbnails
from isotope.report.site import write_page as write_html
from isotope.tabulate.exhibits import Exhibit
from isotope.tabulate.table import write_table
from isotope_judge.suggestion_session import verdict_agreement
from isotope_suggest import filters, verdicts
from isotope_suggest.likeness import Likeness
from isotope_suggest.measure import drawings, editors, evaluate, variety
from isotope_suggest.measure.sections import quality
from isotope_suggest.need import importances
from isotope_suggest.schemas import TAKEN_UP

SPLIT = "test"
_EXAMPLES, _SIDE_PX = 12, 320
# Title and caption of each table and figure, in the order of the page.
EXHIBITS: Mapping[str, tuple[str, str]] = {
    "kept": (
        "Is the promise kept?",
        "Suggestions above the threshold, for judged sections of the split test whose own picture "
        "was hidden; only that picture counts as right. Interval: exact, 95 %. Within chance: "
        "fewer are right than wanted, and the interval holds what is wanted.",
    ),
    "equal_coverage": (
        "At equal coverage",
        "Each system answers as many sections, those that it is surest of. The baseline is what "
        "Wikimedia's suggestions go by: links and the same section in other languages.",
    ),
    "hits": (
        "Hits, reciprocal rank, coverage",
        "A section without a suggestion counts 0. Ahead: the difference to the baseline. "
        "Intervals: 95 %, by bootstrap of pages.",
    ),
    "precision": (
        "Precision by coverage",
        "Each system answers the sections that it is surest of first. The dashed line is the "
        "precision wanted.",
    ),
    "reliability": (
        "Do probabilities hold?",
        "Suggestions in bins of equal numbers, by probability: the share of each that was right, "
        "with its exact interval. On the diagonal, probabilities are shares.",
    ),
    "thresholds": (
        "What was certified on validation",
        "Suggestions of a rank are shown if they score at least the threshold. Bound: what the "
        "share of right ones is at least, with the confidence wanted.",
    ),
    "editors": (
        "The encyclopedia as judge",
        "Suggestions for sections without a picture, frozen at the snapshot, and what these "
        "sections show in later ones. No assessor was asked, and no editor saw them. Precision and "
        "hits are of sections that show a picture now; another picture may be as good.",
    ),
    "waiting": (
        "How long until taken up",
        "The share of sections that show none of their suggestions yet (Kaplan and Meier). A "
        "suggestion counts as taken up with the first snapshot that shows it.",
    ),
    "medians": ("Half of the sections", "The time by which half have taken up a suggestion."),
    "people": (
        "What people say",
        "Verdicts on the judging sheet; right is good or okay. Everybody: a suggestion is right "
        "if more than half of those who judged it say so.",
    ),
    "agreement": ("Do people agree?", "Cohen's kappa over the five verdicts."),
    "variety": (
        "Variety",
        "Cluster recall at 10: of the clusters of alike pictures that any system found for a "
        "section, the share among a system's first ten. Alike: a cosine of at least 0.9.",
    ),
    "shares": (
        "Whom suggestions serve",
        "Sections without a picture, and suggestions, by the class and the language of the page.",
    ),
    "filters": (
        "What the filters removed",
        "Candidates by the first reason that held, with the pictures and sections concerned.",
    ),
    "ought": (
        "Which sections ought to have a picture",
        "How well the model tells, on pages that it has not seen, which sections have one.",
    ),
    "features": ("What tells", "The weightiest features of that model."),
}


# What the page shows where nothing is certified: how far it is from that, and what was left out.
_UNCERTIFIED = frozenset({"hits", "thresholds", "filters", "ought"})


class MeasureExhibits(NamedTuple):
    """Tables by name, what figures are drawn from, and sentences that stand above all."""

    tables: dict[str, pl.DataFrame]
    curves: list[pl.DataFrame]
    waiting: dict[str, pl.DataFrame]
    unit: str
    last: float
    summary: list[tuple[str, str]]
    notes: list[str]
    is_certified: bool = True


class Example(NamedTuple):
    """A suggestion as the page shows it; `picture` is a data: URI, None without pixels."""

    row: Mapping[str, Any]
    text: str
    picture: str | None
    outcome: str


def write_page(  # noqa: PLR0913
    texts: Path,
    images: Path,
    *,
    qrels: Path,
    sections: Path,
    scored: Path,
    rejected: Path,
    feed: Path,
    calibration: Path,
    ought: Path,
    pictures: Path,
    taken_up: Sequence[Path],
    image_vectors: Sequence[Path],
    image_ids: Sequence[Path],
    pixels: Sequence[Path],
    judgements: Sequence[Path],
    sheet: Path,
    page: Path,
    tables_folder: Path,
    figures_folder: Path,
    collection: str,
    seed: int,
    most: int,
    scope: Scope | None = None,
) -> None:
    """Write tables, figures and the page on the suggestions of a collection.

    `taken_up` is one file (schemas.TAKEN_UP) for a collection that has a later snapshot, else none.
    `scope` is given where the collection has other pages, which are then linked.

    Raises:
        CorruptFile: judgements that nobody can read. As `core.vectors.load_vectors`.
    """
    learned = json.loads(calibration.read_text("utf-8"))
    about = {
        "scored": pl.scan_parquet(scored, glob=False),
        "sections": pl.scan_parquet(sections, glob=False),
        "qrels": pl.scan_parquet(qrels, glob=False),
        "rejected": pl.scan_parquet(rejected, glob=False),
    }
    shown = pl.read_parquet(feed, glob=False)
    tables = (pl.read_parquet(path, glob=False) for path in taken_up)
    followed = pl.concat([pl.DataFrame(TAKEN_UP.empty_table()), *tables])
    hashes = pl.read_parquet(pictures, columns=["image_id", "hash"], glob=False)
    likeness = Likeness(hashes, image_vectors, image_ids)
    people = verdicts.read_verdicts(judgements), pl.read_parquet(sheet, glob=False)
    page_exhibits = exhibits(about, (shown, followed), learned, likeness, people, seed, most)
    page_exhibits.tables["ought"] = quality(pl.read_parquet(sections, glob=False))
    page_exhibits.tables["features"] = importances(ought).head(_EXAMPLES)
    chosen = examples(texts, images, (shown, followed), pixels, seed)
    with ExitStack() as stack:
        folders = [
            stack.enter_context(store.folder_aside(f)) for f in (tables_folder, figures_folder)
        ]
        _write(page_exhibits, learned, *folders)
        displays = _displays(page_exhibits, *folders)
        write_html(
            "suggest",
            page,
            scope=scope,
            **{"up": "", "collection": collection, "displays": displays},
            **{"summary": page_exhibits.summary, "notes": page_exhibits.notes, "examples": chosen},
        )


def exhibits(  # noqa: PLR0913, PLR0917 (what is measured)
    about: Mapping[str, pl.LazyFrame],
    suggested: tuple[pl.DataFrame, pl.DataFrame],
    calibration: Mapping[str, Any],
    likeness: Likeness,
    people: tuple[pl.DataFrame, pl.DataFrame],
    seed: int,
    most: int,
) -> MeasureExhibits:
    """Return what is measured; `suggested` are FEED, TAKEN_UP, `people` verdicts and sheet."""
    feed, followed = suggested
    judged = evaluate.judged(about["scored"], about["sections"], about["qrels"], SPLIT)
    bins = evaluate.reliability(judged, most)
    promise = evaluate.promise(judged, calibration)
    error = pl.lit(evaluate.calibration_error(bins), pl.Float64)
    waiting, unit = editors.waiting(followed), editors.unit(followed)
    tables = {
        "kept": promise.with_columns(calibration_error=error),
        "equal_coverage": evaluate.at_equal_coverage(judged, calibration, seed),
        "hits": evaluate.ranking(judged, calibration, seed),
        "reliability": bins,
        "thresholds": _thresholds(calibration),
        "editors": editors.outcomes(followed),
        "waiting": editors.long(waiting),
        "medians": editors.medians(waiting, unit),
        "people": verdicts.tally(*people),
        "agreement": verdict_agreement(*people),
        "variety": variety.cluster_recall(judged, likeness.vectors, seed),
        "shares": variety.shares(feed, about["sections"]),
        "filters": filters.counts(about["rejected"]),
    }
    curves = [evaluate.precision_curve(judged, system) for system in judged.systems]
    tables["precision"] = pl.concat(curves) if curves else pl.DataFrame()
    days = followed["days"] if unit == "days" else followed["later"].rank("dense")
    last = float(days.max() or 0)  # pyright: ignore[reportArgumentType]
    summary = _summary(feed, promise, about["sections"])
    notes, is_certified = (
        _notes(calibration, judged, followed),
        calibration["threshold"] is not None,
    )
    return MeasureExhibits(tables, curves, waiting, unit, last, summary, notes, is_certified)


def _thresholds(calibration: Mapping[str, Any]) -> pl.DataFrame:
    names: dict[str, Any] = {"rank": pl.Int64, "threshold": pl.Float64, "sections": pl.Int64}
    names |= {"right": pl.Int64, "bound": pl.Float64, "why": pl.String}
    rows = [{name: rank[name] for name in names} for rank in calibration["ranks"]]
    return pl.DataFrame(rows, schema=names)


def _summary(
    feed: pl.DataFrame, promise: pl.DataFrame, sections: pl.LazyFrame
) -> list[tuple[str, str]]:
    row = promise.row(0, named=True)
    opened = sections.filter(role="open").select(pl.len()).collect().item()
    shown = [
        ("suggestions", f"{len(feed):,}"),
        ("sections served", f"{feed['text_id'].n_unique():,}"),
        ("sections without a picture", f"{opened:,}"),
    ]
    if row["precision"] is not None:
        shown.append((f"right on {SPLIT}", f"{row['precision']:.1%}"))
        shown.append((f"wanted {row['wanted']:.0%}", row["verdict"]))
    return shown


def _notes(
    calibration: Mapping[str, Any], judged: evaluate.Judged, followed: pl.DataFrame
) -> list[str]:
    """Return sentences on what the page lacks, and why."""
    notes: list[str] = []
    if calibration["threshold"] is None:
        why = calibration["why"].removeprefix("not certified: ")
        notes.append(f"No suggestion is certified, so nothing is suggested: {why}.")
    if calibration["caution"]:
        notes.append(f"{calibration['caution'].capitalize()}.")
    if judged.sections.is_empty():
        notes.append(f"No judged section is in the split {SPLIT}: nothing is measured on it.")
    if followed.is_empty():
        notes.append("There is no later snapshot of this collection: no editor has judged it yet.")
    return notes


def _write(
    page_exhibits: MeasureExhibits,
    calibration: Mapping[str, Any],
    tables_folder: Path,
    figures_folder: Path,
) -> None:
    for name, table in page_exhibits.tables.items():
        write_table(table, tables_folder / name)
    drawings.draw_reliability(
        page_exhibits.tables["reliability"], figures_folder / "reliability.svg"
    )
    wanted = float(calibration["precision"])
    drawings.draw_precision(page_exhibits.curves, wanted, figures_folder / "precision.svg")
    if page_exhibits.waiting:
        out = figures_folder / "waiting.svg"
        drawings.draw_waiting(page_exhibits.waiting, page_exhibits.unit, page_exhibits.last, out)


def _displays(
    page_exhibits: MeasureExhibits, tables_folder: Path, figures_folder: Path
) -> list[Display]:
    displays: list[Display] = []
    for name, (title, caption) in EXHIBITS.items():
        if not page_exhibits.is_certified and name not in _UNCERTIFIED:
            continue
        table, svg = on_page(page_exhibits.tables[name]), figures_folder / f"{name}.svg"
        drawing = figure_element(svg, f"suggest-{name}") if svg.is_file() else None
        if table or drawing:
            exhibit = Exhibit("suggest", "", title, caption)
            displays.append(Display(f"suggest/{name}", exhibit, table, drawing, ("csv", "tex")))
    return displays


def examples(
    texts: Path,
    images: Path,
    suggested: tuple[pl.DataFrame, pl.DataFrame],
    pixels: Sequence[Path],
    seed: int,
) -> list[Example]:
    """Return some suggestions of the feed, from the surest to the least sure one shown."""
    feed, followed = suggested
    chosen = verdicts.drawn(feed, _EXAMPLES, seed)
    ids, shown = chosen["text_id"], chosen["image_id"].unique().sort().to_list()
    words = pl.scan_parquet(texts, glob=False).filter(pl.col("text_id").is_in(ids.implode()))
    descriptions = words.select("text_id", "context_section_description").collect()
    by_id = dict(descriptions.iter_rows())
    drawn = thumbnails(pixels, shown, _SIDE_PX) if shown else {}
    latest = (
        followed.filter(system="feed")
        .sort("later")
        .unique(["text_id", "image_id"], keep="last", maintain_order=True)
    )
    outcomes = {(r["text_id"], r["image_id"]): r["outcome"] for r in latest.iter_rows(named=True)}
    return [
        Example(
            row,
            by_id.get(row["text_id"]) or "",
            drawn.get(row["image_id"]),
            outcomes.get((row["text_id"], row["image_id"]), ""),
        )
        for row in chosen.iter_rows(named=True)
    ]
