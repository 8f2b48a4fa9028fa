"""The subcommands beside `report` (`trec`, `sql`, `show`, ...), and what they call."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

from isotope.core.errors import BadArgument, IsotopeError, MissingFile, Unreadable
from isotope.params.foreign import SETTINGS, SPLITS

_DATES = {"%Y%m%d": 8, "%Y-%m-%d": 10, "%Y-%m": 7}
_MOST_PORTS = 65_535


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors, and its subparsers', are isotope's: one sentence each."""

    def error(self, message: str) -> NoReturn:
        """Refuse what was written.

        Raises:
            BadArgument: always.
        """
        raise BadArgument(self.prog, " ".join(message.split()), f"see `{self.prog} --help`")


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """Return a type of argument: a whole number, `least` and `most` included."""
    upper = "" if most is None else f" and at most {most}"

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least or (most is not None and number > most):
            told = f"{text!r}: give a whole number, at least {least}{upper}"
            raise argparse.ArgumentTypeError(told)
        return number

    return read


port = whole(0, _MOST_PORTS)


def date(text: str) -> str:
    """Return a snapshot's date as a dump's address has it: a day of the calendar, or a month."""
    for form, length in _DATES.items():
        try:
            datetime.strptime(text, form)  # noqa: DTZ007 (a day, nowhere)
        except ValueError:
            continue
        if len(text) == length:
            return text
    told = (
        f"{text!r} is no date: give one as in the dump's address: 20230101, 2023-01-01 or 2023-01"
    )
    raise argparse.ArgumentTypeError(told)


def filled(text: str) -> str:
    """Return an argument that is not blank."""
    if not text.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is empty")
    return text


CATALOG = Path("results/catalog.duckdb")
PARAMS = Path("params.yaml")

FORMATS = ("table", "csv", "json")
KINDS = ("text", "image", "query", "run")


class Unfit(Exception):
    """A doctor's report that names something without which a run will fail."""


def add(commands: Any) -> None:  # noqa: ANN401 (argparse has no public name for it)
    """Add the subcommands to those of the `isotope` command."""
    _add_written(commands)
    sql = commands.add_parser("sql", help="answer one SELECT on the catalog")
    sql.add_argument("query", help="one SELECT; docs/queries.md lists the views")
    sql.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    sql.add_argument(
        "--rows", type=whole(1), default=100, help="most rows of a table (default: 100)"
    )
    _catalog(sql)
    sql.set_defaults(run=_sql)
    show = commands.add_parser("show", help="print all about a text, image, query or run")
    show.add_argument("kind", choices=KINDS, help="what the id names")
    show.add_argument("id", help="for a run: collection/setting/split/task/system")
    show.add_argument("--collection", help="where to look (default: the first that has the id)")
    show.add_argument("--most", type=whole(1), default=5, help="hits a system to list (default: 5)")
    show.add_argument("--html", type=Path, metavar="FILE", help="write a page with pictures too")
    _catalog(show)
    show.set_defaults(run=_show)
    doctor = commands.add_parser("doctor", help="name what is missing here, and the remedy")
    doctor.set_defaults(run=_doctor)
    estimate = commands.add_parser("estimate", help="print what a run will cost, phase by phase")
    estimate.set_defaults(run=_estimate)
    for parser in (doctor, estimate, _add_judge(commands)):
        parser.add_argument(
            "--configfile", nargs="+", type=Path, default=[], help="overlays, as for snakemake"
        )
        parser.add_argument(
            "--config", nargs="+", default=[], metavar="KEY=VALUE", help="such as root=FOLDER"
        )


