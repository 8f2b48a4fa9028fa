"""The pages of a collection, the front page of the site, and the headline on a terminal."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import digests, sql
from isotope.core.errors import BadArgument, MissingFile
from isotope.core.grid import JOINT, TASKS, id_column, pool_splits, query_side
from isotope.core.progress import log
from isotope.params.messages import suggest
from isotope.report import account, cases, registry
from isotope.report.content import QueryExample, Scope, examples, read_exhibits
from isotope.report.notes import Note
from isotope.report.queries import SystemPair
from isotope.report.queries import build as build_queries
from isotope.report.registry import Record
from isotope.report.site import write_page
from isotope.report.words import WORDS, telling
from isotope.tabulate.catalog import build as build_catalog
from isotope.tabulate.strata import USUAL
from isotope.tabulate.table import BEATS, plain, read_table, rows

_DAY = re.compile(r"(?<!\d)(20\d\d)(\d\d)(\d\d)(?!\d)")
_MOST = 40
_FRONT_PAGE = Path("results/report/index.html")
_HEADLINE = ("MRR@10", "R@10")


class FetchedFile(NamedTuple):
    """A file that was fetched or made: its path in the source's folder, size and digest."""

    path: str
    size: int
    sha256: str
    url: str


class SourceOrigin(NamedTuple):
    """The first files of a source, how many there are, dates in their names, isotope's version."""

    files: list[FetchedFile]
    total: int
    dates: list[str]
    version: str


@dataclass(frozen=True)
class Leader:
    """The system with the highest mean of the first measure over the tasks, and its values."""

    system: str
    pool: str
    measure: str
    values: list[tuple[str, str]]


class FrontPageEntry(NamedTuple):
    """A collection on the front page; `pages` are the stems of those that it has."""

    name: str
    totals: dict[str, int]
    leader: Leader
    pages: frozenset[str]


class BuildRecord(NamedTuple):
    """What a collection was built by: its kind and language, and a fingerprint of the params."""

    kind: str
    language: str
    fingerprint: str


class ReportFacts(NamedTuple):
    """What pages say of the params, and of what was built.

    `measure` is the first one, `alpha` the level of significance, `overlap` the hits of each run
    that are compared; `looks` are the numbers of the systems' looks.
    """

    measure: str
    alpha: float
    overlap: int
    built: BuildRecord
    looks: Mapping[str, int]


def write_report(  # noqa: PLR0913
    scope: Scope,
    facts: ReportFacts,
    *,
    case_studies: cases.Studies,
    queries: SystemPair | None,
    exhibits: Sequence[Path],
    overlap: Path,
    scores: Path,
    significance: Path,
    folder: Path,
    cases_folder: Path,
) -> None:
    """Write the pages of a collection to `folder`, and a page a case study to `cases_folder`.

    `queries` is None without two systems. `exhibits` are the tables and figures, `overlap` the file
    of the table of that name.

    Raises:
        As `build_pages`, `cases.build` and `build_queries`.
    """
    build_pages(scope, exhibits, facts, folder)
    cases.build(scope, case_studies, [overlap], page=folder / "cases.html", folder=cases_folder)
    if queries:
        scored = {"scores": scores, "significance": significance}
        build_queries(scope, queries, scored, folder / "queries.html")


def write_front_pages(
    scope: Scope,
    facts: ReportFacts,
    *,
    exhibits: Sequence[Path],
    notes: Sequence[Note],
    folder: Path,
) -> None:
    """Write the first pages of a collection, with the notes of plug-ins.

    They come after all other pages, which a note may be about. The rest is as in `write_report`.

    Raises:
        As `build_front_pages`, and as the functions of notes.
    """
    build_front_pages(scope, exhibits, facts, notes, folder)


def write_record(
    scope: Scope, entry: Record, *, ledgers: Sequence[Path], costs: Path, record: Path
) -> None:
    """Write what a collection has cost, and enter it in the registry of what is built.

    `ledgers` are those of its crawl.

    Raises:
        As `account.build` and `registry.write`.
    """
    account.build(scope, ledgers, costs)
    registry.write(entry, record)


