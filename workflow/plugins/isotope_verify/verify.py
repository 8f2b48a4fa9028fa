"""Verify collections and releases: which checks there are, what they say, and the record.

Digests, means, tests and printed tables are always compared whole. Scores, rankings and vectors,
which take a tool some time each, are compared on a sample of the queries or items.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core import digests, extras, store
from isotope.core.errors import EmptyTable, MissingExtra, MissingFile, Unconfirmed, UnknownId
from isotope.core.progress import log
from isotope.params.messages import suggest
from isotope.params.root import Params
from isotope.release import manifest
from isotope.tabulate.table import plain
from isotope_verify import files, peer
from isotope_verify import record as records
from isotope_verify.dense import check_dense
from isotope_verify.digests import check_digests
from isotope_verify.fusions import check_fusions
from isotope_verify.measures import check_measures
from isotope_verify.outcome import Check, ItemSample, failed
from isotope_verify.printed import check_printed
from isotope_verify.rankings import check_rankings
from isotope_verify.subject import Built, ReleaseSubject, Subject
from isotope_verify.table_cells import Numbers, check_means, check_significance
from isotope_verify.vectors import check_vectors

_SIGNIFICANCE = ".significance"
_SHOWN = 5
# Checks of files alone, all that a small release has.
_WITHOUT_SCORES = ("digests", files.NAME)
_BY_RANX = ("measures", "rankings")
CHECKS = ("digests", "files", "means", "significance", "printed", "measures", "rankings", "vectors")
_PARTS = ("qrels", "runs", "topics", manifest.FOLDER)


@dataclass(frozen=True)
class CheckInput:
    """What a check is handed: the subject, the sample, and the numbers that the scores give."""

    subject: Subject
    sample: ItemSample

    @cached_property
    def numbers(self) -> Numbers:
        """Means and tests, by the scores that are published."""
        return Numbers(self.subject.scores)


# In the order in which they are made, each by one tool or several.
_BY_NAME: dict[str, Sequence[Callable[[CheckInput], list[Check]]]] = {
    "digests": [lambda task: check_digests(task.subject)],
    files.NAME: [lambda task: files.check_files(task.subject)],
    "means": [lambda task: check_means(task.subject, task.numbers)],
    "significance": [lambda task: check_significance(task.subject, task.numbers)],
    "printed": [lambda task: check_printed(task.subject)],
    "measures": [lambda task: check_measures(task.subject, task.sample)],
    "rankings": [
        lambda task: check_rankings(task.subject, task.sample),
        lambda task: check_dense(task.subject, task.sample),
        lambda task: check_fusions(task.subject, task.sample),
    ],
    "vectors": [lambda task: check_vectors(task.subject, task.sample)],
}


class Verified(NamedTuple):
    """What a verification found: its record, and where that was kept, if it was."""

    record: Mapping[str, Any]
    path: Path | None = None

    @property
    def checks(self) -> list[Check]:
        """The checks, each with the first of its differences."""
        return [Check.from_record(fields) for fields in self.record["checks"]]

    @property
    def error(self) -> Unconfirmed | None:
        """The first difference, as an error that names it; None if nothing differs."""
        wrong = failed(self.checks)
        if not wrong:
            return None
        first, total = wrong[0], sum(check.different for check in wrong)
        cell, published, recomputed = first.differences[0]
        problem = f"{published} was published, but {first.tool} finds {recomputed}"
        if first.name == files.NAME:
            problem = f"{published}, now {recomputed}"
        more = f" ({total:,} differ: {', '.join(check.name for check in wrong)})"
        remedy = "build it again, or ask whoever published it"
        if first.name == files.NAME:
            remedy = digests.MEND
        return Unconfirmed(f"{self.record['collection']}: {cell}", problem + more, remedy)


def verify_collection(
    collection_name: str,
    *,
    params: Params,
    checks: Sequence[str],
    sample: float,
    record: Path,
) -> None:
    """Verify a collection of the project where the job runs, and write the record.

    `params` have what `subject.Built` reads; `checks` are names of CHECKS, and `sample`
    is the share of scores, rankings and vectors that is compared. The record has neither a time nor
    a place: the same input gives the same bytes. A difference is no error here, but of
    `demand_confirmed`, so that the report has it first.

    Raises:
        MissingFile, CorruptFile, IntegrityError, TruncatedFile: a table or run that can't be read.
    """
    outcome = _verify(Built(collection_name, Path(), params), sample, checks)
    records.write_record(outcome, record)


def demand_confirmed(*, record: Path, confirmation: Path) -> None:
    """Write what a verification found as the command prints it.

    Raises:
        Unconfirmed: a number that other people's tools do not find, by its cell.
    """
    done = Verified(records.read_record(record))
    if error := done.error:
        raise error
    with store.aside(confirmation) as part:
        part.write_text(text(done), encoding="utf-8")


def verify(
    named: str | None,
    load: Callable[[], Params],
    *,
    share: float,
    only: Sequence[str] = (),
) -> list[Verified]:
    """Verify a report or collection by name, a release by its folder, or all built collections.

    `load` reads the params, which a release has no need of. `share` of the scores, rankings and
    vectors is compared, 1 for all; `only` names the checks, all without any. Of a collection a
    record with the time is written, unless only some checks were asked for. The graph reads nothing
    of it: the report has the record of its own job (`verify_collection`).

    Raises:
        UnknownId, MissingFile: no such report, collection or release; an incomplete one.
        CorruptFile, IntegrityError, TruncatedFile: a damaged run or table, with its row.
    """
    done: list[Verified] = []
    for home, subject in _subjects(named, load):
        with chdir(home):
            outcome, record_path = _verify(subject, share, only), None
            record = {**outcome, "date": datetime.now(UTC).isoformat(timespec="seconds")}
            if isinstance(subject, Built) and not only:
                record_path = records.by_hand(subject.name)
                records.write_record(record, record_path)
                digests.write(record_path)
            done.append(Verified(record, record_path))
    return done


def _subjects(named: str | None, load: Callable[[], Params]) -> list[tuple[Path, Subject]]:
    """Return what is meant, each with the folder of the project that it is of."""
    built = _built(Path())
    if named is None:
        if not built:
            raise MissingFile("results/score", "no scores yet", "run `snakemake --cores all`")
        return [(Path(), Built(name, Path(), load())) for name in built]
    if named in built:
        return [(Path(), Built(named, Path(), load()))]
    path = Path(named)
    home, name = _of_report(path)
    if name in _built(home):
        with chdir(home):
            return [(home, Built(name, Path(), load()))]
    if path.is_dir() and (name or any((path / part).exists() for part in (*_PARTS, manifest.NAME))):
        release = ReleaseSubject(path.resolve())
        log.info("%s: a release of %s", path, release.name)
        return [(Path(), release)]
    releases = sorted(str(path.parent) for path in Path().glob("results/release/*/manifest.json"))
    problem = "no report, built collection or release"
    raise UnknownId(named, problem, suggest(named, [*built, *releases]))


def _built(home: Path) -> list[str]:
    """Return the collections below `home` that were scored."""
    names = (path.stem for path in home.glob("results/score/*.parquet"))
    return sorted(name for name in names if not name.endswith(_SIGNIFICANCE))


def _of_report(path: Path) -> tuple[Path, str]:
    """Return the project and the collection of a path into `results/report/<collection>`."""
    parts = path.parts
    for n in range(len(parts) - 2):
        if parts[n : n + 2] == ("results", "report"):
            return Path(*parts[:n]), parts[n + 2].removesuffix(".html")
    return Path(), ""


def _verify(subject: Subject, share: float, only: Sequence[str]) -> dict[str, Any]:
    if isinstance(subject, ReleaseSubject) and subject.is_small:
        only = only or _WITHOUT_SCORES
    if not subject.scores.is_file() and {*(only or CHECKS)} - {*_WITHOUT_SCORES}:
        remedy = "release the collection again, or fetch the whole release"
        raise MissingFile(subject.scores, "no scores by query", remedy)
    sample = ItemSample(share, hashlib.sha256(_seed(subject).read_bytes()).hexdigest())
    task, checks = CheckInput(subject, sample), list[Check]()
    if {*(only or CHECKS)} & {*_BY_RANX} and extras.is_installed("ranx"):
        peer.load(plain=share < 1)
    for name in only or CHECKS:
        if name == files.NAME and not only and share < 1:
            checks += _unread_files(subject)
            continue
        log.info("%s: %s", subject.name, name)
        performed = _run_checks(task, name)
        checks += performed
        if name == files.NAME and failed(performed):
            # The other checks would read the damaged files.
            performed[0].skip("the other checks: mend the files first")
            break
    if not any(check.compared for check in checks):
        why = next((f": {reason}" for check in checks for reason in check.skipped), "")
        raise EmptyTable(subject.name, f"nothing could be compared{why}", "name other checks")
    return _record(subject, sample, checks)


def _run_checks(task: CheckInput, name: str) -> list[Check]:
    """Return what a check by name found; a tool that is not installed is not compared with."""
    checks: list[Check] = []
    for check in _BY_NAME[name]:
        try:
            with extras.named():
                checks += check(task)
        except MissingExtra as error:
            lacking = Check(name, error.where, "tools", total=1)
            lacking.skip(str(error))
            checks.append(lacking)
    return checks


def _unread_files(subject: Subject) -> list[Check]:
    """Say that of a sample not all files are read."""
    if not isinstance(subject, Built):
        return []
    check = Check(files.NAME, "XXH128", "files")
    check.skip("all files and stored pictures: name --all, or --check files")
    return [check]


def _seed(subject: Subject) -> Path:
    """Return what a sample is drawn by: the scores or, of a small release, the manifest."""
    if isinstance(subject, ReleaseSubject) and not subject.scores.is_file():
        return subject.folder / manifest.NAME
    return subject.scores


def _record(subject: Subject, sample: ItemSample, checks: Sequence[Check]) -> dict[str, Any]:
    is_release = isinstance(subject, ReleaseSubject)
    return {
        "collection": subject.name,
        "release": str(subject.folder) if is_release else None,
        "isotope": version("isotope-ir"),
        "sample": {"share": sample.share, "seed": sample.seed},
        "confirmed": not failed(checks),
        "checks": [check.record() for check in checks],
    }


def text(done: Verified) -> str:
    """Return what was compared, a line a check, what could not be, and what differs."""
    head = ["check", "by", "compared", "of", "", "different", "largest difference", "tolerance"]
    rows = [_row(check) for check in done.checks]
    table = plain(rows, head, right=(2, 3, 5, 6, 7))
    folder = done.record["release"]
    release = f" (release {folder})" if folder else ""
    lines = [f"{done.record['collection']}{release}", table.rstrip("\n")]
    skipped = [(check, *skip) for check in done.checks for skip in check.skipped.items()]
    lines += [
        f"not compared: {check.name}: {reason}" + (f" ({n:,})" if n > 1 else "")
        for check, reason, n in skipped
    ]
    for check in failed(done.checks):
        lines += [f"different: {check.name}: {_sentence(*d)}" for d in check.differences[:_SHOWN]]
        left = check.different - len(check.differences[:_SHOWN])
        lines += [f"different: {check.name}: {left:,} more"] if left else []
    lines += [f"record: {done.path}"] if done.path else []
    return "\n".join(lines) + "\n"


def _row(check: Check) -> list[object]:
    share = f"{100 * check.compared / check.total:.3g} %" if check.total else "—"
    return [
        *(check.name, check.tool, f"{check.compared:,}", f"{check.total:,} {check.unit}", share),
        *(f"{check.different:,}", f"{check.largest:.1e}", f"{check.tolerance:.1e}"),
    ]


def _sentence(cell: str, published: str, recomputed: str) -> str:
    return f"{cell}: published {published}, recomputed {recomputed}"


def as_json(done: Sequence[Verified]) -> str:
    """Return the records as JSON."""
    records = [outcome.record for outcome in done]
    return json.dumps(records, indent=1, ensure_ascii=False) + "\n"