def _add_written(commands: Any) -> None:  # noqa: ANN401 (as above)
    trec = commands.add_parser("trec", help="write a collection's qrels and runs as TREC files")
    trec.add_argument("collection", type=filled, help="a built collection")
    trec.add_argument("folder", type=Path, help="where to write")
    trec.set_defaults(run=_trec)
    costs = commands.add_parser("costs", help="print what jobs have cost here, phase by phase")
    costs.add_argument("names", nargs="*", help="collections and sources; all if none")
    costs.set_defaults(run=_costs)
    snapshot = commands.add_parser("snapshot", help="add a snapshot to params.yaml")
    snapshot.add_argument("name", type=date, help="its date, as in the dump's address")
    snapshot.add_argument("--params", type=Path, default=PARAMS, help=f"default: {PARAMS}")
    snapshot.set_defaults(run=_snapshot)
    geval = commands.add_parser("geval", help="write runs as submissions to a GEval challenge")
    geval.add_argument("collection", type=filled, help="a built collection")
    geval.add_argument("challenge", type=Path, help="its folder with in.tsv and captions.tsv")
    geval.add_argument("folder", type=Path, help="where to write <system>/<challenge>/out.tsv")
    add_cell(geval, split="test", of="the split that it became")
    geval.set_defaults(run=_geval)


def add_cell(parser: argparse.ArgumentParser, *, split: str, of: str) -> None:
    """Add the options that choose a candidate pool and a split."""
    told = "candidate pool (default: small)"
    parser.add_argument("--setting", choices=SETTINGS, default="small", help=told)
    parser.add_argument("--split", choices=SPLITS, default=split, help=f"{of} (default: {split})")


def _add_judge(commands: Any) -> argparse.ArgumentParser:  # noqa: ANN401 (as above)
    told = "serve a page on which an assessor grades a collection's pool, or sorts its failures"
    judge: argparse.ArgumentParser = commands.add_parser("judge", help=told, description=told)
    judge.add_argument("collection", help="a collection with a pool: score.judge in the params")
    judge.add_argument("--assessor", required=True, metavar="NAME", help="who grades")
    judge.add_argument(
        "--sheet", choices=["failures", "mistakes"], help="a sheet of failures, not the pool"
    )
    judge.add_argument("--host", default="127.0.0.1", help="default: 127.0.0.1, this machine only")
    judge.add_argument("--port", type=port, default=8000, help="0 is any free one (default: 8000)")
    judge.add_argument("--remote", action="store_true", help="allow a host that others can reach")
    judge.set_defaults(run=_judge)
    return judge