def write_overview(records: Sequence[Path], *, page: Path, catalog: Path) -> None:
    """Write the front page and the catalog of the collections that have a record.

    Raises:
        As `registry.read`, `build_front_page` and `tabulate.catalog.build`.
    """
    listed = registry.read(records)
    build_front_page(Path(), listed, page)
    build_catalog(catalog, owners=registry.listing(listed)._asdict())


def unlist(name: str, *, delete: bool, root: Path = Path()) -> str:
    """Take a collection off the front page and the catalog; return what was done, in lines.

    With `delete` its files go too: those that no other collection of the registry names.

    Raises:
        As `registry.take_off` and `write_overview`.
    """
    record = registry.take_off(name, root)
    listed = registry.read(registry.records(root))
    gone = registry.files_of(record, listed, root) if delete else []
    registry.delete(gone)
    page, catalog = root / _FRONT_PAGE, root / sql.CATALOG
    if page.is_file():
        build_front_page(root, listed, page)
        digests.write(page)
    if catalog.is_file():
        build_catalog(catalog, root, owners=registry.listing(listed)._asdict())
        digests.write(catalog)
    lines = [f"{name} is no longer on the front page and in the catalog"]
    lines += [f"deleted: {path}" for path in gone]
    if not delete:
        lines.append("its files stay; building it again lists it again")
    return "".join(f"{line}\n" for line in lines)


def build_pages(scope: Scope, files: Sequence[Path], facts: ReportFacts, out: Path) -> None:
    """Write collection.html and systems.html to the folder `out`.

    `files` are the collection's tables and figures; Table 1, Table 3 and the runs of the scope's
    system must be there. Same input, same bytes.

    Raises:
        MissingFile: a table or run that must be there.
    """
    table1, table3 = _sizes_and_means(scope)
    common = _common(scope, files, facts, table3)
    notes = pool_notes(scope, table3.select("setting", "split").unique().sort(pl.all()).rows())
    sizes = {"sizes": table1, "totals": totals(table1)}
    write_page("collection", out / "collection.html", **common, **sizes, guard=split_note(scope))
    write_page("systems", out / "systems.html", **common, notes=notes)


def build_front_pages(
    scope: Scope,
    files: Sequence[Path],
    facts: ReportFacts,
    notes: Sequence[Note],
    out: Path,
) -> None:
    """Write index.html and cite.html, which have the notes, to the folder `out`.

    The other parameters and the errors are those of `build_pages`.
    """
    table1, table3 = _sizes_and_means(scope)
    common = _common(scope, files, facts, table3)
    common["notes"] = {
        page: {note.heading: note.written(scope.collection, page) for note in notes}
        for page in ("index", "cite")
    }
    sizes = {"sizes": table1, "totals": totals(table1)}
    best = leader(table3, scope.setting, scope.split)
    write_page("cite", out / "cite.html", **common, origin=origin(scope.root, scope.sources))
    write_page("index", out / "index.html", **common, **sizes, leader=best, examples=_best(scope))


def _sizes_and_means(scope: Scope) -> tuple[pl.DataFrame, pl.DataFrame]:
    folder = scope.root / "results/tables" / scope.collection
    return read_table(folder / "table1.arrow"), read_table(folder / "table3.arrow")


def _common(
    scope: Scope, files: Sequence[Path], facts: ReportFacts, table3: pl.DataFrame
) -> dict[str, Any]:
    displays = telling(read_exhibits(files, _words(scope, facts)), table3["setting"].n_unique())
    return {"scope": scope, "up": "", "displays": displays, "facts": facts}


def build_front_page(root: Path, listed: Sequence[Record], out: Path) -> None:
    """Write the front page of the collections of some records, by name.

    One whose pages or tables are gone is left out, which the log says. The pages of snapshots that
    are there, `<later>/since/<earlier>.html`, are listed too, and the tables that hold the
    collections of a group side by side. A collection's leader is that of the pool that its record
    names, or of its first pool.
    """
    entries = [
        _entry(
            root / "results/tables" / listed_record.name,
            listed_record.setting,
            listed_record.split,
            out.parent / listed_record.name,
        )
        for listed_record in listed
        if _is_there(root, listed_record, out.parent)
    ]
    names = {*registry.listing(listed).collections}
    pages = sorted(out.parent.glob("*/since/*.html"))
    diffs = [(page.parents[1].name, page.stem) for page in pages]
    groups: dict[str, list[Path]] = {}
    for listed_record in listed:
        groups |= {
            group: [root / path for path in files] for group, files in listed_record.groups.items()
        }
    displays = {
        name: list(read_exhibits([path for path in files if path.is_file()], {}).values())
        for name, files in sorted(groups.items())
    }
    contents = {"entries": entries, "diffs": [pair for pair in diffs if {*pair} <= names]}
    write_page("overview", out, **contents, groups=displays, up="", scope=None)


def _is_there(root: Path, listed_record: Record, site: Path) -> bool:
    folder = root / "results/tables" / listed_record.name
    pages = [
        site / listed_record.name / "index.html",
        folder / "table1.arrow",
        folder / "table3.arrow",
    ]
    gone = [path for path in pages if not path.is_file()]
    if gone:
        log.info("%s is not listed: %s is gone", listed_record.name, gone[0])
    return not gone


def headline(scores: Path, *, setting: str, split: str, measures: Sequence[str] = ()) -> str:
    """Return a plain-text table of one pool: a line a system, by the first column.

    Without `measures` they are those of MRR@10 and R@10 that were scored, or all.

    Raises:
        BadArgument: a pool that was not measured, or a measure that was not scored.
    """
    means = rows(sql.SQL / "tabulate/tables/metrics.sql", {"scores": scores}, {})
    scored = means["measure"].unique().to_list()
    for name in measures:
        if name not in scored:
            problem = f"{scores.stem} was not scored by it"
            raise BadArgument(f"--measure {name}", problem, suggest(name, scored))
    measures = measures or [m for m in _HEADLINE if m in scored] or sorted(scored)
    pool = means.filter(
        pl.col("setting") == setting, pl.col("split") == split, pl.col("measure").is_in(measures)
    )
    if pool.is_empty():
        pools: list[tuple[str, str]] = (
            means.select("setting", "split").unique().sort(pl.all()).rows()
        )
        problem = f"{scores.stem} was not measured there"
        remedy = f"measured: {', '.join(map('/'.join, pools))}"
        raise BadArgument(f"--setting {setting} --split {split}", problem, remedy)
    columns = [(t, m) for t in TASKS for m in measures]
    value = {(r["system"], r["task"], r["measure"]): r["value"] for r in pool.to_dicts()}
    systems = sorted(set(pool["system"]), key=lambda s: (-value.get((s, *columns[0]), 0.0), s))
    head = [f"{setting}/{split}", *(f"{t} {m}" for t, m in columns)]
    body = [[s, *map(_four_digits, (value.get((s, *c)) for c in columns))] for s in systems]
    return plain(body, head, right=range(1, len(head)))


def origin(root: Path, sources: Sequence[str]) -> SourceOrigin:
    """Return what the sources' manifests say; nothing for a source that was not acquired."""
    manifests = [root / "data/acquire" / source / "manifest.json" for source in sources]
    contents = [json.loads(m.read_text(encoding="utf-8")) for m in manifests if m.is_file()]
    listed = [file for manifest in contents for file in manifest["files"]]
    files = [FetchedFile(f["path"], f["bytes"], f["sha256"], f["url"] or "") for f in listed]
    days = {"-".join(match.groups()) for f in files if (match := _DAY.search(f.path))}
    return SourceOrigin(files[:_MOST], len(files), sorted(days), version("isotope-ir"))


def totals(table1: pl.DataFrame) -> dict[str, int]:
    """Return the texts, images and qrels of all splits."""
    return table1.select(pl.col("texts", "images", "qrels").sum()).row(0, named=True)


def leader(table3: pl.DataFrame, setting: str, split: str) -> Leader:
    """Return the leader of a pool; of the first one where that was not measured.

    A system with a run in some tasks only comes after those with a run in more of them.
    """
    measured = [c.removesuffix(BEATS) for c in table3.columns if c.endswith(BEATS)]
    measure = measured[0].partition(" ")[2]
    columns = [c for c in measured if c.partition(" ")[2] == measure]
    pool = table3.filter(pl.col("setting") == setting, pl.col("split") == split)
    if pool.is_empty():
        return leader(table3, *table3.select("setting", "split").row(0))
    lacks = pl.sum_horizontal(pl.col(columns).is_null())
    best = pool.sort(lacks, -pl.mean_horizontal(columns), "system").row(0, named=True)
    values = [(c.partition(" ")[0], f"{best[c]:.3f}") for c in columns if best[c] is not None]
    return Leader(best["system"], f"{setting}/{split}", measure, values)