def _catalog(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--catalog", type=Path, default=CATALOG, help=f"default: {CATALOG}")


def _trec(chosen: argparse.Namespace) -> str:
    from isotope.release.trec import export  # noqa: PLC0415

    files = export(chosen.collection, chosen.folder)
    return f"{len(files)} files in {chosen.folder.resolve()}\n"


def _geval(chosen: argparse.Namespace) -> str:
    from isotope.release import geval as geval_export  # noqa: PLC0415

    return geval_export.told(
        chosen.collection,
        chosen.challenge,
        chosen.folder,
        setting=chosen.setting,
        split=chosen.split,
    )


def _sql(chosen: argparse.Namespace) -> str:
    from isotope.cli.questions import sql  # noqa: PLC0415 (each command loads what it needs)

    return sql(chosen.query, form=chosen.format, most=chosen.rows, catalog=chosen.catalog)


def _show(chosen: argparse.Namespace) -> str:
    from isotope.cli import questions as show  # noqa: PLC0415

    page = show.show(
        chosen.kind,
        chosen.id,
        collection=chosen.collection,
        most=chosen.most,
        catalog=chosen.catalog,
    )
    if chosen.html:
        from isotope.cli.questions import write_html  # noqa: PLC0415 (templates load slowly)

        write_html(page, chosen.html, catalog=chosen.catalog)
    return show.to_text(page)


def _snapshot(chosen: argparse.Namespace) -> str:
    from isotope.params.files import append_snapshot  # noqa: PLC0415

    new = append_snapshot(chosen.params, chosen.name)
    return f"{chosen.name} is {'now' if new else 'already'} a snapshot of {chosen.params}\n"


def _doctor(chosen: argparse.Namespace) -> str:
    from isotope.cli import doctor, estimate  # noqa: PLC0415
    from isotope.params import files as params_files  # noqa: PLC0415

    params = params_files.load(chosen.configfile, chosen.config)
    found = doctor.findings(params, estimate.machine())
    if any(each.state == "missing" for each in found):
        raise Unfit(doctor.told(found))
    return doctor.told(found)


def _estimate(chosen: argparse.Namespace) -> str:
    from isotope.cli import estimate  # noqa: PLC0415
    from isotope.params import files as params_files  # noqa: PLC0415

    params = params_files.load(chosen.configfile, chosen.config)
    overlay = ["--configfile", *map(str, chosen.configfile)] if chosen.configfile else []
    pairs = ["--config", *chosen.config] if chosen.config else []
    jobs = estimate.planned([*overlay, *pairs])
    machine = estimate.machine()
    return estimate.told(jobs, estimate.costs(params, machine), machine)


def _costs(chosen: argparse.Namespace) -> str:
    from isotope.report import costs  # noqa: PLC0415

    return costs.told(chosen.names)


def _judge(chosen: argparse.Namespace) -> str:
    from isotope.judge import app, session  # noqa: PLC0415
    from isotope.params import files as params_files  # noqa: PLC0415

    params = params_files.load(chosen.configfile, chosen.config)
    at = chosen.collection, chosen.assessor
    with closing(app.listen(chosen.host, chosen.port, remote=chosen.remote)) as listening:
        host = listening.getsockname()[0]
        if chosen.sheet:
            current = session.open_sheet(*at, chosen.sheet, params)
            page = app.sheet_app(current, host)
        else:
            current = session.open_pool(*at, params)
            page = app.pool_app(current, app.scale(params), host)
        return app.serve(current, page, listening)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a subcommand; return its exit status, 1 after an error that the user can mend."""
    try:
        chosen = parser().parse_args(arguments)
        sys.stdout.write(chosen.run(chosen))
    except Unfit as found:
        sys.stdout.write(str(found))
        return 1
    except IsotopeError as error:
        return _refused(error)
    except OSError as error:
        if error.filename is None or error.errno is None:
            raise
        found = os.strerror(error.errno).lower()
        return _refused(Unreadable(os.fsdecode(error.filename), found, "check the path"))
    return 0


def _refused(error: IsotopeError) -> int:
    sys.stderr.write(f"{type(error).__name__}: {error}\n")
    return 1


def parser() -> argparse.ArgumentParser:
    """Return the command's arguments, with help for each."""
    top = Parser("isotope", description=__doc__)
    commands = top.add_subparsers(required=True, metavar="command")
    report = commands.add_parser("report", help="print where the reports are and their headline")
    report.add_argument("collection", nargs="*", help="collections; all that have a report if none")
    add_cell(report, split="validation", of="queries")
    report.set_defaults(run=headlines)
    add(commands)
    return top


def headlines(chosen: argparse.Namespace) -> str:
    """Return path and headline table of each report.

    Raises:
        MissingFile: no report has been written, or one without its scores.
        BadArgument: a pool that was not measured.
    """
    from isotope.params.schema import suggest  # noqa: PLC0415 (each command loads what it needs)
    from isotope.report.collection import headline  # noqa: PLC0415 (drawing libraries load slowly)

    known = sorted(p.parent.name for p in Path().glob("results/report/*/index.html"))
    if not known:
        raise MissingFile("results/report", "no report yet", "run `snakemake --cores all`")
    parts: list[str] = []
    for name in chosen.collection or known:
        page = Path("results/report") / name / "index.html"
        if name not in known:
            raise MissingFile(page, "no such report", suggest(name, known))
        scores = Path("results/score") / f"{name}.parquet"
        if not scores.is_file():
            raise MissingFile(scores, "no such scores", "run `snakemake --cores all`")
        table = headline(scores, setting=chosen.setting, split=chosen.split)
        parts.append(f"\n{name}\n{table}\n\nReport: {page.resolve()}\n")
    parts += [_changed(page) for page in sorted(Path().glob("results/report/*/since/*.html"))]
    whole = Path("results/report/index.html")
    return "".join(parts) + (f"All collections: {whole.resolve()}\n" if whole.is_file() else "")


def _changed(page: Path) -> str:
    """Return what has changed between two snapshots, and where it is shown."""
    from isotope.report.since import summary  # noqa: PLC0415 (drawing libraries load slowly)

    later, earlier = page.parents[1].name, page.stem
    table = Path("results/tables") / later / "since" / earlier / "snapshot_diff.csv"
    return f"\n{later} since {earlier}\n{summary(table)}\n\nChanges: {page.resolve()}\n"