def _words(scope: Scope, facts: ReportFacts) -> dict[str, object]:
    words = WORDS[scope.origin]
    return {
        **{"outcome": words.outcome, "outcomes": words.outcomes},
        "setting": scope.setting,
        "split": scope.split,
        "measure": facts.measure,
        "overlap": f"{facts.overlap:,}",
        "alpha": f"{facts.alpha:g}",
        "level": f"{USUAL.level:.0%}",
        "samples": f"{USUAL.samples:,}",
    }


def _best(scope: Scope) -> dict[str, list[QueryExample]]:
    best = {t: examples(scope, t, 1)[:1] for t in TASKS if scope.run(t).is_file()}
    if not best:
        raise MissingFile(scope.run("t2m"), "no run of this system", "run the phase search")
    return best


def split_note(scope: Scope) -> str:
    """Return which rule of splits holds: each item in one, or a corpus that they share."""
    counts = dict[str, int]()
    for side in ("images", "texts"):
        joint = pl.scan_parquet(scope.table(side), glob=False).select(
            pl.col("split").is_in(JOINT).sum()
        )
        counts[side] = joint.collect().item()
    if not any(counts.values()):
        return "Every text and every picture is judged in one split."
    return (
        "Splits share one corpus, as the judgement lists were published: "
        f"{counts['images']:,} pictures and {counts['texts']:,} texts are judged in several "
        "splits, and are candidates in each. What learns from train has seen them."
    )


def pool_notes(scope: Scope, pools: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return for each setting and split how many queries it has, and how many candidates."""
    sides = ("texts", "images")
    judged = pl.read_parquet(
        scope.table("qrels"), columns=["text_id", "image_id", "split"], glob=False
    )
    asking = judged.group_by("split").agg(pl.col(id_column(side)).n_unique() for side in sides)
    queries = {row["split"]: row for row in asking.to_dicts()}
    sizes = {side: _sizes(scope.table(side)) for side in sides}
    notes: dict[tuple[str, str], str] = {}
    for setting, split in pools:
        searched = pool_splits(setting, split)
        among = {side: sum(sizes[side].get(s, 0) for s in searched) for side in sides}
        # Of a split whose answers are withheld all items ask.
        counts = queries.get(split) or {
            id_column(side): sizes[side].get(split, 0) for side in sides
        }
        notes[setting, split] = (
            f"queries: {counts['text_id']:,} texts, {counts['image_id']:,} images; "
            f"searched: {among['images']:,} images, {among['texts']:,} texts"
        )
        if gaps := unanswered(scope, setting, split):
            notes[setting, split] += f"; without an answer, which counts 0: {', '.join(gaps)}"
    return notes


def unanswered(scope: Scope, setting: str, split: str) -> list[str]:
    """Return what runs of a pool leave queries out, and how many: `theirs t2m 80 of 81`."""
    qrels = pl.scan_parquet(scope.table("qrels"), glob=False).filter(pl.col("split") == split)
    gaps: list[str] = []
    folder = scope.root / "results/search" / scope.collection / setting / split
    for task in TASKS:
        asked = qrels.select(pl.col(id_column(query_side(task))).n_unique()).collect().item()
        for path in sorted((folder / task).glob("*.parquet")):
            run = pl.scan_parquet(path, glob=False)
            lacking = asked - run.select(pl.col("query_id").n_unique()).collect().item()
            gaps += [f"{path.stem} {task} {lacking:,} of {asked:,}"] if lacking > 0 else []
    return gaps


def _sizes(table: Path) -> dict[str, int]:
    """Return how many items each split has."""
    return dict(
        pl.scan_parquet(table, glob=False).group_by("split").agg(pl.len()).collect().iter_rows()
    )


def _entry(folder: Path, setting: str, split: str, site: Path) -> FrontPageEntry:
    table1, table3 = read_table(folder / "table1.arrow"), read_table(folder / "table3.arrow")
    pages = frozenset(page.stem for page in site.glob("*.html"))
    return FrontPageEntry(folder.name, totals(table1), leader(table3, setting, split), pages)


def _four_digits(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"
